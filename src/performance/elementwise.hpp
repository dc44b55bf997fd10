#pragma once

#include "gpuadvisor/model.hpp"
#include "gpuadvisor/workload.hpp"
#include "performance/attention.hpp"
#include "performance/machine.hpp"
#include "performance/shapes.hpp"

namespace gpuadvisor::performance {

/// Seconds of norms, residuals, rope, activation and layout kernels of a layer for
/// `tokens` tokens on one rank: bytes counted by kernel profile over memory bandwidth.
/// Norm and residual bytes are divided by tp only under sequence parallelism.
/// `routed` tokens-times-experts pass through the local experts.
[[nodiscard]] PassTimes elementwise_time(const Machine& machine,
                                         const model::Architecture& architecture,
                                         const workload::Training& training,
                                         const LayerShape& shape, double tokens, double routed,
                                         double hidden_split);

}  // namespace gpuadvisor::performance
