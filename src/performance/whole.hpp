#pragma once

#include <cstdint>

namespace gpuadvisor::performance {

/// floor and ceil of values in [0, 2^62): the library's calls cost more than the formulas
/// around them on processors without a rounding instruction in their base set.
[[nodiscard]] constexpr double whole_down(double value) {
  return static_cast<double>(static_cast<std::int64_t>(value));
}
[[nodiscard]] constexpr double whole_up(double value) {
  const double down = whole_down(value);
  return down < value ? down + 1 : down;
}

}  // namespace gpuadvisor::performance
