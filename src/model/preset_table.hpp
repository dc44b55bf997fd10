// The generated table of presets.
#pragma once

#include "gpuadvisor/model.hpp"

namespace gpuadvisor::model {

/// All presets, sorted by id.
[[nodiscard]] std::span<const Preset> preset_table();

}  // namespace gpuadvisor::model
