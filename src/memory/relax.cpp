// Single changes of plan or run that save memory, cheapest first.
#include <algorithm>

#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

using workload::Sharding;

struct Question {
  const Prepared& prepared;
  const Plan& plan;
  const catalog::Cluster& cluster;
  double usable = 0;
  double before = 0;
  Relaxations answer{};
};

void consider(Question& q, std::string_view name, std::string_view cost, const Prepared& prepared,
              const Plan& plan) {
  if (q.answer.count == kMaxRelaxations) return;
  catalog::Cluster cluster = q.cluster;
  cluster.gpus = static_cast<int>(plan.gpus());
  const double after = estimate(prepared, plan, cluster).needed();
  if (after >= q.before) return;
  q.answer.items[static_cast<std::size_t>(q.answer.count++)] = {
      name, cost, plan, prepared.training.seq_len, q.before - after, after <= q.usable};
}

void consider_plan(Question& q, std::string_view name, std::string_view cost, const Plan& plan) {
  if (plan != q.plan) consider(q, name, cost, q.prepared, plan);
}

void consider_loss(Question& q) {
  if (q.prepared.training.loss != workload::Loss::plain) return;
  Prepared changed = q.prepared;
  changed.training.loss = workload::Loss::fused;
  fill_logit_bytes(changed);
  consider(q, "fused loss", "none: a fused linear cross entropy kernel", changed, q.plan);
}

void consider_micro_batch(Question& q) {
  if (q.plan.micro_batch <= 1) return;
  Plan plan = q.plan;
  plan.grad_accum *= plan.micro_batch;
  plan.micro_batch = 1;
  consider_plan(q, "micro-batch 1", "smaller matrix products, more launches", plan);
}

void consider_sharding(Question& q) {
  if (q.plan.shard_group() <= 1 || is_fsdp(q.plan.sharding)) return;
  struct Step {
    Sharding sharding;
    std::string_view name, cost;
  };
  constexpr std::array kSteps = {
      Step{Sharding::zero1, "ZeRO-1", "little: gathers weights once a step"},
      Step{Sharding::zero2, "ZeRO-2", "little: scatters gradients"},
      Step{Sharding::zero3, "ZeRO-3", "gathers weights in every pass"}};
  for (const Step& step : kSteps) {
    if (workload::zero_stage(step.sharding) <= workload::zero_stage(q.plan.sharding)) continue;
    Plan plan = q.plan;
    plan.sharding = step.sharding;
    consider_plan(q, step.name, step.cost, plan);
  }
}

void consider_recompute(Question& q) {
  Plan plan = q.plan;
  if (plan.recompute == Recompute::none) {
    plan.recompute = Recompute::selective;
    consider_plan(q, "selective recompute", "a few per cent of time", plan);
  }
  plan.recompute = Recompute::full;
  consider_plan(q, "full recompute", "one more forward pass, about a third more time", plan);
}

void consider_optimizer(Question& q) {
  if (q.prepared.training.optimizer != workload::Optimizer::adamw) return;
  Prepared changed = q.prepared;
  changed.training.optimizer = workload::Optimizer::adamw_8bit;
  fill_state_bytes(changed);
  consider(q, "8-bit optimizer", "moments in 8 bits; little time", changed, q.plan);
}

void consider_offload(Question& q) {
  Plan plan = q.plan;
  plan.offload |= workload::kOffloadOptimizer;
  consider_plan(q, "optimizer offload", "the step runs on the host over PCIe", plan);
  plan = q.plan;
  plan.offload |= workload::kOffloadActivations;
  consider_plan(q, "activation offload", "copies of layer inputs over PCIe", plan);
}

void consider_length(Question& q) {
  if (q.prepared.training.seq_len < 2) return;
  Prepared changed = q.prepared;
  changed.training.seq_len /= 2;
  fill_layer_tables(changed);
  consider(q, "half the sequence length", "changes the task", changed, q.plan);
}

void consider_gpus(Question& q) {
  Plan plan = q.plan;
  plan.dp *= 2;
  plan.grad_accum = std::max(1, plan.grad_accum / 2);
  consider_plan(q, "twice the GPUs", "twice the price an hour", plan);
}

}  // namespace

Relaxations relaxations(const Prepared& prepared, const Plan& plan, const catalog::Cluster& cluster,
                        double usable_bytes) {
  Question q{prepared, plan, cluster, usable_bytes};
  q.before = estimate(prepared, plan, cluster).needed();
  consider_loss(q);
  consider_micro_batch(q);
  consider_sharding(q);
  consider_recompute(q);
  consider_optimizer(q);
  consider_offload(q);
  consider_length(q);
  consider_gpus(q);
  const auto end = q.answer.items.begin() + q.answer.count;
  std::stable_partition(q.answer.items.begin(), end, [](const Relaxation& r) { return r.fits; });
  return q.answer;
}

}  // namespace gpuadvisor::memory
