// Activation bytes of one layer, a token.
#pragma once

#include "memory/terms.hpp"

namespace gpuadvisor::memory {

/// Which tensors the kernels of a run keep.
enum class Kernels : std::uint8_t { fused, eager, compiled, legacy };
[[nodiscard]] Kernels kernels_of(const Training& run);

/// Elements a token of the attention inputs and output; `latent` of compressed projections.
struct AttentionWidths {
  double q = 0, k = 0, v = 0, out = 0, latent = 0;
};

struct LayerShape {
  const Architecture& model;
  const Training& run;
  const model::LayerKind& kind;
  Kernels kernels = Kernels::fused;
  bool full = true;           ///< weights are trained
  bool fp8 = false;           ///< linears keep fp8 inputs
  bool softmax = true;        ///< has attention scores
  bool materialised = false;  ///< and stores them
  AttentionWidths width{};
  double keys = 0;       ///< positions a token sees
  double inner_ffn = 0;  ///< MLP width a token passes
};
[[nodiscard]] LayerShape layer_shape(const Architecture& architecture, const Training& run,
                                     const model::LayerKind& kind);

[[nodiscard]] TokenBytes layer_bytes(const LayerShape& layer);  ///< all kept tensors
[[nodiscard]] TokenBytes score_bytes(const LayerShape& layer);  ///< materialised scores
[[nodiscard]] TokenBytes layer_input(const LayerShape& layer);
[[nodiscard]] TokenBytes saved_matmuls(const LayerShape& layer);  ///< operator-level selection
[[nodiscard]] TokenBytes backward_temporaries(const LayerShape& layer);

}  // namespace gpuadvisor::memory
