// The real memory and time models behind the search, one object a thread.
#pragma once

#include <optional>

#include "gpuadvisor/memory.hpp"
#include "gpuadvisor/performance.hpp"

namespace gpuadvisor::planner {

class RealModels {
 public:
  RealModels(const memory::Prepared& prepared, const catalog::Cluster& cluster)
      : prepared_(&prepared), cluster_(&cluster) {}

  [[nodiscard]] double static_bytes(const workload::Plan& plan) const {
    return memory::static_lower_bound(*prepared_, plan, *cluster_);
  }
  /// Offloaded states do not depend on micro-batch or recomputation.
  [[nodiscard]] double host_bytes(const workload::Plan& plan) const {
    return memory::estimate(*prepared_, plan, *cluster_).host_bytes;
  }
  [[nodiscard]] double time_bound(const workload::Plan& plan) {
    return layers().compute_lower_bound(plan);
  }
  [[nodiscard]] memory::Estimate memory(const workload::Plan& plan) const {
    return memory::estimate(*prepared_, plan, *cluster_);
  }
  [[nodiscard]] performance::Estimate performance(const workload::Plan& plan) {
    return layers().estimate(plan);
  }

 private:
  /// Made when first asked for: most clusters that cannot hold the states never ask.
  performance::LayerTable& layers() {
    if (!layers_) layers_.emplace(*prepared_, *cluster_);
    return *layers_;
  }

  const memory::Prepared* prepared_;
  const catalog::Cluster* cluster_;
  std::optional<performance::LayerTable> layers_;
};

}  // namespace gpuadvisor::planner
