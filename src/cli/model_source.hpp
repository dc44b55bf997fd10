// Model files and folders of the disk, for the readers of the model layer.
#pragma once

#include <string>
#include <string_view>

#include "gpuadvisor/model.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::cli {

/// What the file or folder at `path` says about a model. Headers are read, never whole
/// weight files. Errors are exit status 3 and name the file.
[[nodiscard]] Result<model::ModelFile> read_model_path(const std::string& path);

}  // namespace gpuadvisor::cli
