// Parts of one stage's memory, computed apart and put together by estimate.cpp.
#pragma once

#include <algorithm>

#include "gpuadvisor/memory.hpp"

namespace gpuadvisor::memory {

using model::Architecture;
using workload::Plan;
using workload::Recompute;
using workload::Training;

/// What all stages of one plan share: degrees as shares, groups, tokens.
struct PlanContext {
  const Prepared& prepared;
  const Plan& plan;
  double tensor_share = 1;    ///< 1/tp
  double sequence_share = 1;  ///< 1/tp under sequence parallelism, else 1
  double expert_share = 1;    ///< 1/ep
  double dense_shard = 1;     ///< 1 over the ranks that share dense states
  double expert_shard = 1;    ///< 1 over those that share the states of one expert
  double tokens = 0;          ///< of one micro-batch on one rank
  double parts = 1;           ///< micro-batches that the pipeline cuts micro_batch into
  double end_matrix = 0;      ///< embedding or head parameters of one rank: padded V·h/tp
  const StateBytes& bytes;    ///< of the recipe under the plan's sharding
  workload::StateRecipe recipe = workload::StateRecipe::deepspeed;

  [[nodiscard]] const Training& run() const { return prepared.training; }
  [[nodiscard]] const workload::MemoryTraits& traits() const {
    return prepared.training.framework.memory;
  }
  [[nodiscard]] double at(const TokenBytes& bytes_a_token) const {
    return bytes_a_token.shared(sequence_share, tensor_share);
  }
};
[[nodiscard]] PlanContext context(const Prepared& prepared, const Plan& plan);

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
  double head_gradient = 0;       ///< of these gradients, what exists before the first layer's
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

[[nodiscard]] StageParameters stage_parameters(const PlanContext& c, int stage);
/// Micro-batches whose activations a stage holds at its peak.
[[nodiscard]] double in_flight(const PlanContext& c, int stage);

[[nodiscard]] States states(const PlanContext& c, const StageParameters& own);
[[nodiscard]] Buffers buffers(const PlanContext& c, const StageParameters& own);
[[nodiscard]] Head head(const PlanContext& c, const StageParameters& own);
[[nodiscard]] Activations activations(const PlanContext& c, const StageParameters& own, int stage);
/// The plan with what it leaves to the cluster or the framework decided.
[[nodiscard]] Plan normalised(const Prepared& prepared, Plan plan, const catalog::Cluster& cluster);
[[nodiscard]] Stage stage_of(const PlanContext& c, int stage);
[[nodiscard]] Breakdown breakdown(const Stage& stage, Phase phase);
/// Kept activations that are left when the backward pass needs most.
[[nodiscard]] double kept_in_backward(const Stage& stage);

/// Context and communicators, bytes outside the allocator of one process.
[[nodiscard]] double overhead(const Prepared& prepared, const Plan& plan,
                              const catalog::Cluster& cluster);
[[nodiscard]] double reserved(const Prepared& prepared, const Stage& stage, double allocated,
                              Phase peak);

// Filled by prepare.
void fill_layer_tables(Prepared& prepared);
void fill_state_bytes(Prepared& prepared);
void fill_logit_bytes(Prepared& prepared);

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
