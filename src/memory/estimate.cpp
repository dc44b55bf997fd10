// The peak over phases and stages.
#include <algorithm>

#include "memory/host.hpp"
#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

struct Peak {
  Breakdown bytes;
  Phase phase = Phase::loss;
};

Peak peak_of(const Stage& stage) {
  Peak best{breakdown(stage, Phase::loss), Phase::loss};
  for (const Phase phase : {Phase::backward, Phase::step}) {
    const Breakdown b = breakdown(stage, phase);
    if (b.allocated() > best.bytes.allocated()) best = {b, phase};
  }
  return best;
}

struct StageList {
  std::array<int, 3> items{};
  int count = 0;
};

// The first stage holds the most micro-batches, the second may hold more layers' experts,
// the last has the head.
StageList candidate_stages(const Plan& plan, StageChoice choice) {
  StageList list;
  if (choice == StageChoice::last) return {{plan.pp - 1, 0, 0}, 1};
  list.items[static_cast<std::size_t>(list.count++)] = 0;
  if (plan.pp > 2) list.items[static_cast<std::size_t>(list.count++)] = 1;
  if (plan.pp > 1) list.items[static_cast<std::size_t>(list.count++)] = plan.pp - 1;
  return list;
}

Breakdown with_buffers(Breakdown b, double buffers) {
  b.buffers = buffers;
  return b;
}

}  // namespace

// hsdp without a group size shards within the node; FSDP frameworks shard over context
// ranks even when data parallelism is 1.
Plan normalised(const Prepared& prepared, Plan plan, const catalog::Cluster& cluster) {
  if (plan.sharding == workload::Sharding::none && plan.cp > 1 &&
      prepared.training.recipe == workload::StateRecipe::fsdp_mixed)
    plan.sharding = workload::Sharding::fsdp;
  if (plan.sharding == workload::Sharding::hsdp && plan.hsdp_group == 0)
    plan.hsdp_group = std::max(1, std::min(cluster.gpus_per_node / std::max(1, plan.tp * plan.pp),
                                           static_cast<int>(plan.shard_group())));
  return plan;
}

Stage stage_of(const Prepared& prepared, const Plan& plan, int index) {
  Stage stage;
  stage.parameters = stage_parameters(prepared, plan, index);
  stage.states = states(prepared, plan, stage.parameters);
  stage.buffers = buffers(prepared, plan, stage.parameters);
  stage.head = head(prepared, plan, stage.parameters);
  stage.activations = activations(prepared, plan, stage.parameters, index);
  return stage;
}

Breakdown breakdown(const Stage& stage, Phase phase) {
  const States& s = stage.states;
  Breakdown b;
  b.weights = s.weights;
  b.optimizer = s.optimizer;
  b.gradients = phase != Phase::loss || s.gradients_always ? s.gradients : 0;
  if (phase == Phase::step) return with_buffers(b, stage.buffers.always + stage.buffers.step + s.step_temporary);
  b.activations = stage.activations.kept;
  b.buffers = stage.buffers.always + stage.buffers.gather;
  if (phase == Phase::loss) {
    b.logits = stage.head.allocated + stage.head.extra;
  } else {
    b.activations += stage.activations.live;
    b.buffers += stage.buffers.backward;
  }
  return b;
}

Estimate estimate(const Prepared& prepared, const Plan& given, const catalog::Cluster& cluster,
                  StageChoice choice) {
  const Plan plan = normalised(prepared, given, cluster);
  Estimate result;
  result.overhead_bytes = overhead(prepared, plan, cluster);
  double worst = -1;
  const StageList list = candidate_stages(plan, choice);
  for (int i = 0; i < list.count; ++i) {
    const int index = list.items[static_cast<std::size_t>(i)];
    const Stage stage = stage_of(prepared, plan, index);
    const Peak peak = peak_of(stage);
    const HostBytes host = host_bytes(stage, plan, cluster);
    result.host_bytes = std::max(result.host_bytes, host.memory);
    result.disk_bytes = std::max(result.disk_bytes, host.disk);
    const double bytes = peak.bytes.allocated();
    if (bytes <= worst) continue;
    worst = bytes;
    result.peak = peak.bytes;
    result.peak_phase = peak.phase;
    result.peak_stage = index;
    result.reserved_bytes = reserved(prepared, stage, bytes, peak.phase);
  }
  if (cluster.gpu_memory_bytes > 0)  // the allocator cannot hold more than the card leaves
    result.reserved_bytes = std::max(worst, std::min(result.reserved_bytes,
                                                     cluster.gpu_memory_bytes - result.overhead_bytes));
  result.smi_bytes = result.reserved_bytes + result.overhead_bytes;
  return result;
}

Breakdown phase_breakdown(const Prepared& prepared, const Plan& plan,
                          const catalog::Cluster& cluster, Phase phase, int stage) {
  return breakdown(stage_of(prepared, normalised(prepared, plan, cluster), stage), phase);
}

double static_lower_bound(const Prepared& prepared, const Plan& given,
                          const catalog::Cluster& cluster) {
  const Plan plan = normalised(prepared, given, cluster);
  double worst = 0;
  for (const int index : {0, plan.pp - 1}) {
    const States s = states(prepared, plan, stage_parameters(prepared, plan, index));
    worst = std::max(worst, s.weights + s.gradients + s.optimizer);
    if (plan.pp == 1) break;
  }
  return worst + overhead(prepared, plan, cluster);
}

Verdict verdict(double needed, double usable, double error_p50) {
  if (needed * (1 + error_p50) <= usable) return Verdict::fits;
  return needed <= usable ? Verdict::tight : Verdict::does_not_fit;
}

std::string_view to_string(Phase value) {
  switch (value) {
    case Phase::loss: return "loss";
    case Phase::backward: return "backward";
    case Phase::step: return "step";
  }
  return "loss";
}

std::string_view to_string(Verdict value) {
  switch (value) {
    case Verdict::fits: return "fits";
    case Verdict::tight: return "tight";
    case Verdict::does_not_fit: return "does_not_fit";
  }
  return "does_not_fit";
}

}  // namespace gpuadvisor::memory
