// Working buffers: gathered weights, reduce buckets, dequantised matrices, workspaces.
#include <algorithm>

#include "calibration_data.hpp"
#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

using workload::Sharding;

constexpr double kLiveParameters = 1e9;  // DeepSpeed stage3_max_live_parameters, prefetch alike
constexpr double kReduceBucket = 5e8;    // DeepSpeed reduce_bucket_size

double layer_share(const PlanContext& c) {
  return c.prepared.largest_layer * c.tensor_share * c.expert_share;
}

double trained_parameters(const PlanContext& c, const StageParameters& own) {
  if (!c.run().adapters()) return own.total();
  return c.prepared.lora_parameters * own.share * c.tensor_share;
}

// FSDP: two units gathered (the next one prefetched), the root unit whole; one unit's
// gradient in 16 bits and, for its reduction, in fp32.
void add_fsdp(Buffers& b, const PlanContext& c, const StageParameters& own) {
  const double layer = layer_share(c);
  const bool frozen = c.run().adapters();
  const double unit = frozen ? c.prepared.base_linear_bytes : 2;
  b.gather = 2 * unit * layer + 2 * (own.embedding + own.head);
  if (!frozen) b.backward = 6 * layer;
  if (c.plan.pp > 1 && c.traits().keeps_gathered_in_pipeline) {
    b.gather = 2 * own.total();
    b.backward = 4 * own.total();
  }
  if (c.plan.sharding == Sharding::fsdp_grad_op) b.gather = 2 * own.total();
}

void add_zero(Buffers& b, const PlanContext& c, const StageParameters& own) {
  if (c.plan.sharding == Sharding::zero3) {
    const double width = c.run().adapters() ? std::min(2.0, c.prepared.base_linear_bytes) : 2;
    b.gather = width * std::min(kLiveParameters, own.total());
  }
  if (c.plan.sharding == Sharding::zero2 || c.plan.sharding == Sharding::zero3)
    b.backward += 2 * 2 * std::min(kReduceBucket, trained_parameters(c, own));
}

// DDP copies gradients into buckets unless they are views of them.
void add_data_parallel(Buffers& b, const PlanContext& c, const StageParameters& own) {
  if (c.plan.sharding != Sharding::none || c.plan.shard_group() <= 1) return;
  if (c.traits().gradient_buffer) return;
  const double width = c.run().adapters() ? c.traits().adapter_bytes : c.bytes.gradients;
  b.backward += width * trained_parameters(c, own);
}

}  // namespace

Buffers buffers(const PlanContext& c, const StageParameters& own) {
  const Training& run = c.run();
  Buffers b;
  b.always =
      calibration::memory::workspace_bytes + c.prepared.dummy_gradients.shared(1, c.tensor_share);
  if (c.traits().legacy_stack && c.plan.sharding != Sharding::none)
    b.always += 2 * 2 * std::min(kReduceBucket, own.total());  // reduce and all-gather
  else if (is_fsdp(c.plan.sharding))
    add_fsdp(b, c, own);
  else if (run.recipe != workload::StateRecipe::megatron)
    add_zero(b, c, own);
  if (run.adapters() && run.quant != workload::Quant::none)
    b.always += 2 * c.prepared.largest_matrix * c.tensor_share;  // one dequantised matrix
  add_data_parallel(b, c, own);
  if (!run.adapters() && c.recipe == workload::StateRecipe::hf_amp)
    b.gather += 2 * own.total();  // autocast caches the 16-bit casts until the step
  return b;
}

}  // namespace gpuadvisor::memory
