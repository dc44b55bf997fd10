// Activations of one stage: kept until the backward pass, and live in one layer.
#include <algorithm>

#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

struct LayerSums {
  double kept = 0, live = 0;
};

LayerSums sum_layers(const PlanContext& c, const StageParameters& own) {
  const Architecture& m = c.prepared.architecture;
  const auto r = static_cast<std::size_t>(c.plan.recompute);
  const double gathered = c.plan.sequence_parallel ? 2.0 * m.hidden : 0;  // the norm's whole output
  LayerSums sums;
  for (int k = 0; k < m.kind_count; ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (own.layers[i] <= 0) continue;
    const LayerTable& table = c.prepared.layer[i];
    sums.kept += own.layers[i] * c.at(table.kept[r]);
    sums.live = std::max(sums.live, c.at(table.live[r]) + c.at(table.backward) + gathered);
  }
  if (m.encoder_layers > 0)
    sums.kept += m.encoder_layers * own.share * c.at(c.prepared.encoder.kept[r]);
  return sums;
}

}  // namespace

Activations activations(const PlanContext& c, const StageParameters& own, int stage) {
  const LayerSums sums = sum_layers(c, own);
  Activations result;
  result.kept = sums.kept * c.tokens * in_flight(c, stage);
  result.live = sums.live * c.tokens / c.parts;
  if (offloads(c.plan, workload::kOffloadActivations)) {
    // The copies of two layers are on their way while the rest is in host memory.
    const double moving = std::min(1.0, 2.0 / std::max(1.0, own.layer_count));
    result.host = result.kept;
    result.kept *= c.plan.recompute == Recompute::full ? 0 : moving;
  }
  return result;
}

}  // namespace gpuadvisor::memory
