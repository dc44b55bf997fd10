// Errors of many outcomes in a few figures.
#pragma once

#include <span>
#include <vector>

#include "gpuadvisor/accuracy.hpp"

namespace gpuadvisor::accuracy {

/// The `share` quantile (0 to 1) of `values` by linear interpolation between closest
/// ranks: position share·(n - 1) in the sorted values (Hyndman and Fan's type 7). 0 of
/// no values.
double percentile(std::vector<double> values, double share);

/// By kind: all, then each quality, quantity, method, plan, framework, gpu and source
/// in name order.
std::vector<Summary> summarise(std::span<const Outcome> outcomes);

}  // namespace gpuadvisor::accuracy
