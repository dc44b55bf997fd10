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
  const double ends = c.total > 0 ? std::min(1.0, (c.embedding + c.head + c.positions) / c.total) : 0;
  switch (prepared.training.optimizer) {
    case Optimizer::adamw:
      return {2 * width, prepared.training.framework.foreach_optimizer ? width : 0};
    case Optimizer::adamw_8bit: return {2 * kEightBitMoment, 0};
    case Optimizer::adamw_paged: return {2 * width, 0};
    case Optimizer::adafactor: return {factored_bytes(m), 0};
    case Optimizer::sgd:
    case Optimizer::lion: return {width, 0};
    case Optimizer::muon: return {width * (1 + ends), 0};  // AdamW on embedding and head
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
    case StateRecipe::deepspeed: bytes = {2, 2, 4, 0, 0}; break;
    case StateRecipe::fsdp_mixed:
    case StateRecipe::hf_amp: bytes = {4, 4, 0, 0, 0}; break;
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
    case Quant::none: return {2, 0};
    case Quant::nf4: return {0.5 + 4.0 / 64, 4.0 / 64};          // fp32 scale a block of 64
    case Quant::nf4_dq: return {0.5 + 1.0 / 64 + 4.0 / (64 * 256), 1.0 / 64};
    case Quant::int8_bnb: return {1, 0};
    case Quant::gptq_int4:
    case Quant::awq_int4: return {0.5 + 2.5 / 128, 0};           // 16-bit scale and zero a group
    case Quant::gptq_int8: return {1 + 2.5 / 128, 0};
    case Quant::fp8: return {1, 0};
    case Quant::fp4: return {0.5 + 1.0 / 16, 0};
    case Quant::gguf: return {0.5 + 2.0 / 32, 0};
  }
  return {2, 0};
}

// --- adapters ------------------------------------------------------------------------

double base_bytes(const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  const double rest = own.total() - own.linear;
  const double n = shards_weights(plan.sharding) ? dense_group(prepared, plan) : 1;
  const double constants = own.linear * prepared.base_constant_bytes;
  const double all = own.linear * prepared.base_linear_bytes + rest * prepared.base_rest_bytes;
  const bool offloaded = offloads(plan, workload::kOffloadParams);
  return constants + (offloaded ? 0 : (all - constants) / n);
}

States adapter_states(const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  const Training& run = prepared.training;
  const double lp = prepared.lora_parameters * own.share / plan.tp;
  const double lb = run.framework.memory.adapter_bytes, n = dense_group(prepared, plan);
  const bool zero = plan.sharding == Sharding::zero2 || plan.sharding == Sharding::zero3;
  const double nw = shards_weights(plan.sharding) ? n : 1;
  States s;
  s.weights = base_bytes(prepared, plan, own);
  s.gradients_always = plan.grad_accum > 1 || run.framework.memory.gradient_buffer || zero;
  if (zero) {  // 16-bit adapters; fp32 master, moments and gradient of the own part
    s.weights += 2 * lp / nw;
    s.gradients = 2 * lp / nw;
    s.optimizer = 16 * lp / n;
  } else {
    s.weights += lb * lp / nw;
    s.gradients = lb * lp / nw;
    s.optimizer = 2 * lb * lp / nw;
    s.step_temporary = lb * lp / nw;
  }
  if (run.trained_embeddings) {  // trained copies beside the frozen ones
    const double ends = 2 * padded_vocabulary(prepared, plan.tp) * prepared.architecture.hidden / plan.tp / nw;
    s.weights += 2 * ends, s.gradients += 2 * ends, s.optimizer += 4 * ends, s.step_temporary += 2 * ends;
  }
  if (run.replaced_embedding_kept)
    s.weights += 2 * padded_vocabulary(prepared, plan.tp) * prepared.architecture.hidden;
  if (run.framework.memory.no_sync_gradients && is_fsdp(plan.sharding))
    s.gradients = 2 * (own.total() - own.embedding - own.head + lp);
  if (run.optimizer == Optimizer::adamw_paged && !zero) {  // pages move to the host
    s.host += s.optimizer;
    s.optimizer = 0;
  }
  if (offloads(plan, workload::kOffloadOptimizer)) {
    s.host += s.optimizer + s.gradients;
    s.optimizer = s.gradients = s.step_temporary = 0;
  }
  return s;
}

// --- all weights trained -----------------------------------------------------------------

/// Parameters of this rank after sharding over the ranks that share them.
double divided(const StageParameters& own, double dense_ranks, double expert_ranks) {
  return own.dense / dense_ranks + own.expert / expert_ranks;
}

// Megatron-DeepSpeed of 2021-22: fp16 keeps an fp32 gradient of its part, bf16 fp32 gradients.
States legacy_states(const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  const bool fp16 = prepared.training.precision == Precision::fp16;
  const double p = own.total(), part = divided(own, dense_group(prepared, plan), expert_group(prepared, plan));
  States s;
  s.weights = 2 * p;
  s.gradients = (fp16 ? 2 : 6) * p;
  s.optimizer = (fp16 ? 16 : 12) * part;
  s.gradients_always = true;
  return s;
}

void offload_states(States& s, const Plan& plan, double part, const StateBytes& bytes) {
  double moved = 0;
  if (offloads(plan, workload::kOffloadOptimizer)) {
    moved += s.optimizer + 4 * part;  // and fp32 gradients of the part
    s.optimizer = s.step_temporary = 0;
    if (shards_gradients(plan.sharding)) s.gradients = 0;
  }
  if (offloads(plan, workload::kOffloadParams) && shards_weights(plan.sharding)) {
    moved += bytes.weights * part;
    s.weights = 0;
    if (is_fsdp(plan.sharding)) {
      moved += s.gradients + s.optimizer;
      s.gradients = s.optimizer = s.step_temporary = 0;
    }
  }
  (offloads(plan, workload::kOffloadNvme) ? s.disk : s.host) = moved;
}

double step_temporary(const StateBytes& bytes, StateRecipe recipe, const Plan& plan, double part,
                      double moment_share) {
  if (recipe == StateRecipe::deepspeed) {  // fp32 gradients of the part, in sub-groups under ZeRO-3
    constexpr double kSubGroup = 1e9;
    return 4 * (plan.sharding == Sharding::zero3 ? std::min(part, kSubGroup) : part);
  }
  return bytes.step_copy * moment_share;
}

States trained_states(const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  const Training& run = prepared.training;
  const StateRecipe recipe = workload::effective_recipe(run, plan.sharding);
  const StateBytes& bytes = prepared.states[static_cast<std::size_t>(recipe)];
  const double whole = own.total();
  const double part = divided(own, dense_group(prepared, plan), expert_group(prepared, plan));
  const double weight_part = shards_weights(plan.sharding) || plan.sharding == Sharding::fsdp_grad_op ? part : whole;
  const double gradient_part = shards_gradients(plan.sharding) ? part : whole;
  States s;
  s.weights = bytes.weights * weight_part;
  s.gradients = bytes.gradients * gradient_part;
  s.optimizer = (bytes.master + bytes.moments) * part;
  s.step_temporary = step_temporary(bytes, recipe, plan, part, part);
  // Only plain torch without accumulation frees gradients before the next loss.
  const bool freed = recipe == StateRecipe::hf_16bit || recipe == StateRecipe::hf_amp;
  s.gradients_always = !freed || run.framework.memory.gradient_buffer || plan.grad_accum > 1;
  // An fp8 copy of the matrices; recipes that reduce in 16 bits keep fp8 and its transpose
  // instead of 16-bit weights, which is as much.
  if (run.precision == Precision::fp8 && recipe == StateRecipe::megatron && bytes.gradients > 2)
    s.weights += whole - own.embedding - own.head;
  if (run.optimizer == Optimizer::adamw_paged) {  // managed memory: pages move to the host
    s.host += bytes.moments * part;
    s.optimizer -= bytes.moments * part;
  }
  offload_states(s, plan, part, bytes);
  if (run.optimizer_in_backward) {  // a gradient is used and freed as soon as it is made
    const double largest = prepared.largest_matrix / plan.tp;
    s.gradients = std::min(s.gradients, bytes.gradients * largest);
    s.step_temporary = std::min(s.step_temporary, bytes.step_copy * largest);
  }
  if (run.mode == workload::Mode::dpo)  // the frozen reference model
    s.weights += 2 * weight_part;
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

States states(const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  if (prepared.training.adapters()) return adapter_states(prepared, plan, own);
  if (prepared.training.framework.memory.legacy_stack) return legacy_states(prepared, plan, own);
  return trained_states(prepared, plan, own);
}

}  // namespace gpuadvisor::memory
