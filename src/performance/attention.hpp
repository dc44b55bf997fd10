#pragma once

#include "gpuadvisor/model.hpp"
#include "performance/machine.hpp"

namespace gpuadvisor::performance {

struct PassTimes {
  double forward = 0, backward = 0;
};

/// What one rank computes of the attention of one layer.
struct AttentionWork {
  double tokens = 0;    ///< of a micro-batch on this rank
  double sequence = 0;  ///< keys that a full layer sees: the whole sequence
  double tp = 1;        ///< divides the heads
  double dropout = 0;
  bool fused_softmax = true;  ///< one kernel for scale, mask, softmax (and dropout)
};

/// Seconds of the attention core (no projections): flash kernels skip masked blocks and
/// run at the published rate of their head size and length; materialised scores are two
/// batched products and a memory-bound softmax (Korthikanti et al. 2022 counts the same
/// tensors); linear attention is chunked matmuls.
[[nodiscard]] PassTimes attention_time(const Machine& machine,
                                       const model::Architecture& architecture,
                                       const model::LayerKind& kind, const AttentionWork& work);

/// Mean number of keys a query meets in a layer of this kind.
[[nodiscard]] double mean_keys(const model::Architecture& architecture,
                               const model::LayerKind& kind, double sequence);

/// Whether the mixer keeps a state of fixed size instead of scores.
[[nodiscard]] bool is_linear(model::Mixer mixer);

}  // namespace gpuadvisor::performance
