// Strict parsing of one JSON text: no duplicate keys, bounded size and depth.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::catalog {

inline constexpr std::size_t kMaxDocumentBytes = std::size_t{8} * 1024 * 1024;
inline constexpr std::size_t kMaxDepth = 16;

/// The JSON value of `text`. Errors carry `file`, and the JSON path of a duplicate
/// key or of the value that is nested too deep.
Result<nlohmann::ordered_json> parse_document(std::string_view text, std::string_view file);

}  // namespace gpuadvisor::catalog
