// Activations of one stage: kept until the backward pass, and live in one layer.
#include <algorithm>

#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

struct LayerSums {
  double kept = 0, live = 0, input = 0;
};

LayerSums sum_layers(const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  const auto r = static_cast<std::size_t>(plan.recompute);
  const double t = plan.tp;
  const bool sp = plan.sequence_parallel;
  const double gathered = sp ? 2.0 * prepared.architecture.hidden : 0;  // the norm's whole output
  LayerSums sums;
  for (int k = 0; k < prepared.architecture.kind_count; ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (own.layers[i] <= 0) continue;
    const LayerTable& table = prepared.layer[i];
    sums.kept += own.layers[i] * table.kept[r].at(t, sp);
    sums.live = std::max(sums.live, table.live[r].at(t, sp) + table.backward.at(t, sp) + gathered);
  }
  const double encoders = prepared.architecture.encoder_layers * own.share;
  sums.kept += encoders * prepared.encoder.kept[r].at(t, sp);
  return sums;
}

}  // namespace

Activations activations(const Prepared& prepared, const Plan& plan, const StageParameters& own,
                        int stage) {
  const double tokens = micro_tokens(prepared, plan);
  const LayerSums sums = sum_layers(prepared, plan, own);
  Activations result;
  result.kept = sums.kept * tokens * in_flight(prepared, plan, stage);
  result.live = sums.live * tokens / micro_batch_parts(prepared, plan);
  if (offloads(plan, workload::kOffloadActivations)) {
    // The copies of two layers are on their way while the rest is in host memory.
    const double moving = std::min(1.0, 2.0 / std::max(1.0, own.layer_count));
    result.host = result.kept;
    result.kept *= plan.recompute == Recompute::full ? 0 : moving;
  }
  return result;
}

}  // namespace gpuadvisor::memory
