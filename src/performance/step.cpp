#include "performance/step.hpp"

#include <algorithm>

namespace gpuadvisor::performance {
namespace {

using workload::Recompute;

/// Everything a micro-batch costs on the longest stage, times the micro-batches.
void add_micro_batches(StepBreakdown& step, const LayerTimes& layer, const Stages& stages) {
  const double layers = stages.micro_batches * stages.longest_layers;
  const LayerTerms& terms = layer.layer;
  step.compute = layers * terms.compute + stages.micro_batches * stages.longest_heads *
                                              (layer.head_forward + layer.head_backward);
  step.recompute = layers * terms.recompute;
  step.tensor_comm = layers * terms.tensor_comm;
  step.context_comm = layers * terms.context_comm;
  step.expert_comm = layers * terms.expert_comm;
  step.data_comm = layers * terms.data_comm + stages.micro_batches * layer.shard_ends;
  step.offload = layers * terms.offload;
  step.host = layers * terms.host;
}

/// Share of a forward that recompute runs again, for hardware FLOPs.
double repeated_flops(const Run& run, Recompute recompute) {
  switch (recompute) {
    case Recompute::none:
      return 0;
    case Recompute::full:
      return run.forward_flops;
    case Recompute::selective_layer:
    case Recompute::selective_op:
      return 0.5 * run.forward_flops;
    case Recompute::selective:
      break;
  }
  return run.prepared->training.framework.selective_by_operator ? 0.5 * run.forward_flops
                                                                : run.attention_flops;
}

void add_rates(Estimate& estimate, const Run& run, const workload::Plan& plan) {
  const auto& training = run.prepared->training;
  const double gpus = static_cast<double>(plan.gpus());
  const double tokens =
      static_cast<double>(training.global_batch) * static_cast<double>(training.seq_len);
  estimate.model_flops_per_step = tokens * run.model_flops;
  estimate.hardware_flops_per_step =
      tokens * (run.model_flops + repeated_flops(run, plan.recompute));
  if (estimate.step_time_s <= 0) return;
  estimate.tokens_per_s = tokens / estimate.step_time_s;
  estimate.tokens_per_s_per_gpu = estimate.tokens_per_s / gpus;
  const double capacity = estimate.step_time_s * gpus * run.machine.peak;
  if (capacity <= 0) return;
  estimate.mfu = estimate.model_flops_per_step / capacity;
  estimate.hfu = estimate.hardware_flops_per_step / capacity;
}

/// Recompute of whole layers that does not stop before the last matrix.
bool repeats_all(const workload::Training& training, const workload::Plan& plan) {
  return plan.recompute == Recompute::full && !training.checkpoint_early_stop;
}

/// Schedules whose bubble is the whole fill and drain (zero-bubble ones fill it).
bool idles(const workload::Plan& plan) {
  using workload::Schedule;
  return plan.pp > 1 && plan.schedule != Schedule::zb_1p && plan.schedule != Schedule::zb_2p;
}

}  // namespace

Estimate step_estimate(const Run& run, const LayerTimes& layer, const workload::Plan& plan) {
  Estimate estimate;
  StepBreakdown& step = estimate.breakdown;
  const Stages stages = make_stages(run, layer, plan);
  add_micro_batches(step, layer, stages);
  if (plan.pp > 1) {
    const double tokens = 1.0 * plan.micro_batch / micro_batch_parts(run.prepared->training, plan) *
                          static_cast<double>(run.prepared->training.seq_len) / plan.cp;
    const double send = send_time(run, plan, tokens);
    step.pipeline_comm = send * (stages.micro_batches + (plan.pp - 1.0) / std::max(1, plan.vpp));
    step.bubble = bubble_time(layer, stages, plan);
  } else {
    step.compute += stages.micro_batches * layer.embedding;
  }
  const Trainable trainable = trainable_parameters(run, layer, plan);
  step.data_comm += data_parallel_time(run, layer, stages, trainable, plan);
  const OptimizerTimes optimizer = optimizer_time(run, trainable, plan);
  step.optimizer = optimizer.gpu;
  step.offload += optimizer.offload;
  step.straggler = run.machine.straggler * step.total();
  estimate.step_time_s = step.total();
  add_rates(estimate, run, plan);
  return estimate;
}

double step_lower_bound(const Run& run, const workload::Plan& plan) {
  const auto& training = run.prepared->training;
  const double micro_batches = static_cast<double>(workload::micro_batches(training, plan)) *
                               micro_batch_parts(training, plan);
  const double tokens = micro_batches *
                        std::max(1, plan.micro_batch / micro_batch_parts(training, plan)) *
                        static_cast<double>(training.seq_len) / plan.cp;
  const double rate = std::max(run.machine.matmul, run.machine.matmul_fp8);
  const double split = training.framework.vocab_parallel ? plan.tp : 1;
  const double passes = run.trainable > 0 ? 3 : 2;
  const double again = repeats_all(training, plan) ? 1 / passes : 0;
  const double layers = (1 + again) * run.bound_flops / plan.tp / rate;
  const double heads = run.bound_head_flops / split / run.machine.matmul;
  // The longest stage is no shorter than the mean stage; the others idle while the
  // pipeline fills: m·max + (sum - max)/v >= sum/p·(m + (p - 1)/v).
  const double filling = idles(plan) ? (plan.pp - 1.0) / std::max(1, plan.vpp) / micro_batches : 0;
  return (1 - 1e-12) * tokens * (layers + heads) / plan.pp * (1 + filling);
}

}  // namespace gpuadvisor::performance
