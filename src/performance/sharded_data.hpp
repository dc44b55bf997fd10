#pragma once

#include "performance/kernels.hpp"
#include "performance/layer.hpp"

namespace gpuadvisor::performance {

/// Collectives of one layer under ZeRO-3 or FSDP.
struct ShardTraffic {
  double gather = 0;   ///< all-gather of the layer's weights
  double fetch = 0;    ///< its shard from host memory
  double scatter = 0;  ///< reduce-scatter of its gradients, and HSDP's all-reduce
  double gather_kappa = 0, scatter_kappa = 0;  ///< slow-down of compute beside each
  [[nodiscard]] double gathering() const { return gather + fetch; }
};
[[nodiscard]] ShardTraffic shard_traffic(const LayerContext& context);

/// Exposed seconds of these in both passes and at the ends of a micro-batch, given the
/// layer's own passes.
struct ShardExposure {
  double forward = 0, backward = 0;
};
[[nodiscard]] ShardExposure shard_exposure(const LayerContext& context, const ShardTraffic& traffic,
                                           const PassTimes& passes);

}  // namespace gpuadvisor::performance
