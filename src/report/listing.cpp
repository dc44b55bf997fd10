#include "report/listing.hpp"

#include <algorithm>

#include "report/text.hpp"

namespace gpuadvisor::report {

std::string grid_text(const Grid& grid, Format format, const Style& style) {
  if (format == Format::csv) return csv_text(grid);
  if (format == Format::markdown) return markdown_text(grid);
  return table_text(grid, style.columns, style.colour);
}

std::string facts_text(const Grid& grid, Format format, const Style& style) {
  if (format != Format::table) return grid_text(grid, format, style);
  std::size_t label = 0;
  for (const auto& row : grid.rows) label = std::max(label, display_width(row[0].shown));
  std::string text;
  for (const auto& row : grid.rows)
    text += wrap(pad_right(row[0].shown, label + 2), row[1].shown,
                 static_cast<std::size_t>(std::max(style.columns, 0)));
  return text;
}

}  // namespace gpuadvisor::report
