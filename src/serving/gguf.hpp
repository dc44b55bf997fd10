// Sizes of GGUF files: llama.cpp mixes tensor types by kind of file and layer.
#pragma once

#include "gpuadvisor/serving.hpp"

namespace gpuadvisor::serving {

/// Bits a weight of the base type of a kind of file.
[[nodiscard]] double gguf_base_bits(Quant quant);
/// Bytes of all tensors of the file, metadata left out.
[[nodiscard]] double gguf_bytes(const Model& model, Quant quant);

}  // namespace gpuadvisor::serving
