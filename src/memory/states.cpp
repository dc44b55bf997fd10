// Weights, gradients, master copies and moments of one rank.
#include <algorithm>

#include "memory/layer_bytes.hpp"
#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

using workload::Optimizer;
using workload::Precision;
using workload::Quant;
using workload::Sharding;
using workload::StateRecipe;

constexpr double kEightBitMoment = 1 + 4.0 / 256;  // one byte, an fp32 scale a block of 256

struct Moments {
  double bytes = 0;      ///< a parameter
  double step_copy = 0;  ///< copy that a foreach kernel makes
};

// Factored second moment: fp32 row and column sums of every matrix. The matrices of a
// layer have one side h, so a parameter costs 4·(1/h + 1/other side).
double factored_bytes(const Architecture& m) {
  const double h = std::max(1, m.hidden), other = std::max({1, m.ffn, m.expert_ffn});
  return 4 * (1 / h + 1 / other);
}

// GaLore: both moments of the rank-r projection of each matrix, and the projector; r = h/4.
double low_rank_bytes(const Architecture& m, double moment) {
  const double h = std::max(1, m.hidden), other = std::max({1, m.ffn, m.expert_ffn});
  const double rank = h / 4, small = std::min(h, other), large = std::max(h, other);
  return (2 * moment * rank * large + moment * rank * small) / (small * large);
}

Moments moments(const Prepared& prepared, double width) {
  const Architecture& m = prepared.architecture;
  const auto& c = prepared.counts;
  const double ends =
      c.total > 0 ? std::min(1.0, (c.embedding + c.head + c.positions) / c.total) : 0;
  switch (prepared.training.optimizer) {
    case Optimizer::adamw:
      return {2 * width, prepared.training.framework.foreach_optimizer ? width : 0};
    case Optimizer::adamw_8bit:
      return {2 * kEightBitMoment, 0};
    case Optimizer::adamw_paged:
      return {2 * width, 0};
    case Optimizer::adafactor:
      return {factored_bytes(m), 0};
    case Optimizer::sgd:
    case Optimizer::lion:
      return {width, 0};
    case Optimizer::muon:
      return {width * (1 + ends), 0};  // AdamW on embedding and head
    case Optimizer::galore:
      return {ends * 2 * width + (1 - ends) * low_rank_bytes(m, width), 0};
  }
  return {2 * width, 0};
}

StateBytes recipe_bytes(const Prepared& prepared, StateRecipe recipe) {
  const Training& run = prepared.training;
  if (run.precision == Precision::bf16_pure) recipe = StateRecipe::hf_16bit;
  if (run.precision == Precision::fp32) recipe = StateRecipe::hf_amp;
  const bool quantised_moments = run.optimizer == Optimizer::adamw_8bit;
  StateBytes bytes;
  double width = 4;
  switch (recipe) {
    case StateRecipe::megatron:
      bytes = {2, run.grad_reduce_bytes > 2 ? 4.0 : 2.0, 4, 0, 0};
      break;
    case StateRecipe::deepspeed:
      bytes = {2, 2, 4, 0, 0};
      break;
    case StateRecipe::fsdp_mixed:
    case StateRecipe::hf_amp:
      bytes = {4, 4, 0, 0, 0};
      break;
    case StateRecipe::hf_16bit:
      bytes = {2, 2, 0, 0, 0};
      width = 2;
      break;
  }
  const Moments own = moments(prepared, width);
  bytes.moments = own.bytes;
  const bool foreach = recipe == StateRecipe::hf_16bit || recipe == StateRecipe::hf_amp;
  bytes.step_copy = foreach && !quantised_moments ? own.step_copy : 0;
  return bytes;
}

/// Bytes of a base parameter, and the part that sharding leaves whole.
struct QuantBytes {
  double linear = 2, constants = 0;
};

QuantBytes quant_bytes(Quant quant) {
  switch (quant) {
    case Quant::none:
      return {2, 0};
    case Quant::nf4:
      return {0.5 + 4.0 / 64, 4.0 / 64};  // fp32 scale a block of 64
    case Quant::nf4_dq:
      return {0.5 + 1.0 / 64 + 4.0 / (64 * 256), 1.0 / 64};
    case Quant::int8_bnb:
      return {1, 0};
    case Quant::gptq_int4:
    case Quant::awq_int4:
      return {0.5 + 2.5 / 128, 0};  // 16-bit scale and zero a group
    case Quant::gptq_int8:
      return {1 + 2.5 / 128, 0};
    case Quant::fp8:
      return {1, 0};
    case Quant::fp4:
      return {0.5 + 1.0 / 16, 0};
    case Quant::gguf:
      return {0.5 + 2.0 / 32, 0};
  }
  return {2, 0};
}

// --- adapters ------------------------------------------------------------------------

double base_bytes(const PlanContext& c, const StageParameters& own) {
  const Prepared& p = c.prepared;
  const double rest = own.total() - own.linear;
  const double shard = shards_weights(c.plan.sharding) ? c.dense_shard : 1;
  const double constants = own.linear * p.base_constant_bytes;
  const double all = own.linear * p.base_linear_bytes + rest * p.base_rest_bytes;
  return constants + (offloads(c.plan, workload::kOffloadParams) ? 0 : (all - constants) * shard);
}

// 16-bit adapters; fp32 master, moments and gradient of the own part.
void add_zero_adapters(States& s, const PlanContext& c, double lp, double weight_shard) {
  s.weights += 2 * lp * weight_shard;
  s.gradients = 2 * lp * weight_shard;
  s.optimizer = 16 * lp * c.dense_shard;
}

void add_plain_adapters(States& s, const PlanContext& c, double lp, double weight_shard) {
  const double bytes = c.traits().adapter_bytes * lp * weight_shard;
  s.weights += bytes;
  s.gradients = bytes;
  s.optimizer = 2 * bytes;
  s.step_temporary = bytes;
}

// Trained copies of embedding and head beside the frozen ones.
void add_trained_ends(States& s, const PlanContext& c, double weight_shard) {
  const double ends = 2 * c.end_matrix * weight_shard;
  s.weights += 2 * ends;
  s.gradients += 2 * ends;
  s.optimizer += 4 * ends;
  s.step_temporary += 2 * ends;
}

void offload_adapters(States& s, const PlanContext& c, bool zero) {
  if (c.run().optimizer == Optimizer::adamw_paged && !zero) {  // pages move to the host
    s.host += s.optimizer;
    s.optimizer = 0;
  }
  if (!offloads(c.plan, workload::kOffloadOptimizer)) return;
  s.host += s.optimizer + s.gradients;
  s.optimizer = s.gradients = s.step_temporary = 0;
}

States adapter_states(const PlanContext& c, const StageParameters& own) {
  const Training& run = c.run();
  const double lp = c.prepared.lora_parameters * own.share * c.tensor_share;
  const bool zero = c.plan.sharding == Sharding::zero2 || c.plan.sharding == Sharding::zero3;
  const double weight_shard = shards_weights(c.plan.sharding) ? c.dense_shard : 1;
  States s;
  s.weights = base_bytes(c, own);
  s.gradients_always = c.plan.grad_accum > 1 || c.traits().gradient_buffer || zero;
  if (zero)
    add_zero_adapters(s, c, lp, weight_shard);
  else
    add_plain_adapters(s, c, lp, weight_shard);
  if (run.trained_embeddings) add_trained_ends(s, c, weight_shard);
  if (run.replaced_embedding_kept) s.weights += 2 * c.end_matrix * c.plan.tp;
  if (c.traits().no_sync_gradients && is_fsdp(c.plan.sharding)) {
    s.gradients = 2 * (own.total() - own.embedding - own.head + lp);
    s.head_gradient = s.gradients;  // flat: all there while the first layer's is made
  }
  offload_adapters(s, c, zero);
  return s;
}

// --- all weights trained -----------------------------------------------------------------

// Megatron-DeepSpeed of 2021-22: fp16 keeps an fp32 gradient of its part, bf16 fp32 gradients.
States legacy_states(const PlanContext& c, const StageParameters& own) {
  const bool fp16 = c.run().precision == Precision::fp16;
  States s;
  s.weights = 2 * own.total();
  s.gradients = (fp16 ? 2 : 6) * own.total();
  s.optimizer = (fp16 ? 16 : 12) * (own.dense * c.dense_shard + own.expert * c.expert_shard);
  s.gradients_always = true;
  return s;
}

void offload_states(States& s, const PlanContext& c, double part) {
  double moved = 0;
  if (offloads(c.plan, workload::kOffloadOptimizer)) {
    moved += s.optimizer + 4 * part;  // and fp32 gradients of the part
    s.optimizer = s.step_temporary = 0;
    if (shards_gradients(c.plan.sharding)) s.gradients = 0;
  }
  if (offloads(c.plan, workload::kOffloadParams) && shards_weights(c.plan.sharding)) {
    moved += c.bytes.weights * part;
    s.weights = 0;
    if (is_fsdp(c.plan.sharding)) {
      moved += s.gradients + s.optimizer;
      s.gradients = s.optimizer = s.step_temporary = 0;
    }
  }
  (offloads(c.plan, workload::kOffloadNvme) ? s.disk : s.host) += moved;
}

double step_temporary(const PlanContext& c, double part) {
  if (c.recipe ==
      StateRecipe::deepspeed) {  // fp32 gradients of the part, in sub-groups under ZeRO-3
    constexpr double kSubGroup = 1e9;
    return 4 * (c.plan.sharding == Sharding::zero3 ? std::min(part, kSubGroup) : part);
  }
  return c.bytes.step_copy * part;
}

// A gradient is used and freed as soon as it is made.
void free_gradients_in_backward(States& s, const PlanContext& c) {
  const double largest = c.prepared.largest_matrix * c.tensor_share;
  s.gradients = std::min(s.gradients, c.bytes.gradients * largest);
  s.step_temporary = std::min(s.step_temporary, c.bytes.step_copy * largest);
}

// Only plain torch without accumulation frees gradients before the next loss; scripts
// with no_sync always accumulate.
bool gradients_stay(const PlanContext& c) {
  const bool freed = c.recipe == StateRecipe::hf_16bit || c.recipe == StateRecipe::hf_amp;
  return !freed || c.traits().gradient_buffer || c.traits().no_sync_gradients ||
         c.plan.grad_accum > 1;
}

States trained_states(const PlanContext& c, const StageParameters& own) {
  const Training& run = c.run();
  const double whole = own.total();
  const double part = own.dense * c.dense_shard + own.expert * c.expert_shard;
  const bool weights_shared =
      shards_weights(c.plan.sharding) || c.plan.sharding == Sharding::fsdp_grad_op;
  const double weight_part = weights_shared ? part : whole;
  States s;
  s.weights = c.bytes.weights * weight_part;
  s.gradients = c.bytes.gradients * (shards_gradients(c.plan.sharding) ? part : whole);
  s.optimizer = (c.bytes.master + c.bytes.moments) * part;
  s.step_temporary = step_temporary(c, part);
  s.gradients_always = gradients_stay(c);
  if (own.last) s.head_gradient = c.bytes.gradients * c.end_matrix;
  // An fp8 copy of the matrices; recipes that reduce in 16 bits keep fp8 and its transpose
  // instead of 16-bit weights, which is as much.
  if (run.precision == Precision::fp8 && c.recipe == StateRecipe::megatron && c.bytes.gradients > 2)
    s.weights += whole - own.embedding - own.head;
  if (run.optimizer == Optimizer::adamw_paged) {  // managed memory: pages move to the host
    s.host += c.bytes.moments * part;
    s.optimizer -= c.bytes.moments * part;
  }
  if (c.plan.offload != workload::kOffloadNone) offload_states(s, c, part);
  if (run.optimizer_in_backward) free_gradients_in_backward(s, c);
  if (run.mode == workload::Mode::dpo) s.weights += 2 * weight_part;  // the frozen reference
  return s;
}

}  // namespace

void fill_state_bytes(Prepared& prepared) {
  for (std::size_t i = 0; i < prepared.states.size(); ++i)
    prepared.states[i] = recipe_bytes(prepared, static_cast<StateRecipe>(i));
  const Training& run = prepared.training;
  const bool wide = run.precision == Precision::fp32;
  const QuantBytes base = quant_bytes(run.quant);
  prepared.base_linear_bytes = run.quant == Quant::none && wide ? 4 : base.linear;
  prepared.base_constant_bytes = base.constants;
  prepared.base_rest_bytes = run.unquantised_fp32 || wide ? 4 : 2;
  if (!run.adapters()) return;
  prepared.lora_parameters = run.lora_parameters > 0
                                 ? run.lora_parameters
                                 : model::lora_parameters(prepared.architecture, run.lora);
}

States states(const PlanContext& c, const StageParameters& own) {
  if (c.run().adapters()) return adapter_states(c, own);
  if (c.traits().legacy_stack) return legacy_states(c, own);
  return trained_states(c, own);
}

}  // namespace gpuadvisor::memory
