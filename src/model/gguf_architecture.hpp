// The architecture that a GGUF file describes.
#pragma once

#include "model/gguf.hpp"

namespace gpuadvisor::model {

/// Sizes from metadata, flags from the tensors that are there; what a file of an
/// unknown architecture leaves open is guessed and warned of.
[[nodiscard]] Result<Architecture> gguf_architecture(const GgufMetadata& metadata,
                                                     const TensorScan& scan, std::string_view where,
                                                     std::vector<std::string>& warnings);

}  // namespace gpuadvisor::model
