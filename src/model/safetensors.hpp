// The header of a safetensors file.
#pragma once

#include <functional>

#include "model/tensors.hpp"

namespace gpuadvisor::model {

inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;  // the reference reader's limit

/// Reads the header, checks it, and hands every tensor to `visit`. Errors: header
/// longer than the limit or the file, broken JSON, unknown dtype, offsets with holes
/// or overlaps or of the wrong length, control characters or duplicates in names.
[[nodiscard]] Result<void> scan_safetensors(ByteSource& file, std::string_view where,
                                            const std::function<bool(const TensorInfo&)>& visit);

}  // namespace gpuadvisor::model
