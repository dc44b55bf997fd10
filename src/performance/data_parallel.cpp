#include <algorithm>

#include "calibration_data.hpp"
#include "performance/collective.hpp"
#include "performance/step.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::Sharding;

/// Ranks that hold the same dense and the same expert weights.
struct Groups {
  Group dense, expert, update;  ///< update: the ranks among which updated weights are gathered
};

Groups groups_of(const Run& run, const workload::Plan& plan) {
  Groups groups;
  const double ranks = static_cast<double>(plan.shard_group());
  groups.dense = {ranks, 1.0 * plan.tp};
  groups.expert = {std::max(1.0, ranks * plan.tp / plan.ep), 1.0 * plan.ep};
  const auto group = run.prepared->training.zero1_group;
  groups.update = groups.dense;
  if (group > 0) groups.update.size = std::min(ranks, static_cast<double>(group));
  return groups;
}

double reduce(const Run& run, const Groups& groups, const Trainable& trainable, Collective kind) {
  const double bytes = run.prepared->training.grad_reduce_bytes;
  return collective_time(run.machine, kind, groups.dense, bytes * trainable.dense) +
         collective_time(run.machine, kind, groups.expert, bytes * trainable.expert);
}

double gather_updates(const Run& run, const Groups& groups, const Trainable& trainable) {
  const double bytes = run.machine.element_bytes;
  return collective_time(run.machine, Collective::all_gather, groups.update,
                         bytes * trainable.dense) +
         collective_time(run.machine, Collective::all_gather, groups.expert,
                         bytes * trainable.expert);
}

/// What a collective adds when a share `overlap` of it may run beside `compute`.
double exposed(double transfer, double compute, double overlap, double kappa) {
  const double window = speed::overlap_window * compute;
  const double beside = std::max(0.0, transfer - window) + kappa * std::min(transfer, window);
  return (1 - overlap) * transfer + overlap * beside;
}

}  // namespace

Trainable trainable_parameters(const Run& run, const LayerTimes& layer,
                               const workload::Plan& plan) {
  const auto& prepared = *run.prepared;
  const auto& counts = prepared.counts;
  const double layers = run.layers / plan.pp;
  const double split = prepared.training.framework.vocab_parallel ? plan.tp : 1;
  const double ends =
      plan.pp > 1 ? std::max(counts.embedding, counts.head) : counts.embedding + counts.head;
  Trainable trainable;
  trainable.dense = run.trainable * (layers * layer.parameters_dense + ends / split);
  trainable.expert = run.trainable * layers * layer.parameters_expert;
  if (prepared.training.adapters()) {
    trainable.dense += run.adapter_parameters / plan.tp / plan.pp;
    if (prepared.training.trained_embeddings) trainable.dense += 2 * counts.embedding / split;
  }
  return trainable;
}

double data_parallel_time(const Run& run, const LayerTimes& layer, const Stages& stages,
                          const Trainable& trainable, const workload::Plan& plan) {
  const auto& training = run.prepared->training;
  const int stage = workload::zero_stage(plan.sharding);
  if (stage == 3 || plan.sharding == Sharding::fsdp_grad_op) return 0;
  const Groups groups = groups_of(run, plan);
  if (groups.dense.size <= 1) return 0;
  const double backward =
      stages.longest_layers * layer.backward + stages.longest_heads * layer.head_backward;
  const double forward =
      stages.longest_layers * layer.forward + stages.longest_heads * layer.head_forward;
  const double kappa = speed::kappa * relative_bandwidth(run.machine, groups.dense);
  const bool whole = stage == 0 || training.allreduce_then_shard;
  const double gradients =
      reduce(run, groups, trainable, whole ? Collective::all_reduce : Collective::reduce_scatter);
  const bool each = stage == 2 && training.framework.reduce_every_micro_batch;
  double time = (each ? stages.micro_batches : 1) *
                exposed(gradients, backward, training.grad_overlap, kappa);
  if (stage == 0) return time;
  const double updates = gather_updates(run, groups, trainable);
  time += training.overlap_param_gather ? std::max(0.0, updates - speed::overlap_window * forward)
                                        : updates;
  const bool all_share = training.zero1_group <= 0 || groups.update.size >= groups.dense.size;
  if (training.framework.owner_broadcast && all_share)
    time += speed::owner_broadcast * groups.dense.size;
  return time;
}

}  // namespace gpuadvisor::performance
