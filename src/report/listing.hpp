// Any grid in the formats that are not JSON.
#pragma once

#include <string>

#include "gpuadvisor/report.hpp"
#include "report/grid.hpp"

namespace gpuadvisor::report {

/// Table, CSV or Markdown of a list of records.
[[nodiscard]] std::string grid_text(const Grid& grid, Format format, const Style& style);

/// The same of names and values: as a table without header, long values wrapped.
[[nodiscard]] std::string facts_text(const Grid& grid, Format format, const Style& style);

}  // namespace gpuadvisor::report
