#include <algorithm>

#include "calibration_data.hpp"
#include "performance/step.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::Optimizer;

constexpr double kNormBytes = 8;          // gradient norm and clipping
constexpr double kHostTransferBytes = 8;  // gradients down, weights up, in two precisions
constexpr double kNvmeBytes = 24;         // master weight and moments, read and written
constexpr double kNewtonSchulz = 30;      // five iterations of three products, FLOPs x width

/// Bytes a parameter that one update moves with fp32 masters and moments; what
/// FrameworkProfile::optimizer_bytes counts for fused kernels.
constexpr double kMixedAdamBytes = 30;

/// Weights, gradients and masters, read and written once.
double weight_traffic(workload::StateRecipe recipe) {
  switch (recipe) {
    case workload::StateRecipe::hf_16bit:
      return 6;  // 2 + 2 weight, 2 gradient
    case workload::StateRecipe::hf_amp:
    case workload::StateRecipe::fsdp_mixed:
      return 12;  // 4 + 4 weight, 4 gradient
    case workload::StateRecipe::megatron:
    case workload::StateRecipe::deepspeed:
      break;
  }
  return 14;  // 4 + 4 master, 2 weight, 4 gradient
}

/// Moments in fp32, read and written; in 16 bit half of it.
double moment_traffic(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::adamw:
    case Optimizer::adamw_paged:
      return 16;
    case Optimizer::adamw_8bit:
      return 4;
    case Optimizer::adafactor:
      return 12;  // no moments, but the gradient's squares twice
    case Optimizer::galore:
      return 8;
    case Optimizer::sgd:
    case Optimizer::lion:
    case Optimizer::muon:
      break;
  }
  return 8;
}

double update_bytes(const workload::Training& training, workload::Sharding sharding) {
  const auto recipe = workload::effective_recipe(training, sharding);
  const bool half =
      recipe == workload::StateRecipe::hf_16bit && training.optimizer != Optimizer::adamw_8bit;
  const double moments = moment_traffic(training.optimizer) * (half ? 0.5 : 1);
  return training.framework.optimizer_bytes * (weight_traffic(recipe) + moments) / kMixedAdamBytes;
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

OptimizerTimes optimizer_time(const Run& run, const Trainable& trainable,
                              const workload::Plan& plan) {
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
  const double bytes = update_bytes(training, plan.sharding) + kNormBytes;
  times.gpu = parameters * bytes / machine.elementwise_bw;
  if (training.optimizer == Optimizer::muon)
    times.gpu += parameters * kNewtonSchulz * run.prepared->architecture.hidden / machine.matmul;
  return times;
}

}  // namespace gpuadvisor::performance
