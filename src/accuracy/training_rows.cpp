#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accuracy/explain.hpp"
#include "accuracy/flops_labels.hpp"
#include "accuracy/rows.hpp"
#include "accuracy/training_row.hpp"
#include "gpuadvisor/performance.hpp"

namespace gpuadvisor::accuracy {
namespace {

constexpr std::int64_t kLengthStep = 128;
constexpr std::int64_t kLongestLength = std::int64_t{1} << 24;

memory::Estimate predict_memory(const TrainingRow& row) {
  return memory::estimate(memory::prepare(row.architecture, row.training), row.plan, row.cluster,
                          row.stage);
}

/// The bytes that a memory quantity names. A figure of unknown origin ("observed") is
/// what people read off nvidia-smi.
double memory_value(const memory::Estimate& estimate, const std::string& quantity) {
  if (quantity == "max_allocated_gib") return estimate.peak.allocated() / kGiB;
  if (quantity == "max_reserved_gib") return estimate.reserved_bytes / kGiB;
  return estimate.smi_bytes / kGiB;
}

bool fits(const TrainingRow& row) {
  return predict_memory(row).needed() <= row.cluster.gpu_memory_bytes;
}

/// The largest multiple of kLengthStep that fits, by bisection (memory grows with it).
double longest_length(TrainingRow row) {
  const auto fits_at = [&](std::int64_t steps) {
    row.training.seq_len = steps * kLengthStep;
    return fits(row);
  };
  std::int64_t good = 0;
  std::int64_t bad = 1;
  while (bad * kLengthStep <= kLongestLength && fits_at(bad)) {
    good = bad;
    bad *= 2;
  }
  while (bad - good > 1) {
    const std::int64_t middle = (good + bad) / 2;
    (fits_at(middle) ? good : bad) = middle;
  }
  return static_cast<double>(good * kLengthStep);
}

Outcome memory_outcome(const Json& json, TrainingRow& row, const std::string& quantity,
                       double measured, Context& context) {
  Outcome outcome = outcome_of(json);
  outcome.kind = "train_memory";
  outcome.quantity = row.quantity = quantity;
  row.measured = measured;
  if (context.explains(row.id)) context.explanation += explain_memory(row);
  if (quantity == "fits" || quantity == "oom") {
    const bool fitting = fits(row);
    outcome.predicted = predict_memory(row).needed() / kGiB;
    outcome.measured = measured;
    outcome.correct = fitting == (quantity == "fits");
    return outcome;
  }
  if (quantity == "max_seq_len") {
    compare(outcome, longest_length(row), measured);
    return outcome;
  }
  const bool known = quantity == "max_allocated_gib" || quantity == "max_reserved_gib" ||
                     quantity == "nvidia_smi_gib" || quantity == "observed_gib";
  if (!known) return skip(json, quantity, "unknown quantity");
  compare(outcome, memory_value(predict_memory(row), quantity), measured);
  return outcome;
}

/// Peak memory beside a speed: torchtitan and plain FSDP scripts print torch's reserved
/// peak, the others do not say how they read it.
std::string speed_memory_quantity(const Json& json) {
  const std::string framework = text(section(json, "run"), "framework");
  return framework == "torchtitan" || framework == "fsdp" ? "max_reserved_gib" : "observed_gib";
}

/// Measured step time in seconds: printed, or from tokens/s, or from TFLOPS by the
/// source's own formula.
Result<double> measured_step_time(const Json& json, const TrainingRow& row,
                                  const performance::Estimate& estimate) {
  const Json& measured = section(json, "measured");
  if (const auto time = number(measured, "step_time_s");
      time && *time > 0 && !row.training.micro_batches_unknown)
    return *time;
  const double tokens =
      static_cast<double>(row.training.global_batch) * static_cast<double>(row.training.seq_len);
  if (const auto rate = number(measured, "tokens_per_s_per_gpu"); rate && *rate > 0)
    return tokens / (*rate * row.cluster.gpus);
  if (const auto tflops = number(measured, "tflops_per_gpu"); tflops && *tflops > 0)
    return labelled_flops(text(measured, "flops_formula"), text(measured, "tflops_kind"), row,
                          estimate) /
           (*tflops * 1e12 * row.cluster.gpus);
  if (const auto time = number(measured, "step_time_s"); time && *time > 0) return *time;
  return fail(ErrorCode::input, "no step time, tokens/s or TFLOPS");
}

Outcome speed_outcome(const Json& json, const TrainingRow& row, Context& context) {
  const std::string quantity = "step_time_s";
  if (const auto refused = performance::refusal(*row.cluster.gpu, row.training); !refused.empty())
    return skip(json, quantity, std::string(refused));
  if (row.cluster.gpu->id == "unknown")
    return skip(json, quantity, "the row does not name its GPU");
  const auto prepared = memory::prepare(row.architecture, row.training);
  const auto estimate = performance::estimate(prepared, row.plan, row.cluster);
  auto measured = measured_step_time(json, row, estimate);
  if (!measured) return skip(json, quantity, measured.error().message);
  Outcome outcome = outcome_of(json);
  outcome.quantity = quantity;
  compare(outcome, estimate.step_time_s, *measured);
  if (context.explains(row.id)) context.explanation += explain_speed(row, estimate, *measured);
  return outcome;
}

}  // namespace

std::vector<Outcome> training_outcomes(const Json& json, Context& context) {
  const Json& measured = section(json, "measured");
  const bool speed = text(json, "kind") == "train_speed";
  const std::string quantity = speed ? "step_time_s" : text(measured, "quantity");
  auto row = read_training_row(json, context.catalog);
  if (!row) return {skip(json, quantity, row.error().message)};
  std::vector<Outcome> out;
  if (!speed) {
    out.push_back(
        memory_outcome(json, *row, quantity, number(measured, "value").value_or(0), context));
    return out;
  }
  out.push_back(speed_outcome(json, *row, context));
  const auto peak = number(measured, "peak_mem_gib_per_gpu");
  if (peak && context.options.with_speed_memory)
    out.push_back(memory_outcome(json, *row, speed_memory_quantity(json), *peak, context));
  return out;
}

}  // namespace gpuadvisor::accuracy
