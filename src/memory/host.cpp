// Host memory and disk of a node under offload.
#include "memory/host.hpp"

namespace gpuadvisor::memory {

HostBytes host_bytes(const Stage& stage, const Plan& plan, const catalog::Cluster& cluster) {
  const double ranks = std::min<double>(cluster.gpus_per_node, static_cast<double>(plan.gpus()));
  return {ranks * (stage.states.host + stage.activations.host), ranks * stage.states.disk};
}

}  // namespace gpuadvisor::memory
