// Plan, memory, performance and cost of one result.
#include <array>
#include <utility>

#include "report/json.hpp"

namespace gpuadvisor::report {
namespace {

struct OffloadName {
  std::uint8_t bit;
  std::string_view name;
};
constexpr std::array<OffloadName, 4> kOffloads = {{{workload::kOffloadOptimizer, "optimizer"},
                                                   {workload::kOffloadParams, "params"},
                                                   {workload::kOffloadActivations, "activations"},
                                                   {workload::kOffloadNvme, "nvme"}}};

Json offload_json(std::uint8_t offload) {
  Json array = Json::array();
  for (const OffloadName& known : kOffloads)
    if ((offload & known.bit) != 0) array.push_back(known.name);
  return array;
}

/// Adds whole bytes and returns what was added, so that the terms sum to the total.
std::int64_t add_bytes(Json& json, const char* key, double bytes) {
  json[key] = whole(bytes);
  return json[key].is_null() ? 0 : json[key].get<std::int64_t>();
}

}  // namespace

Json plan_json(const workload::Plan& plan, const workload::Training& training) {
  Json json = Json::object();
  json["tp"] = plan.tp;
  json["pp"] = plan.pp;
  json["vpp"] = plan.vpp;
  json["cp"] = plan.cp;
  json["ep"] = plan.ep;
  json["dp"] = plan.dp;
  json["sharding"] = workload::to_string(plan.sharding);
  json["zero_stage"] = workload::zero_stage(plan.sharding);
  json["sequence_parallel"] = plan.sequence_parallel;
  json["schedule"] = workload::to_string(plan.schedule);
  json["micro_batch"] = plan.micro_batch;
  json["grad_accum"] = plan.grad_accum;
  json["recompute"] = workload::to_string(plan.recompute);
  json["offload"] = offload_json(plan.offload);
  json["precision"] = workload::to_string(training.precision);
  json["framework"] = training.framework.name;
  json["kernel_profile"] = workload::to_string(training.kernel_profile);
  json["optimizer"] = workload::to_string(training.optimizer);
  json["description"] = workload::describe(plan);
  return json;
}

Json memory_json(const planner::Candidate& candidate, const advisor::ResultRow& row) {
  const memory::Estimate& estimate = candidate.memory;
  Json terms = Json::object();
  std::int64_t sum = add_bytes(terms, "weights_bytes", estimate.peak.weights);
  sum += add_bytes(terms, "gradients_bytes", estimate.peak.gradients);
  sum += add_bytes(terms, "optimizer_bytes", estimate.peak.optimizer);
  sum += add_bytes(terms, "activations_bytes", estimate.peak.activations);
  sum += add_bytes(terms, "logits_bytes", estimate.peak.logits);
  sum += add_bytes(terms, "buffers_bytes", estimate.peak.buffers);
  sum += add_bytes(terms, "overhead_bytes", estimate.overhead_bytes);

  Json json = Json::object();
  json["gpu_peak_bytes"] = sum;
  json["gpu_usable_bytes"] = whole(row.cluster.gpu_memory_bytes);
  json["reserved_bytes"] = whole(estimate.reserved_bytes);
  json["peak_phase"] = memory::to_string(estimate.peak_phase);
  json["peak_stage"] = estimate.peak_stage;
  json.update(terms);
  json["host_bytes"] = whole(estimate.host_bytes);
  json["disk_bytes"] = whole(estimate.disk_bytes);
  json["verdict"] = memory::to_string(candidate.verdict);
  json["error_p50"] = number(row.memory_band.p50);
  json["error_p90"] = number(row.memory_band.p90);
  return json;
}

Json performance_json(const planner::Candidate& candidate, const advisor::ResultRow& row) {
  const performance::Estimate& estimate = candidate.performance;
  const performance::StepBreakdown& terms = estimate.breakdown;
  Json breakdown = Json::object();
  breakdown["compute"] = number(terms.compute);
  breakdown["recompute"] = number(terms.recompute);
  breakdown["tensor_comm"] = number(terms.tensor_comm);
  breakdown["context_comm"] = number(terms.context_comm);
  breakdown["expert_comm"] = number(terms.expert_comm);
  breakdown["pipeline_comm"] = number(terms.pipeline_comm);
  breakdown["data_comm"] = number(terms.data_comm);
  breakdown["bubble"] = number(terms.bubble);
  breakdown["optimizer"] = number(terms.optimizer);
  breakdown["offload"] = number(terms.offload);
  breakdown["host"] = number(terms.host);
  breakdown["straggler"] = number(terms.straggler);

  Json json = Json::object();
  json["step_time_s"] = number(estimate.step_time_s);
  json["tokens_per_s"] = number(estimate.tokens_per_s);
  json["tokens_per_s_per_gpu"] = number(estimate.tokens_per_s_per_gpu);
  json["mfu"] = number(estimate.mfu);
  json["hfu"] = number(estimate.hfu);
  json["breakdown_s"] = std::move(breakdown);
  json["error_p50"] = number(row.performance_band.p50);
  json["error_p90"] = number(row.performance_band.p90);
  return json;
}

Json cost_json(const advisor::ResultRow& row, const advisor::Query& query) {
  Json json = Json::object();
  const bool priced = row.quote.has_value();
  json["currency"] = priced ? row.quote->currency : query.currency;
  json["price_kind"] = priced ? Json(catalog::to_string(row.quote->kind)) : Json(nullptr);
  json["price_per_hour"] = priced ? number(row.quote->per_hour) : Json(nullptr);
  json["region"] = priced ? text_or_null(row.quote->region) : Json(nullptr);
  Json original = nullptr;
  if (priced) {
    original = Json::object();
    original["currency"] = row.quote->original_currency;
    original["price_per_hour"] = number(row.quote->original_per_hour);
  }
  json["original"] = std::move(original);
  json["rate"] = priced ? number(row.quote->rate) : Json(nullptr);
  json["price_date"] = priced ? text_or_null(row.quote->date) : Json(nullptr);
  json["price_source"] = priced ? text_or_null(row.quote->source) : Json(nullptr);
  const bool timed = row.cost.hours > 0;
  json["hours"] = timed ? number(row.cost.hours) : Json(nullptr);
  json["total"] = number(row.cost.total);
  json["per_1e9_tokens"] = number(row.cost.per_1e9_tokens);
  json["per_1e18_model_flops"] = number(row.cost_per_1e18_flops);
  return json;
}

Json replay_json(const serving::Simulation& replay) {
  Json json = Json::object();
  json["duration_s"] = number(replay.duration_s);
  json["output_tokens_per_s"] = number(replay.output_tokens_per_s);
  json["ttft_p50_ms"] = number(replay.ttft_p50_s * 1e3);
  json["ttft_p95_ms"] = number(replay.ttft_p95_s * 1e3);
  json["ttft_p99_ms"] = number(replay.ttft_p99_s * 1e3);
  json["tpot_p50_ms"] = number(replay.tpot_p50_s * 1e3);
  json["tpot_p95_ms"] = number(replay.tpot_p95_s * 1e3);
  json["tpot_p99_ms"] = number(replay.tpot_p99_s * 1e3);
  return json;
}

Json serving_json(const serving::Option& option, const advisor::ResultRow& row) {
  const serving::Memory& memory = option.estimate.memory;
  const serving::Speed& speed = option.estimate.speed;
  Json json = Json::object();
  json["weights_bytes"] = whole(memory.weights);
  json["kv_bytes_per_token"] = whole(memory.kv_bytes_per_token);
  json["kv_cache_tokens"] = whole(memory.kv_tokens);
  json["max_concurrency"] = number(memory.max_concurrency);
  json["ttft_ms"] = number(speed.ttft_s * 1e3);
  json["tpot_ms"] = number(speed.tpot_s * 1e3);
  json["output_tokens_per_s"] = number(speed.output_tokens_per_s);
  json["cost_per_1e6_tokens"] = number(row.cost_per_1e6_tokens);
  json["gpu_need_bytes"] = whole(memory.need);
  json["gpu_reserved_bytes"] = whole(memory.reserved);
  json["gpu_usable_bytes"] = whole(memory.usable);
  json["verdict"] = memory.fits ? "fits" : "does_not_fit";
  json["requests_per_s"] = number(speed.requests_per_s);
  json["running_sequences"] = number(speed.running);
  json["bound_by"] = serving::to_string(speed.limit);
  json["prefill_tokens_per_s"] = number(speed.prefill_tokens_per_s);
  json["cost_per_1e6_input_tokens"] = number(row.cost_per_1e6_input);
  json["cost_per_1e6_output_tokens"] = number(row.cost_per_1e6_output);
  json["largest_context"] = whole(row.largest_context);
  json["saturation_concurrency"] = whole(row.saturation.concurrency);
  json["saturation_output_tokens_per_s"] = number(row.saturation.output_tokens_per_s);
  json["trace"] = row.replay ? replay_json(*row.replay) : Json(nullptr);
  json["error_p50"] = number(row.performance_band.p50);
  json["error_p90"] = number(row.performance_band.p90);
  return json;
}

Json serving_plan_json(const serving::Option& option, const advisor::Query& query) {
  Json json = Json::object();
  json["tp"] = option.plan.tp;
  json["pp"] = option.plan.pp;
  json["replicas"] = option.plan.replicas;
  json["quant"] = serving::to_string(option.quant);
  json["kv_type"] = serving::to_string(query.serve.kv_type);
  json["engine"] = serving::to_string(query.serve.engine);
  return json;
}

}  // namespace gpuadvisor::report
