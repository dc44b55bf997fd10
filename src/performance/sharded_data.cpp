#include "performance/sharded_data.hpp"

#include <algorithm>

#include "calibration_data.hpp"
#include "performance/adapters.hpp"
#include "performance/collective.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::Sharding;

/// Time beyond `compute` of a collective that runs beside it.
double exposed(double transfer, double compute, double kappa) {
  return std::max(0.0, transfer - compute) + kappa * std::min(transfer, compute);
}

/// Gather, reduce or replicate the dense part over the whole group and the experts over
/// the ranks that hold the same ones.
double layer_collective(const LayerContext& context, Collective kind, double bytes) {
  const LayerKey& key = context.key;
  const Group all{1.0 * key.shard_group, 1.0 * key.tp};
  double time = collective_time(context.machine, kind, all, bytes * context.shape.parameters_dense);
  if (context.shape.parameters_expert > 0) {
    const Group same{std::max(1.0, 1.0 * key.shard_group * key.tp / key.ep), 1.0 * key.ep};
    time += collective_time(context.machine, kind, same, bytes * context.shape.parameters_expert);
  }
  return time;
}

/// HSDP reduces the shards over its groups; the two parts slow compute by their own rates.
void add_replicas(const LayerContext& context, double bytes, ShardTraffic& traffic) {
  const LayerKey& key = context.key;
  const Group across{1.0 * key.replicas, 1.0 * key.tp * key.shard_group};
  const double time = collective_time(context.machine, Collective::all_reduce, across, bytes);
  const double kappa = speed::kappa * relative_bandwidth(context.machine, across);
  const double sum = traffic.scatter + time;
  if (sum > 0)
    traffic.scatter_kappa = (traffic.scatter * traffic.scatter_kappa + time * kappa) / sum;
  traffic.scatter = sum;
}

}  // namespace

ShardTraffic shard_traffic(const LayerContext& context) {
  const LayerKey& key = context.key;
  ShardTraffic traffic;
  if (key.shard_group <= 1 && (key.offload & workload::kOffloadParams) == 0) return traffic;
  const Machine& machine = context.machine;
  const Group group{1.0 * key.shard_group, 1.0 * key.tp};
  const double bytes = gathered_bytes(machine, context.training);
  const double parameters = context.shape.parameters_dense + context.shape.parameters_expert;
  traffic.gather_kappa = speed::kappa * relative_bandwidth(machine, group);
  traffic.gather = layer_collective(context, Collective::all_gather, bytes);
  if ((key.offload & workload::kOffloadParams) != 0)
    traffic.fetch = bytes * parameters / key.shard_group / machine.h2d_bw;
  if (!context.training.adapters()) {
    const double gradient = context.training.grad_reduce_bytes;
    traffic.scatter = layer_collective(context, Collective::reduce_scatter, gradient);
    traffic.scatter_kappa = traffic.gather_kappa;
    if (key.replicas > 1) add_replicas(context, gradient * parameters / key.shard_group, traffic);
  }
  return traffic;
}

ShardExposure shard_exposure(const LayerContext& context, const ShardTraffic& traffic,
                             const PassTimes& passes) {
  const LayerKey& key = context.key;
  const double gather = traffic.gathering(), scatter = traffic.scatter;
  if (gather + scatter <= 0) return {};
  if (key.sharding == Sharding::zero3) {
    const double gathers = key.recompute == workload::Recompute::full ? 2 : 1;
    const double back = gathers * gather + scatter;
    return {gather - speed::z3_ov * std::min(gather, passes.forward),
            back - speed::z3_ov * std::min(back, passes.backward)};
  }
  const double again = key.sharding == Sharding::fsdp_grad_op ? 0 : gather;
  const double back = again + scatter;
  const double kappa =
      back > 0 ? (again * traffic.gather_kappa + scatter * traffic.scatter_kappa) / back : 0;
  return {exposed(gather, passes.forward, traffic.gather_kappa),
          exposed(back, passes.backward, kappa)};
}

}  // namespace gpuadvisor::performance
