#include "gpuadvisor/performance.hpp"
#include "performance/step.hpp"

namespace gpuadvisor::performance {

Estimate estimate(const memory::Prepared& prepared, const workload::Plan& plan,
                  const catalog::Cluster& cluster) {
  const Run run = make_run(prepared, cluster);
  const LayerKey key = layer_key(prepared.training, plan, run.machine);
  return step_estimate(run, layer_times(run.machine, prepared, key), plan);
}

double compute_lower_bound(const memory::Prepared& prepared, const workload::Plan& plan,
                           const catalog::Cluster& cluster) {
  return step_lower_bound(make_run(prepared, cluster), plan);
}

}  // namespace gpuadvisor::performance
