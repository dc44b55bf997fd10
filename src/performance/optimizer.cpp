#include <algorithm>

#include "calibration_data.hpp"
#include "performance/step.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::Optimizer;

constexpr double kNormBytes = 8;            // gradient norm and clipping
constexpr double kHostTransferBytes = 8;    // gradients down, weights up, in two precisions
constexpr double kNvmeBytes = 24;           // master weight and moments, read and written
constexpr double kNewtonSchulz = 30;        // five iterations of three products, FLOPs x width

/// State traffic of an optimizer relative to AdamW's.
double relative_traffic(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::adamw:
    case Optimizer::adamw_paged: break;
    case Optimizer::adamw_8bit: return 0.7;
    case Optimizer::adafactor: return 1.2;
    case Optimizer::sgd: return 0.7;
    case Optimizer::lion: return 0.75;
    case Optimizer::muon: return 0.75;
    case Optimizer::galore: return 0.8;
  }
  return 1;
}

double shards(const Run& run, const workload::Plan& plan) {
  if (plan.sharding == workload::Sharding::none) return 1;
  const double ranks = static_cast<double>(plan.shard_group());
  const auto group = run.prepared->training.zero1_group;
  return group > 0 ? std::min(ranks, static_cast<double>(group)) : ranks;
}

/// Parameters that this rank updates.
double updated(const Run& run, const Trainable& trainable, const workload::Plan& plan) {
  const double split = shards(run, plan);
  const double expert_split = std::max(1.0, split * plan.tp / plan.ep);
  return trainable.dense / split + trainable.expert / (split > 1 ? expert_split : 1);
}

}  // namespace

OptimizerTimes optimizer_time(const Run& run, const Trainable& trainable, const workload::Plan& plan) {
  const Machine& machine = run.machine;
  const auto& training = run.prepared->training;
  const double parameters = updated(run, trainable, plan);
  OptimizerTimes times;
  if ((plan.offload & workload::kOffloadOptimizer) != 0) {
    times.offload = parameters / speed::cpu_adam + kHostTransferBytes * parameters / machine.h2d_bw;
    if ((plan.offload & workload::kOffloadNvme) != 0)
      times.offload += kNvmeBytes * parameters / machine.disk_bw;
    return times;
  }
  const double bytes =
      training.framework.optimizer_bytes * relative_traffic(training.optimizer) + kNormBytes;
  times.gpu = parameters * bytes / machine.elementwise_bw;
  if (training.optimizer == Optimizer::muon)
    times.gpu += parameters * kNewtonSchulz * run.prepared->architecture.hidden / machine.matmul;
  return times;
}

}  // namespace gpuadvisor::performance
