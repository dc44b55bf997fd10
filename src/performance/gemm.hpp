#pragma once

#include "performance/machine.hpp"

namespace gpuadvisor::performance {

/// `groups` equal products of (m x k) by (k x n), launched together.
struct Matmul {
  double m = 0, n = 0, k = 0;
  double groups = 1;
  bool fp8 = false;
};

/// Seconds of a matmul: the best of the usual tile shapes and split-K factors, whole
/// waves of thread blocks over the multiprocessors, a ramp of each tile along k, and the
/// operands' traffic of which a share does not hide. 0 for an empty product.
[[nodiscard]] double matmul_time(const Machine& machine, const Matmul& shape);

}  // namespace gpuadvisor::performance
