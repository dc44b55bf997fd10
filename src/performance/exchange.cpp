#include "performance/exchange.hpp"

#include <algorithm>

#include "calibration_data.hpp"
#include "performance/collective.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;

/// How often activations are joined in one pass: after attention and after the MLP. A
/// parallel block joins once; routed experts need no join, shared ones do.
double joins(const LayerContext& context) {
  if (context.architecture.parallel_block) return 1;
  return context.kind.moe && context.shape.mlp_width <= 0 ? 1 : 2;
}

Exchange ring_exchange(const LayerContext& context, const PassTimes& attention) {
  const Machine& machine = context.machine;
  const auto& key = context.key;
  const double steps = key.cp - 1;
  const double bytes =
      steps * 2 * machine.element_bytes * context.tokens * context.architecture.kv_width() / key.tp;
  const bool leaves_node = 1.0 * key.tp * key.cp > machine.gpus_per_node;
  const double rate = leaves_node ? machine.fabric_share() : speed::ring_bw * machine.allgather_bw;
  const auto exposed = [&](double transfer, double compute) {
    return std::max(0.0, transfer - compute) + speed::ring_exposed * transfer +
           speed::ring_step * steps;
  };
  const double transfer = bytes / rate;
  const double forward = exposed(transfer, attention.forward);
  return {forward, exposed(2 * transfer, attention.backward), forward};
}

Exchange head_exchange(const LayerContext& context) {
  const auto& a = context.architecture;
  const Group group{1.0 * context.key.cp, 1.0 * context.key.tp};
  const double unit = context.tokens * context.machine.element_bytes / context.key.tp;
  const double inward =
      alltoall_time(context.machine, group, unit * (a.q_width() + 2 * a.kv_width()));
  const double outward = alltoall_time(context.machine, group, unit * a.out_width());
  return {inward + outward, inward + outward, inward + outward};
}

}  // namespace

Exchange tensor_exchange(const LayerContext& context) {
  const auto& key = context.key;
  if (key.tp <= 1) return {};
  const Machine& machine = context.machine;
  const workload::Training& training = context.training;
  const Group group{1.0 * key.tp, 1};
  const double bytes = context.tokens * context.architecture.hidden * machine.element_bytes;
  const double last = collective_time(
      machine, key.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce, group,
      bytes);
  // Tensor-wise scaled fp8 operands are gathered after their cast.
  const double gathered = machine.matmul_fp8 > 0 && !training.fp8_rowwise ? 0.5 * bytes : bytes;
  const double first =
      key.sequence_parallel ? collective_time(machine, Collective::all_gather, group, gathered) : 0;
  const double pass = joins(context) * (first + last);
  double forward_hidden = training.tp_overlap ? speed::tp_ov : 0;
  if (training.async_tp) forward_hidden = std::max(forward_hidden, speed::async_ov);
  double backward_hidden = forward_hidden;
  if (training.tp_backward_overlap && !training.adapters())
    backward_hidden = std::max(backward_hidden, speed::tp_bov);
  const double forward = (1 - forward_hidden) * pass;
  const double skipped = training.checkpoint_early_stop ? (1 - forward_hidden) * last : 0;
  return {forward, (1 - backward_hidden) * pass, forward - skipped,
          (1 - forward_hidden) * joins(context) * first};
}

Exchange context_exchange(const LayerContext& context, const PassTimes& attention) {
  if (context.key.cp <= 1 || is_linear(context.kind.mixer)) return {};
  return context.training.framework.context_all_to_all ? head_exchange(context)
                                                       : ring_exchange(context, attention);
}

Exchange expert_exchange(const LayerContext& context) {
  if (context.key.ep <= 1 || !context.kind.moe) return {};
  const Group group{1.0 * context.key.ep, 1};
  const int copies = std::max(1, context.architecture.experts_per_token);
  const double bytes = context.routed * context.architecture.hidden * context.machine.element_bytes;
  const bool joins_copies = context.training.kernel_profile == workload::KernelProfile::fused;
  const double pass =
      2 * (joins_copies ? dispatch_time(context.machine, group, bytes / copies, copies)
                        : alltoall_time(context.machine, group, bytes));
  return {pass, pass, pass};
}

}  // namespace gpuadvisor::performance
