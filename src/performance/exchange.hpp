// Communication inside a layer: tensor, context and expert parallelism.
#pragma once

#include "performance/kernels.hpp"

namespace gpuadvisor::performance {

/// Exposed seconds of one kind of exchange: the two passes, a repeated forward under
/// recompute of the whole layer, and its gathers alone, which recompute by operator does
/// again (reductions are kept).
struct Exchange {
  double forward = 0, backward = 0, repeated = 0, regathered = 0;
};

/// Two all-reduces a pass, or all-gather and reduce-scatter with sequence parallelism
/// (Korthikanti et al. 2022, section 4.2), less what the framework hides.
[[nodiscard]] Exchange tensor_exchange(const LayerContext& context);

/// Keys and values pass around a ring (Liu et al. 2023) behind the attention, or heads
/// are exchanged by all-to-all (DeepSpeed Ulysses, 2309.14509).
[[nodiscard]] Exchange context_exchange(const LayerContext& context, const PassTimes& attention);

/// Tokens go to their experts and back: two all-to-alls a pass.
[[nodiscard]] Exchange expert_exchange(const LayerContext& context);

}  // namespace gpuadvisor::performance
