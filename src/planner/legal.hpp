// The legality rules of a plan, one predicate each: the enumeration of the space and
// check_plan's messages stand on the same ones.
#pragma once

#include <cstdint>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/workload.hpp"
#include "planner/framework_rules.hpp"

namespace gpuadvisor::planner {

constexpr bool divides(std::int64_t part, std::int64_t whole) {
  return part > 0 && whole % part == 0;
}

/// Key and value heads are split, or replicated when there are fewer than ranks.
inline bool kv_heads_allow(const model::Architecture& architecture, std::int64_t tp) {
  if (architecture.is_mla() || architecture.kv_heads <= 0) return true;
  return divides(tp, architecture.kv_heads) || divides(architecture.kv_heads, tp);
}

inline bool tp_divides_model(const model::Architecture& architecture, std::int64_t tp) {
  return divides(tp, architecture.heads) && kv_heads_allow(architecture, tp) &&
         divides(tp, architecture.ffn) && divides(tp, architecture.expert_ffn) &&
         divides(tp, architecture.shared_ffn);
}

/// Tensor parallelism stays on GPUs of one node, in equal groups.
constexpr bool tp_in_node(const catalog::Cluster& cluster, std::int64_t tp, bool across_nodes) {
  return across_nodes || divides(tp, cluster.gpus_per_node);
}

constexpr bool pp_allows(const model::Architecture& architecture, const FrameworkRules& rules,
                         std::int64_t pp) {
  return pp <= architecture.layers && (!rules.even_stages || divides(pp, architecture.layers));
}

constexpr bool vpp_allows(const model::Architecture& architecture, std::int64_t pp,
                          std::int64_t vpp) {
  return vpp == 1 || (pp > 1 && divides(pp * vpp, architecture.layers));
}

/// Causal ring attention gives each rank one early and one late chunk (2·cp chunks).
constexpr bool cp_divides_sequence(const model::Architecture& architecture,
                                   const workload::Training& training, std::int64_t cp) {
  return cp == 1 || divides(cp * (architecture.causal ? 2 : 1), training.seq_len);
}

/// Expert ranks are taken from the data, context and tensor ranks of one stage.
constexpr bool ep_allows(const model::Architecture& architecture, std::int64_t ep,
                         std::int64_t ranks) {
  return ep == 1 ||
         (architecture.experts > 0 && divides(ep, architecture.experts) && divides(ep, ranks));
}

constexpr bool batch_divides(const workload::Training& training, std::int64_t micro_batch,
                             std::int64_t dp) {
  return training.micro_batches_unknown || divides(micro_batch * dp, training.global_batch);
}

constexpr bool interleave_allows(const FrameworkRules& rules, std::int64_t vpp, std::int64_t pp,
                                 std::int64_t micro_batches) {
  return vpp == 1 || !rules.even_interleave || divides(pp, micro_batches);
}

constexpr bool shards_parameters(workload::Sharding sharding) {
  using enum workload::Sharding;
  return sharding == zero3 || sharding == fsdp || sharding == hsdp;
}

constexpr bool is_fsdp(workload::Sharding sharding) {
  using enum workload::Sharding;
  return sharding == fsdp || sharding == fsdp_grad_op || sharding == hsdp;
}

/// ZeRO-2, ZeRO-3 and FSDP shard what a pipeline accumulates over micro-batches.
constexpr bool sharding_allows_pipeline(const FrameworkRules& rules, workload::Sharding sharding,
                                        std::int64_t pp) {
  using enum workload::Sharding;
  return pp == 1 || rules.sharded_pipeline || sharding == none || sharding == zero1;
}

/// Hybrid sharding needs more than one sharding group.
constexpr bool hsdp_allows(std::int64_t shard_group, std::int64_t group) {
  return group > 1 && shard_group > group && divides(group, shard_group);
}

/// Ranks of one hybrid sharding group: the data-parallel ranks of a node.
constexpr std::int64_t hsdp_group(const catalog::Cluster& cluster, std::int64_t tp,
                                  std::int32_t asked) {
  return asked > 0 ? asked : cluster.gpus_per_node / tp;
}

/// States leave the GPU only where the framework shards them: the optimizer from
/// ZeRO-1 on, parameters under ZeRO-3; FSDP moves both or none.
constexpr bool offload_allows(workload::Sharding sharding, std::uint8_t offload,
                              workload::Recompute recompute) {
  const bool optimizer = (offload & workload::kOffloadOptimizer) != 0;
  const bool parameters = (offload & workload::kOffloadParams) != 0;
  const bool activations = (offload & workload::kOffloadActivations) != 0;
  const bool nvme = (offload & workload::kOffloadNvme) != 0;
  if (optimizer && sharding == workload::Sharding::none) return false;
  if (parameters && !shards_parameters(sharding)) return false;
  if (is_fsdp(sharding) && optimizer != parameters) return false;
  if (nvme && (sharding != workload::Sharding::zero3 || !(optimizer || parameters))) return false;
  return !activations || recompute == workload::Recompute::full;
}

constexpr bool sequence_parallel_allows(const workload::Training& training, std::int64_t tp,
                                        std::int64_t cp) {
  return tp > 1 && divides(tp * cp, training.seq_len);
}

}  // namespace gpuadvisor::planner
