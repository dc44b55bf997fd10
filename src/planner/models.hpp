// The real memory and time models behind the search, one object a thread.
#pragma once

#include "gpuadvisor/memory.hpp"
#include "gpuadvisor/performance.hpp"

namespace gpuadvisor::planner {

class RealModels {
 public:
  RealModels(const memory::Prepared& prepared, const catalog::Cluster& cluster)
      : prepared_(prepared), cluster_(cluster) {}

  [[nodiscard]] double static_bytes(const workload::Plan& plan) const {
    return memory::static_lower_bound(prepared_, plan, cluster_);
  }
  [[nodiscard]] double host_bytes(const workload::Plan& plan) const {
    return memory::estimate(prepared_, plan, cluster_).host_bytes;
  }
  [[nodiscard]] double time_bound(const workload::Plan&) const { return 0; }
  [[nodiscard]] memory::Estimate memory(const workload::Plan& plan) const {
    return memory::estimate(prepared_, plan, cluster_);
  }
  [[nodiscard]] performance::Estimate performance(const workload::Plan& plan) const {
    return performance::estimate(prepared_, plan, cluster_);
  }

 private:
  const memory::Prepared& prepared_;
  const catalog::Cluster& cluster_;
};

}  // namespace gpuadvisor::planner
