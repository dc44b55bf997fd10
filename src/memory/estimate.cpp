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

// The first stage holds the most micro-batches and the embedding, the last the head; the
// second may hold more experts where layers differ.
StageList candidate_stages(const Prepared& prepared, const Plan& plan, StageChoice choice) {
  StageList list;
  if (choice == StageChoice::last) return {{plan.pp - 1, 0, 0}, 1};
  list.items[static_cast<std::size_t>(list.count++)] = 0;
  if (plan.pp > 2 && prepared.architecture.kind_count > 1)
    list.items[static_cast<std::size_t>(list.count++)] = 1;
  if (plan.pp > 1) list.items[static_cast<std::size_t>(list.count++)] = plan.pp - 1;
  return list;
}

Breakdown with_buffers(Breakdown b, double buffers) {
  b.buffers = buffers;
  return b;
}

}  // namespace

Stage stage_of(const PlanContext& c, int index) {
  Stage stage;
  stage.parameters = stage_parameters(c, index);
  stage.states = states(c, stage.parameters);
  stage.buffers = buffers(c, stage.parameters);
  stage.head = head(c, stage.parameters);
  stage.activations = activations(c, stage.parameters, index);
  return stage;
}

// Where gradients are made anew in each backward pass they take the place of activations:
// the sum is the larger of all activations with the head's gradient, and all gradients.
double kept_in_backward(const Stage& stage) {
  const double kept = stage.activations.kept, gradients = stage.states.gradients;
  if (stage.states.gradients_always) return kept;
  return std::max(0.0, kept - gradients + std::min(stage.states.head_gradient, gradients));
}

Breakdown breakdown(const Stage& stage, Phase phase) {
  const States& s = stage.states;
  Breakdown b;
  b.weights = s.weights;
  b.optimizer = s.optimizer;
  b.gradients = phase != Phase::loss || s.gradients_always ? s.gradients : 0;
  if (phase == Phase::step)
    return with_buffers(b, stage.buffers.always + stage.buffers.step + s.step_temporary);
  b.activations = stage.activations.kept;
  b.buffers = stage.buffers.always + stage.buffers.gather;
  if (phase == Phase::loss) {
    b.logits = stage.head.allocated + stage.head.extra;
  } else {
    b.activations = kept_in_backward(stage) + stage.activations.live;
    b.buffers += stage.buffers.backward;
  }
  return b;
}

Estimate estimate(const Prepared& prepared, const Plan& given, const catalog::Cluster& cluster,
                  StageChoice choice) {
  const Plan plan = normalised(prepared, given, cluster);
  const PlanContext c = context(prepared, plan);
  Estimate result;
  result.overhead_bytes = overhead(prepared, plan, cluster);
  double worst = -1;
  const StageList list = candidate_stages(prepared, plan, choice);
  for (int i = 0; i < list.count; ++i) {
    const int index = list.items[static_cast<std::size_t>(i)];
    const Stage stage = stage_of(c, index);
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
    result.reserved_bytes = std::max(
        worst, std::min(result.reserved_bytes, cluster.gpu_memory_bytes - result.overhead_bytes));
  result.smi_bytes = result.reserved_bytes + result.overhead_bytes;
  return result;
}

Breakdown phase_breakdown(const Prepared& prepared, const Plan& plan,
                          const catalog::Cluster& cluster, Phase phase, int stage) {
  const Plan known = normalised(prepared, plan, cluster);
  return breakdown(stage_of(context(prepared, known), stage), phase);
}

double static_lower_bound(const Prepared& prepared, const Plan& given,
                          const catalog::Cluster& cluster) {
  const Plan plan = normalised(prepared, given, cluster);
  const PlanContext c = context(prepared, plan);
  double worst = 0;
  for (const int index : {0, plan.pp - 1}) {
    const States s = states(c, stage_parameters(c, index));
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
    case Phase::loss:
      return "loss";
    case Phase::backward:
      return "backward";
    case Phase::step:
      return "step";
  }
  return "loss";
}

std::string_view to_string(Verdict value) {
  switch (value) {
    case Verdict::fits:
      return "fits";
    case Verdict::tight:
      return "tight";
    case Verdict::does_not_fit:
      return "does_not_fit";
  }
  return "does_not_fit";
}

}  // namespace gpuadvisor::memory
