#include "performance/kernels.hpp"

#include <algorithm>

#include "calibration_data.hpp"
#include "performance/adapters.hpp"
#include "performance/elementwise.hpp"
#include "performance/gemm.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::KernelProfile;
using workload::Recompute;

bool joins_gate_up(KernelProfile profile) { return profile == KernelProfile::fused; }

/// Plain torch model code runs its experts one after the other.
bool experts_one_by_one(const workload::Training& training) {
  return training.kernel_profile == KernelProfile::eager ||
         training.kernel_profile == KernelProfile::mpt;
}

/// The three matmuls of one linear; fp8 adds casts, transposes and amax of its operands.
struct LinearTimes {
  double forward = 0, data_gradient = 0, weight_gradient = 0;
};

/// Under sequence parallelism operands of the model's width are cast before they are
/// gathered; their transposes are not divided.
double cast_share(double width, double hidden, double hidden_split) {
  constexpr double kTransposes = 1.0 / 3;
  return width == hidden ? (1 - kTransposes) / hidden_split + kTransposes : 1;
}

struct LinearWork {
  double tokens = 0, groups = 1, hidden = 0, hidden_split = 1;
};

LinearTimes linear_times(const Machine& machine, const Linear& linear, const LinearWork& work) {
  const double tokens = work.tokens, groups = work.groups;
  const auto product = [&](double m, double n, double k) {
    return matmul_time(machine, {m, n, k, groups, true});
  };
  LinearTimes times{product(tokens, linear.out, linear.in), product(tokens, linear.in, linear.out),
                    product(linear.out, linear.in, tokens)};
  if (machine.matmul_fp8 > 0) {
    const double cast = 0.5 * speed::q8 * tokens * groups / machine.elementwise_bw;
    const double in = linear.in * cast_share(linear.in, work.hidden, work.hidden_split);
    const double out = linear.out * cast_share(linear.out, work.hidden, work.hidden_split);
    times.forward += cast * in;
    times.data_gradient += cast * out;
    times.weight_gradient += cast * in;
    // Each expert's operands are cast by kernels of their own, too short to fill the GPU.
    const double launches = groups > 1 ? speed::expert_cast * groups : 0;
    times.forward += launches;
    times.data_gradient += launches;
    times.weight_gradient += launches;
  }
  return times;
}

void add_linear(KernelTimes& kernels, const LinearTimes& times, double copies) {
  kernels.linear_forward += copies * times.forward;
  kernels.data_gradient += copies * times.data_gradient;
  kernels.weight_gradient += copies * times.weight_gradient;
}

void add_dense(KernelTimes& kernels, const LayerContext& context) {
  const bool casts_shards = context.key.sequence_parallel && !context.training.fp8_rowwise;
  const LinearWork work{context.tokens, 1, 1.0 * context.architecture.hidden,
                        casts_shards ? 1.0 * context.key.tp : 1};
  for (int i = 0; i < context.shape.dense_count; ++i) {
    const auto times =
        linear_times(context.machine, context.shape.dense[static_cast<std::size_t>(i)], work);
    add_linear(kernels, times, 1);
    if (i == context.shape.last_dense) kernels.last_linear_forward = times.forward;
  }
}

void add_experts(KernelTimes& kernels, const LayerContext& context) {
  const double experts = context.shape.local_experts;
  if (context.shape.expert_count == 0) return;
  const bool sequential = experts_one_by_one(context.training);
  const LinearWork work{context.routed / experts, sequential ? 1 : experts};
  for (int i = 0; i < context.shape.expert_count; ++i) {
    const Linear& linear = context.shape.expert[static_cast<std::size_t>(i)];
    const auto times = linear_times(context.machine, linear, work);
    add_linear(kernels, times, sequential ? experts : 1);
  }
}

void add_adapters(KernelTimes& kernels, const LayerContext& context) {
  const auto& training = context.training;
  if (!training.adapters()) return;
  const auto& a = context.architecture;
  const auto widths = adapter_widths(a, context.kind, training.lora, context.key.tp);
  kernels.adapters = adapter_time(context.machine, training, widths, context.tokens);
  model::LoraSpec down = training.lora;
  down.targets &= model::kTargetDown;
  kernels.last_adapter =
      adapter_time(context.machine, training, adapter_widths(a, context.kind, down, context.key.tp),
                   context.tokens);
  kernels.dequantise =
      dequantise_time(context.machine, training.quant, context.shape.linear_weights());
}

double full_recompute(const LayerContext& context, const KernelTimes& kernels) {
  double time = kernels.forward();
  if (context.training.checkpoint_early_stop)
    time -= kernels.last_linear_forward + kernels.last_adapter;
  return std::max(0.0, time);
}

}  // namespace

double KernelTimes::backward() const {
  return data_gradient + weight_gradient + attention.backward + elementwise.backward +
         speed::peft_backward * adapters + dequantise;
}

LayerContext layer_context(const Machine& machine, const memory::Prepared& prepared,
                           const LayerKey& key, int kind) {
  const auto& a = prepared.architecture;
  const auto& training = prepared.training;
  LayerContext context{machine,
                       a,
                       training,
                       a.kinds[static_cast<std::size_t>(kind)],
                       key,
                       layer_shape(a, prepared.counts, kind, key.tp, key.ep,
                                   joins_gate_up(training.kernel_profile))};
  context.tokens = 1.0 * key.micro_batch * static_cast<double>(training.seq_len) / key.cp;
  const double imbalance = key.ep > 1 ? speed::imbalance : 1.0;
  if (context.kind.moe)
    context.routed = imbalance * context.tokens / key.tp * std::max(1, a.experts_per_token);
  return context;
}

KernelTimes kernel_times(const LayerContext& context) {
  KernelTimes kernels;
  add_dense(kernels, context);
  add_experts(kernels, context);
  if (context.training.adapters()) kernels.weight_gradient = 0;
  AttentionWork work;
  work.tokens = context.tokens;
  work.sequence = static_cast<double>(context.training.seq_len);
  work.tp = context.key.tp;
  work.dropout = context.training.dropout;
  work.fused_softmax = context.training.kernel_profile == KernelProfile::fused;
  kernels.attention = attention_time(context.machine, context.architecture, context.kind, work);
  const double split = context.key.sequence_parallel ? context.key.tp : 1;
  kernels.elementwise = elementwise_time(context.machine, context.architecture, context.training,
                                         context.shape, context.tokens, context.routed, split);
  add_adapters(kernels, context);
  return kernels;
}

bool recomputes_operators(const workload::Training& training, Recompute recompute) {
  return recompute == Recompute::selective_op ||
         (recompute == Recompute::selective && training.framework.selective_by_operator);
}

double recompute_time(const LayerContext& context, const KernelTimes& kernels) {
  switch (context.key.recompute) {
    case Recompute::none:
      return 0;
    case Recompute::full:
      return full_recompute(context, kernels);
    case Recompute::selective_layer:
      return 0.5 * full_recompute(context, kernels);
    case Recompute::selective:
    case Recompute::selective_op:
      break;
  }
  return recomputes_operators(context.training, context.key.recompute)
             ? 0.5 * kernels.linear_forward + kernels.elementwise.forward
             : kernels.attention.forward;
}

double host_time(const LayerContext& context) {
  const workload::FrameworkProfile& profile = context.training.framework;
  double time = profile.host_layer_s;
  if (context.training.adapters()) time += profile.host_peft_s;
  const auto quant = context.training.quant;
  if (quant == workload::Quant::gptq_int4 || quant == workload::Quant::gptq_int8)
    time += profile.host_gptq_s;
  switch (context.key.sharding) {
    case workload::Sharding::zero3:
      time += profile.host_zero3_s;
      break;
    case workload::Sharding::fsdp:
    case workload::Sharding::fsdp_grad_op:
    case workload::Sharding::hsdp:
      time += profile.host_fsdp_s;
      break;
    default:
      break;
  }
  if (context.kind.moe && experts_one_by_one(context.training))
    time += speed::host_expert * context.shape.local_experts;
  return time;
}

}  // namespace gpuadvisor::performance
