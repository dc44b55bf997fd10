// Working buffers: gathered weights, reduce buckets, dequantised matrices, workspaces.
#include <algorithm>

#include "calibration_data.hpp"
#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

using workload::Sharding;

constexpr double kLiveParameters = 1e9;   // DeepSpeed stage3_max_live_parameters, prefetch alike
constexpr double kReduceBucket = 5e8;     // DeepSpeed reduce_bucket_size

double layer_share(const Prepared& prepared, const Plan& plan) {
  return prepared.largest_layer / (plan.tp * static_cast<double>(plan.ep > 1 ? plan.ep : 1));
}

// FSDP: two units gathered (the next one prefetched), the root unit whole; one unit's
// gradient in 16 bits and, for its reduction, in fp32.
void add_fsdp(Buffers& b, const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  const Training& run = prepared.training;
  const double layer = layer_share(prepared, plan);
  const bool frozen = run.adapters();
  const double unit = frozen ? prepared.base_linear_bytes : 2;
  b.gather = 2 * unit * layer + 2 * (own.embedding + own.head);
  if (!frozen) b.backward = 6 * layer;
  if (plan.pp > 1 && run.framework.memory.keeps_gathered_in_pipeline) {
    b.gather = 2 * own.total();
    b.backward = 4 * own.total();
  }
  if (plan.sharding == Sharding::fsdp_grad_op) b.gather = 2 * own.total();
}

void add_zero(Buffers& b, const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  const bool frozen = prepared.training.adapters();
  const double p = own.total();
  const double trained = frozen ? prepared.lora_parameters * own.share / plan.tp : p;
  if (plan.sharding == Sharding::zero3) {
    const double width = frozen ? std::min(2.0, prepared.base_linear_bytes) : 2;
    b.gather = width * std::min(kLiveParameters, p);
  }
  if (plan.sharding == Sharding::zero2 || plan.sharding == Sharding::zero3)
    b.backward += 2 * 2 * std::min(kReduceBucket, trained);
}

void add_quantised(Buffers& b, const Prepared& prepared, const Plan& plan) {
  const Training& run = prepared.training;
  if (run.adapters() && run.quant != workload::Quant::none)
    b.always += 2 * prepared.largest_matrix / plan.tp;  // one dequantised matrix
}

// DDP copies gradients into buckets unless they are views of them.
void add_data_parallel(Buffers& b, const Prepared& prepared, const Plan& plan,
                       const StageParameters& own) {
  const Training& run = prepared.training;
  if (plan.sharding != Sharding::none || plan.shard_group() <= 1) return;
  if (run.framework.memory.gradient_buffer) return;
  const double trained = run.adapters() ? prepared.lora_parameters * own.share / plan.tp : own.total();
  const auto recipe = static_cast<std::size_t>(workload::effective_recipe(run, plan.sharding));
  const double width = run.adapters() ? run.framework.memory.adapter_bytes : prepared.states[recipe].gradients;
  b.backward += width * trained;
}

}  // namespace

Buffers buffers(const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  const Training& run = prepared.training;
  Buffers b;
  b.always = calibration::memory::workspace_bytes;
  b.always += prepared.dummy_gradients.whole + prepared.dummy_gradients.tensor / plan.tp;
  const bool buffered = run.recipe == workload::StateRecipe::megatron;
  if (run.framework.memory.legacy_stack && plan.sharding != Sharding::none)
    b.always += 2 * 2 * std::min(kReduceBucket, own.total());  // reduce and all-gather
  else if (is_fsdp(plan.sharding)) add_fsdp(b, prepared, plan, own);
  else if (!buffered) add_zero(b, prepared, plan, own);
  add_quantised(b, prepared, plan);
  add_data_parallel(b, prepared, plan, own);
  if (!run.adapters() && workload::effective_recipe(run, plan.sharding) == workload::StateRecipe::hf_amp)
    b.gather += 2 * own.total();  // autocast caches the 16-bit casts until the step
  return b;
}

}  // namespace gpuadvisor::memory
