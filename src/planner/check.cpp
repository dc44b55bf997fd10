#include <fmt/format.h>

#include "gpuadvisor/planner.hpp"
#include "planner/legal.hpp"

namespace gpuadvisor::planner {
namespace {

using workload::Plan;
using workload::Training;

/// Everything a rule looks at.
struct Subject {
  const model::Architecture& architecture;
  const Training& training;
  const Plan& plan;
  const catalog::Cluster& cluster;
  const FrameworkRules& rules;
  bool tp_across_nodes = false;
};

/// The first broken rule in words, with the flag it belongs to; empty when none.
struct Finding {
  std::string message;
  const char* flag = "";
  [[nodiscard]] bool ok() const { return message.empty(); }
};

Finding check_product(const Subject& s) {
  const Plan& p = s.plan;
  for (const auto& [value, flag] : {std::pair{p.tp, "--tp"},
                                    {p.pp, "--pp"},
                                    {p.vpp, "--vpp"},
                                    {p.cp, "--cp"},
                                    {p.ep, "--ep"},
                                    {p.dp, "--dp"},
                                    {p.micro_batch, "--micro-batch"}})
    if (value < 1) return {fmt::format("{} must be at least 1, got {}", flag + 2, value), flag};
  if (p.gpus() == s.cluster.gpus) return {};
  return {fmt::format("tp {} x pp {} x cp {} x dp {} = {} GPUs, the cluster has {}", p.tp, p.pp,
                      p.cp, p.dp, p.gpus(), s.cluster.gpus),
          "--dp"};
}

Finding check_dimensions(const Subject& s) {
  const Plan& p = s.plan;
  const std::string_view name = s.training.framework.name;
  const auto refuse = [&](const char* what, const char* flag) {
    return Finding{fmt::format("framework {} has no {}", name.empty() ? "profile" : name, what),
                   flag};
  };
  const auto legal = s.rules.legal_dimensions;
  if (p.tp > 1 && !legal.has(Dimension::tp)) return refuse("tensor parallelism", "--tp");
  if (p.pp > 1 && !legal.has(Dimension::pp)) return refuse("pipeline parallelism", "--pp");
  if (p.cp > 1 && !legal.has(Dimension::cp)) return refuse("context parallelism", "--cp");
  if (p.ep > 1 && !legal.has(Dimension::ep)) return refuse("expert parallelism", "--ep");
  return {};
}

Finding check_tensor(const Subject& s) {
  const auto& a = s.architecture;
  const std::int64_t tp = s.plan.tp;
  if (!divides(tp, a.heads))
    return {fmt::format("tp {} does not divide {} attention heads", tp, a.heads), "--tp"};
  if (!kv_heads_allow(a, tp))
    return {fmt::format("tp {} neither divides {} key/value heads nor is a multiple of them", tp,
                        a.kv_heads),
            "--tp"};
  if (!tp_divides_model(a, tp))
    return {fmt::format("tp {} does not divide the feed-forward width {}", tp,
                        divides(tp, a.ffn) ? a.expert_ffn : a.ffn),
            "--tp"};
  if (!tp_in_node(s.cluster, tp, s.tp_across_nodes))
    return {fmt::format("tp {} does not divide the {} GPUs of a node", tp, s.cluster.gpus_per_node),
            "--tp"};
  if (s.plan.sequence_parallel && tp == 1)
    return {"sequence parallelism needs tp above 1", "--sequence-parallel"};
  if (s.plan.sequence_parallel && !sequence_parallel_allows(s.training, tp, s.plan.cp))
    return {fmt::format("tp {} x cp {} does not divide the sequence length {}", tp, s.plan.cp,
                        s.training.seq_len),
            "--sequence-parallel"};
  return {};
}

Finding check_pipeline(const Subject& s) {
  const Plan& p = s.plan;
  if (p.pp > s.architecture.layers)
    return {fmt::format("pp {} exceeds {} layers", p.pp, s.architecture.layers), "--pp"};
  if (!pp_allows(s.architecture, s.rules, p.pp))
    return {fmt::format("pp {} does not divide {} layers, which {} requires", p.pp,
                        s.architecture.layers, s.training.framework.name),
            "--pp"};
  if (p.vpp > 1 && p.pp == 1) return {"vpp above 1 needs pp above 1", "--vpp"};
  if (!vpp_allows(s.architecture, p.pp, p.vpp))
    return {
        fmt::format("pp {} x vpp {} does not divide {} layers", p.pp, p.vpp, s.architecture.layers),
        "--vpp"};
  if (p.vpp > 1 && p.schedule != workload::Schedule::interleaved)
    return {"vpp above 1 is the interleaved schedule", "--schedule"};
  if (p.vpp == 1 && p.schedule == workload::Schedule::interleaved)
    return {"the interleaved schedule needs vpp above 1", "--schedule"};
  return {};
}

Finding check_context_and_experts(const Subject& s) {
  const Plan& p = s.plan;
  if (!cp_divides_sequence(s.architecture, s.training, p.cp))
    return {fmt::format("cp {} does not divide the sequence length {} into {} chunks", p.cp,
                        s.training.seq_len, s.architecture.causal ? 2 * p.cp : p.cp),
            "--cp"};
  const std::int64_t ranks = std::int64_t{p.dp} * p.cp * p.tp;
  if (ep_allows(s.architecture, p.ep, ranks)) return {};
  if (s.architecture.experts == 0) return {"ep above 1 needs a model with experts", "--ep"};
  if (!divides(p.ep, s.architecture.experts))
    return {fmt::format("ep {} does not divide {} experts", p.ep, s.architecture.experts), "--ep"};
  return {fmt::format("ep {} does not divide the {} ranks of a stage (dp x cp x tp)", p.ep, ranks),
          "--ep"};
}

Finding check_batch(const Subject& s) {
  const Plan& p = s.plan;
  if (!batch_divides(s.training, p.micro_batch, p.dp))
    return {fmt::format("micro-batch {} x dp {} does not divide the global batch {}", p.micro_batch,
                        p.dp, s.training.global_batch),
            "--micro-batch"};
  if (s.training.micro_batches_unknown) return {};
  const std::int64_t micro_batches = s.training.global_batch / (std::int64_t{p.micro_batch} * p.dp);
  if (p.grad_accum != micro_batches)
    return {
        fmt::format("{} micro-batches a step, but the batch gives {}", p.grad_accum, micro_batches),
        "--micro-batch"};
  if (!interleave_allows(s.rules, p.vpp, p.pp, micro_batches))
    return {fmt::format("the interleaved schedule needs micro-batches ({}) in multiples of pp {}",
                        micro_batches, p.pp),
            "--vpp"};
  return {};
}

Finding check_sharding(const Subject& s) {
  const Plan& p = s.plan;
  const auto name = workload::to_string(p.sharding);
  if (!s.rules.legal.has(p.sharding))
    return {fmt::format("framework {} has no sharding {}", s.training.framework.name, name),
            "--sharding"};
  if (!sharding_allows_pipeline(s.rules, p.sharding, p.pp))
    return {fmt::format("sharding {} cannot be combined with pp {}", name, p.pp), "--sharding"};
  if (p.sharding == workload::Sharding::hsdp &&
      !hsdp_allows(p.shard_group(), hsdp_group(s.cluster, p.tp, p.hsdp_group)))
    return {fmt::format("hsdp needs several sharding groups among {} ranks", p.shard_group()),
            "--sharding"};
  if (!offload_allows(p.sharding, p.offload, p.recompute))
    return {fmt::format("sharding {} cannot offload that (the optimizer needs ZeRO-1 or more, "
                        "parameters need ZeRO-3; fsdp moves both; activations need full recompute)",
                        name),
            "--offload"};
  return {};
}

}  // namespace

Result<void> check_plan(const model::Architecture& architecture, const Training& training,
                        const Plan& plan, const catalog::Cluster& cluster, bool tp_across_nodes) {
  const Subject subject{
      architecture,   training, plan, cluster, framework_rules(training.framework.id),
      tp_across_nodes};
  for (const auto check : {check_tensor, check_pipeline, check_dimensions, check_product,
                           check_context_and_experts, check_batch, check_sharding}) {
    const Finding finding = check(subject);
    if (!finding.ok()) return fail(ErrorCode::usage, finding.message, finding.flag);
  }
  return {};
}

}  // namespace gpuadvisor::planner
