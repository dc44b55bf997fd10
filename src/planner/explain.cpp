// Why a cluster has no legal plan: the one plan that the fixed values suggest, checked.
#include <algorithm>

#include "planner/space.hpp"

namespace gpuadvisor::planner {
namespace {

using workload::Plan;

bool has_plan(const Space& space) {
  Inner inner;
  for (const auto& outer : space.outers()) {
    space.inner(outer, inner);
    if (!inner.states.empty() && inner.plans_per_state() > 0) return true;
  }
  return false;
}

workload::Sharding sharding_of(const Constraints& constraints) {
  using workload::Sharding;
  if (constraints.sharding) return *constraints.sharding;
  switch (constraints.zero_stage.value_or(0)) {
    case 1:
      return Sharding::zero1;
    case 2:
      return Sharding::zero2;
    case 3:
      return Sharding::zero3;
    default:
      return Sharding::none;
  }
}

/// Fixed values as they are, free ones at 1, data parallelism from the GPUs.
Plan suggested_plan(const workload::Training& training, const catalog::Cluster& cluster,
                    const Constraints& constraints) {
  using workload::Schedule;
  Plan plan;
  plan.tp = constraints.tp.value_or(1);
  plan.pp = constraints.pp.value_or(1);
  plan.vpp = constraints.vpp.value_or(1);
  plan.cp = constraints.cp.value_or(1);
  plan.ep = constraints.ep.value_or(1);
  const auto split = std::max<std::int64_t>(1, std::int64_t{plan.tp} * plan.pp * plan.cp);
  plan.dp =
      constraints.dp.value_or(static_cast<int>(std::max<std::int64_t>(1, cluster.gpus / split)));
  plan.micro_batch = constraints.micro_batch.value_or(1);
  plan.sharding = sharding_of(constraints);
  plan.offload = constraints.offload.value_or(workload::kOffloadNone);
  plan.recompute = constraints.recompute.value_or(workload::Recompute::full);
  plan.sequence_parallel = constraints.sequence_parallel.value_or(false);
  plan.schedule =
      constraints.schedule.value_or(plan.vpp > 1 ? Schedule::interleaved : Schedule::one_f_one_b);
  const auto per_step = std::max<std::int64_t>(1, std::int64_t{plan.micro_batch} * plan.dp);
  plan.grad_accum =
      static_cast<std::int32_t>(std::max<std::int64_t>(1, training.global_batch / per_step));
  return plan;
}

}  // namespace

Error no_plan_error(const model::Architecture& architecture, const workload::Training& training,
                    const catalog::Cluster& cluster, const Constraints& constraints) {
  const Plan plan = suggested_plan(training, cluster, constraints);
  auto verdict = check_plan(architecture, training, plan, cluster, constraints.tp_across_nodes);
  if (!verdict) return verdict.error();
  return {ErrorCode::usage, "no legal plan under these constraints", "",
          "leave more dimensions free"};
}

std::string explain_no_plan(const model::Architecture& architecture,
                            const workload::Training& training, const catalog::Cluster& cluster,
                            const Constraints& constraints) {
  if (has_plan(Space(architecture, training, cluster, constraints))) return {};
  return no_plan_error(architecture, training, cluster, constraints).message;
}

}  // namespace gpuadvisor::planner
