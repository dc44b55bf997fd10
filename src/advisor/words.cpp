#include "advisor/words.hpp"

#include <cmath>

#include <fmt/format.h>

namespace gpuadvisor::advisor {
namespace {

using workload::Plan;

std::string memory_reason(const ResultRow& row) {
  const double needed = row.best.memory.needed();
  const double usable = row.cluster.gpu_memory_bytes;
  return fmt::format("memory: {} of {} a GPU ({:.0f}%) in the {} phase, {} {}",
                     format_bytes(Bytes(needed)), format_bytes(Bytes(usable)),
                     100.0 * needed / usable, memory::to_string(row.best.memory.peak_phase),
                     format_bytes(Bytes(std::abs(usable - needed))),
                     needed > usable ? "missing" : "spare");
}

std::string speed_reason(const ResultRow& row) {
  const auto& performance = row.best.performance;
  const double exposed = performance.breakdown.communication() / performance.step_time_s;
  return fmt::format(
      "speed: {} tokens/s a GPU, {:.0f}% MFU, {:.0f}% of a {} step is exposed "
      "communication over {}",
      format_count(performance.tokens_per_s_per_gpu), 100.0 * performance.mfu, 100.0 * exposed,
      format_duration(Seconds(performance.step_time_s)), catalog::interconnect_class(row.cluster));
}

std::string cost_reason(const ResultRow& row, std::optional<double> cheapest) {
  if (!row.cost.per_1e9_tokens) return "cost: no price known, ranked after all priced instances";
  const double own = *row.cost.per_1e9_tokens;
  const std::string money = format_money({own, row.quote->currency});
  if (!cheapest || own <= *cheapest * (1 + 1e-9))
    return fmt::format("cost: {} per 1e9 tokens, the least of all that fit", money);
  return fmt::format("cost: {} per 1e9 tokens, {:.2f} times the least of all that fit", money,
                     own / *cheapest);
}

std::string score_reason(const Weights& weights, const ResultRow& row) {
  const double sum = weights.vram + weights.interconnect + weights.cost;
  if (!(sum > 0)) return "score: all weights are zero";
  const Score& score = row.score;
  return fmt::format(
      "score: {:.3f} = {:.2f} x {:.3f} (vram) + {:.2f} x {:.3f} (interconnect) + "
      "{:.2f} x {:.3f} (cost){}",
      score.total, weights.vram / sum, score.vram_fit, weights.interconnect / sum,
      score.interconnect, weights.cost / sum, score.cost,
      row.gpu->has_bf16() ? "" : ", x 0.8 without bf16");
}

void add_change(std::string& text, const std::string& change) {
  text += text.empty() ? change : ", " + change;
}

}  // namespace

std::string name_of(const catalog::Instance* instance, int count, const catalog::Cluster& cluster) {
  if (instance != nullptr) return fmt::format("{} x {}", count, instance->name);
  return fmt::format("{} x {}", cluster.gpus, cluster.gpu->id);
}

std::vector<std::string> reasons_of(const Query& query, const ResultRow& row,
                                    std::optional<double> cheapest) {
  std::vector<std::string> reasons{memory_reason(row), speed_reason(row),
                                   cost_reason(row, cheapest)};
  if (query.objective == Objective::balanced && row.score.total > 0)
    reasons.push_back(score_reason(query.weights, row));
  return reasons;
}

std::string difference(const Plan& plan, const Plan& from) {
  std::string text;
  const auto number = [&](const char* name, int value, int other) {
    if (value != other) add_change(text, fmt::format("{} {} instead of {}", name, value, other));
  };
  const auto word = [&](const char* name, std::string_view value, std::string_view other) {
    if (value != other) add_change(text, fmt::format("{} {} instead of {}", name, value, other));
  };
  number("tp", plan.tp, from.tp);
  number("pp", plan.pp, from.pp);
  number("vpp", plan.vpp, from.vpp);
  number("cp", plan.cp, from.cp);
  number("ep", plan.ep, from.ep);
  number("dp", plan.dp, from.dp);
  number("micro-batch", plan.micro_batch, from.micro_batch);
  word("sharding", workload::to_string(plan.sharding), workload::to_string(from.sharding));
  word("recompute", workload::to_string(plan.recompute), workload::to_string(from.recompute));
  if (plan.offload != from.offload)
    add_change(text, plan.offload == 0 ? "no offload" : "with offload");
  if (plan.sequence_parallel != from.sequence_parallel)
    add_change(text, plan.sequence_parallel ? "sequence parallel" : "no sequence parallel");
  return text;
}

}  // namespace gpuadvisor::advisor
