// Peak memory of engines that allocate as they go (transformers, AutoAWQ, llama.cpp).
#pragma once

#include "gpuadvisor/serving.hpp"

namespace gpuadvisor::serving {

/// What a growing engine holds at its peak, all GPUs of a replica together.
struct GrowingPeak {
  double cache = 0;
  double activations = 0;  ///< all else above weights and cache at the peak
  double total = 0;
};
[[nodiscard]] GrowingPeak growing_peak(const Model& model, const Request& request,
                                       const EngineProfile& profile, double weights,
                                       double element_bytes);

/// Bytes of 16-bit buffers alive together in the MLP or the attention of one layer, a
/// token: gate, up and product beside residual, input and output.
[[nodiscard]] double activation_bytes_per_token(const Model& model, double tp);

}  // namespace gpuadvisor::serving
