#include "performance/layer.hpp"

#include <algorithm>

#include "calibration_data.hpp"
#include "performance/exchange.hpp"
#include "performance/head.hpp"
#include "performance/kernels.hpp"
#include "performance/sharded_data.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::Recompute;
using workload::Sharding;

bool gathers_layers(Sharding sharding) {
  return workload::zero_stage(sharding) == 3 || sharding == Sharding::fsdp_grad_op;
}

/// Share of a repeated forward that repeats its collectives.
double repeats(Recompute recompute) {
  if (recompute == Recompute::full) return 1;
  return recompute == Recompute::selective_layer ? 0.5 : 0;
}

/// Layer inputs go to the host in the forward and come back in the backward pass.
double activation_offload(const LayerContext& context, double compute) {
  if ((context.key.offload & workload::kOffloadActivations) == 0) return 0;
  const Machine& machine = context.machine;
  const double split = context.key.sequence_parallel ? context.key.tp : 1;
  const double bytes = context.tokens * context.architecture.hidden * machine.element_bytes / split;
  const double transfer = bytes / machine.h2d_bw;
  return std::max(0.0, transfer - compute) + speed::kappa * std::min(transfer, compute);
}

/// Passes of one layer, GPU work and exchanges, before launch limits and sharding.
struct Passes {
  LayerTerms terms;
  double forward = 0, backward = 0;
};

Passes layer_passes(const LayerContext& context, const KernelTimes& kernels) {
  const Exchange tensor = tensor_exchange(context);
  const Exchange ring = context_exchange(context, kernels.attention);
  const Exchange expert = expert_exchange(context);
  const double again = repeats(context.key.recompute);
  Passes passes;
  LayerTerms& terms = passes.terms;
  // Preference tuning also runs a frozen reference forward.
  const double reference = context.training.mode == workload::Mode::dpo ? kernels.forward() : 0;
  terms.compute = kernels.forward() + reference + kernels.backward();
  terms.recompute = recompute_time(context, kernels);
  terms.tensor_comm = tensor.forward + tensor.backward + again * tensor.repeated;
  if (recomputes_operators(context.training, context.key.recompute))
    terms.tensor_comm += tensor.regathered;
  terms.context_comm = ring.forward + ring.backward + again * ring.repeated;
  terms.expert_comm = expert.forward + expert.backward + again * expert.repeated;
  passes.forward = kernels.forward() + reference + tensor.forward + ring.forward + expert.forward;
  passes.backward = terms.total() - passes.forward;
  return passes;
}

/// The host launches kernels no faster than `host` a forward; recompute of the whole
/// layer launches its forward again.
void apply_host_floor(const LayerContext& context, Passes& passes) {
  const double host = host_time(context);
  const double backward_floor = host * (context.key.recompute == Recompute::full ? 2 : 1);
  const double forward = std::max(passes.forward, host);
  const double backward = std::max(passes.backward, backward_floor);
  // Dropless routing reads the experts' token counts back before it can launch them.
  const double stall = context.kind.moe ? speed::routing_stall : 0;
  passes.terms.host = forward - passes.forward + (backward - passes.backward) +
                      stall * (1 + repeats(context.key.recompute));
  passes.forward = forward + stall;
  passes.backward = backward + stall * repeats(context.key.recompute);
}

/// Exposed gathers are charged to the host link by its share of them.
void apply_sharding(const LayerContext& context, Passes& passes, double& ends) {
  const ShardTraffic traffic = shard_traffic(context);
  const ShardExposure exposure =
      shard_exposure(context, traffic, {passes.forward, passes.backward});
  const double all = traffic.gathering() + traffic.scatter;
  if (all <= 0) return;
  const double fetched = traffic.fetch / all * (exposure.forward + exposure.backward);
  passes.terms.data_comm += exposure.forward + exposure.backward - fetched;
  passes.terms.offload += fetched;
  passes.forward += exposure.forward;
  passes.backward += exposure.backward;
  ends = 2 * all;
}

void apply_activation_offload(const LayerContext& context, Passes& passes) {
  const double forward = activation_offload(context, passes.forward);
  const double backward = activation_offload(context, passes.backward);
  passes.terms.offload += forward + backward;
  passes.forward += forward;
  passes.backward += backward;
}

void add_kind(LayerTimes& times, const LayerContext& context, double share) {
  const KernelTimes kernels = kernel_times(context);
  Passes passes = layer_passes(context, kernels);
  double ends = 0;
  apply_host_floor(context, passes);
  apply_sharding(context, passes, ends);
  apply_activation_offload(context, passes);
  times.layer.add(passes.terms, share);
  times.forward += share * passes.forward;
  times.backward += share * passes.backward;
  times.weight_gradient += share * kernels.weight_gradient;
  times.shard_ends += share * ends;
  times.parameters_dense += share * context.shape.parameters_dense;
  times.parameters_expert += share * context.shape.parameters_expert;
}

}  // namespace

void LayerTerms::add(const LayerTerms& other, double times) {
  compute += times * other.compute;
  recompute += times * other.recompute;
  tensor_comm += times * other.tensor_comm;
  context_comm += times * other.context_comm;
  expert_comm += times * other.expert_comm;
  data_comm += times * other.data_comm;
  offload += times * other.offload;
  host += times * other.host;
}

std::int32_t micro_batch_parts(const workload::Training& training, const workload::Plan& plan) {
  const bool splits =
      training.framework.memory.pipeline_splits_micro_batch && plan.pp > 1 && plan.grad_accum <= 1;
  return splits ? std::max(1, std::min(plan.pp, plan.micro_batch)) : 1;
}

LayerKey layer_key(const workload::Training& training, const workload::Plan& plan,
                   const Machine& machine) {
  LayerKey key;
  key.tp = plan.tp;
  key.cp = plan.cp;
  key.ep = plan.ep;
  key.micro_batch = std::max(1, plan.micro_batch / micro_batch_parts(training, plan));
  key.recompute = plan.recompute;
  key.sequence_parallel = plan.sequence_parallel && plan.tp > 1;
  key.offload = plan.offload & (workload::kOffloadParams | workload::kOffloadActivations);
  if (!gathers_layers(plan.sharding)) return key;
  key.sharding = plan.sharding;
  const auto ranks = static_cast<std::int32_t>(plan.shard_group());
  key.shard_group = ranks;
  if (plan.sharding == Sharding::hsdp) {
    const auto node = static_cast<std::int32_t>(machine.gpus_per_node) / plan.tp;
    const std::int32_t wanted = plan.hsdp_group > 0 ? plan.hsdp_group : std::max(1, node);
    key.shard_group = std::min(wanted, ranks);
    key.replicas = std::max(1, ranks / key.shard_group);
  }
  return key;
}

LayerTimes layer_times(const Machine& machine, const memory::Prepared& prepared,
                       const LayerKey& key) {
  LayerTimes times;
  const auto& a = prepared.architecture;
  for (int kind = 0; kind < a.kind_count; ++kind) {
    const double count = a.kinds[static_cast<std::size_t>(kind)].count;
    if (count > 0) add_kind(times, layer_context(machine, prepared, key, kind), count / a.layers);
  }
  const HeadTimes head = head_times(machine, prepared, key);
  times.head_forward = head.forward;
  times.head_backward = head.backward;
  times.embedding = head.embedding;
  return times;
}

}  // namespace gpuadvisor::performance
