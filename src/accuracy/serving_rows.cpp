// Serving rows: predicted from their own configuration and compared figure by figure.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accuracy/row_model.hpp"
#include "accuracy/rows.hpp"
#include "accuracy/serving_row.hpp"

namespace gpuadvisor::accuracy {
namespace {

/// What a row's figure is compared with; nothing when it cannot be predicted.
std::optional<double> memory_figure(std::string_view name, const serving::Memory& m,
                                    const Json& measured) {
  const double printed = number(measured, "kv_cache_gib").value_or(0) * kGiB;
  const double per_token = m.kv_tokens > 0 ? m.kv_pool / m.kv_tokens : m.kv_bytes_per_token;
  const double pool = printed > 0 ? printed : m.kv_pool;
  if (name == "weights_gib") return m.weights / kGiB;
  if (name == "memory_gib_total") return m.table_total / kGiB;
  if (name == "kv_cache_gib") return m.kv_pool / kGiB;
  if (name == "kv_cache_tokens")
    return printed > 0 ? pool / m.kv_bytes_per_token : pool / per_token;
  if (name == "kv_blocks") return std::floor(pool / (16 * m.kv_bytes_per_token));
  return std::nullopt;
}

std::optional<double> speed_figure(std::string_view name, const serving::Speed& s) {
  if (name == "output_tokens_per_s") return s.output_tokens_per_s;
  if (name == "total_tokens_per_s") return s.total_tokens_per_s;
  if (name == "prefill_tokens_per_s") return s.prefill_tokens_per_s;
  if (name == "decode_tokens_per_s") return s.decode_tokens_per_s;
  if (name == "tpot_ms") return s.tpot_s * 1e3;
  if (name == "ttft_ms") return s.ttft_s * 1e3;
  return std::nullopt;
}

constexpr const char* kMemoryFigures[] = {"weights_gib", "kv_cache_gib", "kv_cache_tokens",
                                          "kv_blocks", "memory_gib_total"};
constexpr const char* kSpeedFigures[] = {"output_tokens_per_s",
                                         "total_tokens_per_s",
                                         "prefill_tokens_per_s",
                                         "decode_tokens_per_s",
                                         "tpot_ms",
                                         "ttft_ms"};

/// Empty, or why the figure cannot be predicted: pools need the size of the card.
std::string memory_obstacle(const ServingRow& row, std::string_view name, const Json& measured) {
  if (!row.skipped.empty()) return row.skipped;
  const bool pool = name.substr(0, 3) == "kv_";
  const bool printed = name != "kv_cache_gib" && number(measured, "kv_cache_gib").value_or(0) > 0;
  return pool && !printed && row.cluster.gpu_memory_bytes <= 0
             ? "the memory of the GPU is not known"
             : "";
}

/// Empty, or why times cannot be predicted.
std::string speed_obstacle(const ServingRow& row) {
  const catalog::Gpu* gpu = row.cluster.gpu;
  if (gpu == nullptr) return "the GPU is not known";
  if (gpu->memory_bandwidth <= 0 || std::max(gpu->fp16, gpu->bf16) <= 0)
    return "rates of the GPU are not known";
  return {};
}

struct Predicted {
  ServingRow row;
  serving::Memory memory;
  serving::Speed speed;
  std::string obstacle;  ///< why there is no speed
};

Predicted predict(const Json& row, const model::Architecture& architecture,
                  const Context& context) {
  Predicted p;
  p.row = read_serving_row(context.catalog, row, architecture);
  p.obstacle = p.row.skipped.empty() ? speed_obstacle(p.row) : p.row.skipped;
  const serving::Model model = serving::prepare(architecture);
  p.memory = serving::estimate_memory(model, p.row.request, p.row.plan, p.row.cluster);
  if (p.obstacle.empty())
    p.speed = serving::estimate(model, p.row.request, p.row.plan, p.row.cluster).speed;
  return p;
}

std::string explain(const Predicted& p) {
  const serving::Memory& m = p.memory;
  const serving::Speed& s = p.speed;
  const auto& profile = serving::engine_profile(p.row.request.engine, p.row.request.version);
  std::string out = fmt::format(
      "{}, {}, tp {}\nweights {:.3f} GiB, activations {:.3f}, outside the allocator {:.3f}, graphs "
      "{:.3f}, cache {:.3f} GiB, {:.0f} tokens, total {:.3f} GiB\n",
      profile.name, serving::to_string(p.row.request.quant), p.row.plan.tp, m.weights / kGiB,
      m.activations / kGiB, m.non_torch / kGiB, m.graphs / kGiB, m.kv_pool / kGiB, m.kv_tokens,
      m.table_total / kGiB);
  if (!p.obstacle.empty()) return out + p.obstacle + "\n";
  return out + fmt::format(
                   "{:.1f} sequences run; step {:.3f} ms: weights {:.3f}, compute {:.3f}, cache "
                   "{:.3f}, prompt "
                   "attention {:.3f}, elementwise {:.3f}, all-reduce {:.3f}, launch {:.3f}\nfirst "
                   "token {:.2f} "
                   "ms, then {:.3f} ms a token, {:.1f} output tokens/s, bound by {}\n",
                   s.running, s.step.total() * 1e3, s.step.weights * 1e3, s.step.compute * 1e3,
                   s.step.kv_read * 1e3, s.step.prompt_attention * 1e3, s.step.elementwise * 1e3,
                   s.step.all_reduce * 1e3, s.step.launch * 1e3, s.ttft_s * 1e3, s.tpot_s * 1e3,
                   s.output_tokens_per_s, serving::to_string(s.limit));
}

Outcome outcome_for(const Json& row, const char* name, double measured, const std::string& why,
                    std::optional<double> predicted) {
  Outcome outcome = outcome_of(row);
  outcome.quantity = name;
  outcome.measured = measured;
  if (!why.empty())
    outcome.skipped = why;
  else if (!predicted)
    outcome.skipped = "not predicted by the model";
  else
    compare(outcome, *predicted, measured);
  return outcome;
}

}  // namespace

std::vector<Outcome> serving_outcomes(const Json& row, Context& context) {
  auto architecture = read_model(section(row, "model"), 0);
  if (!architecture) return {skip(row, "", architecture.error().message)};
  const Predicted p = predict(row, *architecture, context);
  if (context.explains(text(row, "id"))) context.explanation = explain(p);
  const Json& measured = section(row, "measured");
  std::vector<Outcome> outcomes;
  for (const char* name : kMemoryFigures)
    if (const double value = number(measured, name).value_or(0); value > 0)
      outcomes.push_back(outcome_for(row, name, value, memory_obstacle(p.row, name, measured),
                                     memory_figure(name, p.memory, measured)));
  for (const char* name : kSpeedFigures)
    if (const double value = number(measured, name).value_or(0); value > 0)
      outcomes.push_back(outcome_for(row, name, value, p.obstacle, speed_figure(name, p.speed)));
  if (outcomes.empty()) return {skip(row, "", "the row measures nothing that is compared")};
  return outcomes;
}

}  // namespace gpuadvisor::accuracy
