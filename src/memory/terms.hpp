// Parts of one stage's memory, computed apart and put together by estimate.cpp.
#pragma once

#include <algorithm>

#include "gpuadvisor/memory.hpp"

namespace gpuadvisor::memory {

using model::Architecture;
using workload::Plan;
using workload::Recompute;
using workload::Training;

/// Parameters that one rank of a stage holds.
struct StageParameters {
  std::array<double, model::kMaxLayerKinds> layers{};  ///< number of layers by kind
  double layer_count = 0;
  double dense = 0;      ///< all but routed experts
  double expert = 0;     ///< routed experts of this rank
  double linear = 0;     ///< layer matrices, experts included
  double embedding = 0;  ///< of this rank, learned positions included
  double head = 0;       ///< of this rank
  double share = 1;      ///< layers of this stage over all layers
  bool first = true, last = true;
  [[nodiscard]] double total() const { return dense + expert; }
};

struct States {
  double weights = 0, gradients = 0, optimizer = 0, step_temporary = 0;
  bool gradients_always = false;  ///< present in the loss phase too
  double host = 0, disk = 0;      ///< of one GPU
};

struct Buffers {
  double always = 0, gather = 0, backward = 0, step = 0;
};

struct Head {
  double allocated = 0, reserved = 0;  ///< logits, loss and its gradient
  double extra = 0;                    ///< final norm, head gradient
};

struct Activations {
  double kept = 0;  ///< of all layers and micro-batches in flight
  double live = 0;  ///< more while the backward of one layer runs
  double host = 0;  ///< offloaded
};

/// Everything about one stage; phases add it up.
struct Stage {
  StageParameters parameters;
  States states;
  Buffers buffers;
  Head head;
  Activations activations;
};

[[nodiscard]] double padded_vocabulary(const Prepared& prepared, double tp);
[[nodiscard]] StageParameters stage_parameters(const Prepared& prepared, const Plan& plan, int stage);
[[nodiscard]] double in_flight(const Prepared& prepared, const Plan& plan, int stage);
/// Micro-batches that torchtitan's schedule cuts micro_batch into; 1 elsewhere.
[[nodiscard]] double micro_batch_parts(const Prepared& prepared, const Plan& plan);
/// Tokens of one micro-batch on one rank.
[[nodiscard]] double micro_tokens(const Prepared& prepared, const Plan& plan);

[[nodiscard]] States states(const Prepared& prepared, const Plan& plan, const StageParameters& own);
[[nodiscard]] Buffers buffers(const Prepared& prepared, const Plan& plan, const StageParameters& own);
[[nodiscard]] Head head(const Prepared& prepared, const Plan& plan, const StageParameters& own);
[[nodiscard]] Activations activations(const Prepared& prepared, const Plan& plan,
                                      const StageParameters& own, int stage);
/// The plan with what it leaves to the cluster or the framework decided.
[[nodiscard]] Plan normalised(const Prepared& prepared, Plan plan, const catalog::Cluster& cluster);
[[nodiscard]] Stage stage_of(const Prepared& prepared, const Plan& plan, int stage);
[[nodiscard]] Breakdown breakdown(const Stage& stage, Phase phase);

/// Context and communicators, bytes outside the allocator of one process.
[[nodiscard]] double overhead(const Prepared& prepared, const Plan& plan,
                              const catalog::Cluster& cluster);
[[nodiscard]] double reserved(const Prepared& prepared, const Stage& stage, double allocated,
                              Phase peak);

// Filled by prepare.
void fill_layer_tables(Prepared& prepared);
void fill_state_bytes(Prepared& prepared);

/// Ranks that share dense states.
[[nodiscard]] inline double dense_group(const Prepared& prepared, const Plan& plan) {
  if (plan.sharding == workload::Sharding::none) return 1;
  if (plan.sharding == workload::Sharding::hsdp && plan.hsdp_group > 0) return plan.hsdp_group;
  const auto group = static_cast<double>(plan.shard_group());
  const auto zero1 = static_cast<double>(prepared.training.zero1_group);
  return zero1 > 0 && plan.sharding == workload::Sharding::zero1 ? std::min(zero1, group) : group;
}
/// Ranks that share the states of one expert: data, context and tensor ranks that hold
/// the same experts.
[[nodiscard]] inline double expert_group(const Prepared& prepared, const Plan& plan) {
  if (plan.sharding == workload::Sharding::none) return 1;
  return std::max(1.0, dense_group(prepared, plan) * plan.tp / plan.ep);
}
[[nodiscard]] inline bool shards_gradients(workload::Sharding s) {
  return s != workload::Sharding::none && s != workload::Sharding::zero1;
}
[[nodiscard]] inline bool shards_weights(workload::Sharding s) {
  return s == workload::Sharding::zero3 || s == workload::Sharding::fsdp ||
         s == workload::Sharding::hsdp;
}
[[nodiscard]] inline bool is_fsdp(workload::Sharding s) {
  return s == workload::Sharding::fsdp || s == workload::Sharding::fsdp_grad_op ||
         s == workload::Sharding::hsdp;
}
[[nodiscard]] inline bool offloads(const Plan& plan, workload::Offload what) {
  return (plan.offload & what) != 0;
}

}  // namespace gpuadvisor::memory
