#pragma once

#include "memory/terms.hpp"

namespace gpuadvisor::memory {

struct HostBytes {
  double memory = 0, disk = 0;  ///< of one node
};
/// All ranks of a node hold at most what the worst stage's rank holds.
[[nodiscard]] HostBytes host_bytes(const Stage& stage, const Plan& plan,
                                   const catalog::Cluster& cluster);

}  // namespace gpuadvisor::memory
