// What all stages of one plan share.
#include <algorithm>

#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

using workload::Sharding;

constexpr std::int32_t kVocabularyMultiple = 128;  // Megatron: make-vocab-size-divisible-by

double padded_vocabulary(const Prepared& prepared, std::int32_t tp) {
  const std::int32_t v = prepared.architecture.vocab;
  if (!prepared.training.framework.pad_vocab) return v;
  const std::int32_t multiple = kVocabularyMultiple * tp;
  const std::int32_t blocks = v / multiple + (v % multiple != 0 ? 1 : 0);
  return static_cast<double>(blocks) * multiple;
}

/// Ranks that share dense states.
double dense_group(const Prepared& prepared, const Plan& plan) {
  if (plan.sharding == Sharding::none) return 1;
  if (plan.sharding == Sharding::hsdp && plan.hsdp_group > 0) return plan.hsdp_group;
  const auto group = static_cast<double>(plan.shard_group());
  const auto zero1 = static_cast<double>(prepared.training.zero1_group);
  return zero1 > 0 && plan.sharding == Sharding::zero1 ? std::min(zero1, group) : group;
}

double micro_batch_parts(const Prepared& prepared, const Plan& plan) {
  const bool cuts = prepared.training.framework.memory.pipeline_splits_micro_batch;
  const bool said = plan.grad_accum > 1 && !prepared.training.micro_batches_unknown;
  if (!cuts || plan.pp == 1 || said) return 1;
  return std::min(plan.pp, plan.micro_batch);
}

}  // namespace

Plan normalised(const Prepared& prepared, Plan plan, const catalog::Cluster& cluster) {
  // FSDP frameworks shard over context ranks even when data parallelism is 1.
  if (plan.sharding == Sharding::none && plan.cp > 1 &&
      prepared.training.recipe == workload::StateRecipe::fsdp_mixed)
    plan.sharding = Sharding::fsdp;
  // hsdp without a group size shards within the node.
  if (plan.sharding == Sharding::hsdp && plan.hsdp_group == 0)
    plan.hsdp_group = std::max(1, std::min(cluster.gpus_per_node / std::max(1, plan.tp * plan.pp),
                                           static_cast<int>(plan.shard_group())));
  return plan;
}

PlanContext context(const Prepared& prepared, const Plan& plan) {
  const workload::StateRecipe recipe = workload::effective_recipe(prepared.training, plan.sharding);
  PlanContext c{.prepared = prepared,
                .plan = plan,
                .bytes = prepared.states[static_cast<std::size_t>(recipe)]};
  c.recipe = recipe;
  c.tensor_share = 1.0 / plan.tp;
  c.sequence_share = plan.sequence_parallel ? c.tensor_share : 1;
  c.expert_share = 1.0 / plan.ep;
  const double group = dense_group(prepared, plan);
  c.dense_shard = 1 / group;
  // Data, context and tensor ranks that hold the same experts.
  if (plan.sharding != Sharding::none)
    c.expert_shard = 1 / std::max(1.0, group * plan.tp * c.expert_share);
  c.tokens = static_cast<double>(plan.micro_batch) *
             static_cast<double>(prepared.training.seq_len) / plan.cp;
  c.parts = micro_batch_parts(prepared, plan);
  c.end_matrix =
      padded_vocabulary(prepared, plan.tp) * prepared.architecture.hidden * c.tensor_share;
  return c;
}

}  // namespace gpuadvisor::memory
