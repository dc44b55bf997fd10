// Files of the user, with limits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/environment.hpp"
#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::cli {

/// The whole text of a file of at most `limit` bytes. Errors are exit status 3.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t limit);

/// The catalog files of a folder (all .json below it, sorted by path) or one file.
[[nodiscard]] Result<std::vector<catalog::Catalog::Document>> read_catalog_files(
    const std::string& path);

/// The built-in catalog with the overlays of GPUADVISOR_CATALOG and --catalog, in this
/// order; with --catalog-only the overlays alone.
[[nodiscard]] Result<catalog::Catalog> load_catalog(const Arguments& arguments,
                                                    const Environment& environment);

}  // namespace gpuadvisor::cli
