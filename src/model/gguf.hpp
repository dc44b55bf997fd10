// The metadata and tensor table of a GGUF file.
#pragma once

#include <functional>
#include <map>

#include "model/tensors.hpp"

namespace gpuadvisor::model {

/// Metadata values that the architecture needs; numbers as doubles.
struct GgufMetadata {
  std::string architecture;
  std::map<std::string, double, std::less<>> numbers;     ///< without the architecture's prefix
  std::map<std::string, std::string, std::less<>> texts;  ///< general.* only
  std::map<std::string, std::vector<double>, std::less<>>
      lists;              ///< one number a layer (head_count_kv)
  double vocabulary = 0;  ///< length of tokenizer.ggml.tokens
};

/// Reads metadata, then hands every tensor to `visit`. Errors: wrong magic or
/// version, truncated, counts or lengths beyond the limits, unknown tensor types,
/// duplicate keys or names, misaligned or overlapping offsets.
[[nodiscard]] Result<GgufMetadata> scan_gguf(ByteSource& file, std::string_view where,
                                             const std::function<void(const GgufMetadata&)>& begin,
                                             const std::function<bool(const TensorInfo&)>& visit);

/// Bits a weight of the dtype with the most bytes; 0 when the name is unknown.
[[nodiscard]] double gguf_bits(std::string_view type);

}  // namespace gpuadvisor::model
