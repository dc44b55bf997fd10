// Rows and columns of any answer, and how they look as table, CSV and Markdown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuadvisor::report {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string key;    ///< CSV header: snake_case with unit
  std::string title;  ///< table and Markdown header, with unit
  Align align = Align::left;
  int rank = 0;  ///< a narrow terminal drops the columns of the highest rank first; 0 never
  bool raw_only = false;  ///< CSV only: the table shows the value within another column
};

/// One value: as people read it, and raw as programs do.
struct Cell {
  std::string shown;
  std::string raw;
  Cell(std::string both)
      : shown(both), raw(std::move(both)) {}  // NOLINT(google-explicit-constructor)
  Cell(std::string shown_text, std::string raw_text)
      : shown(std::move(shown_text)), raw(std::move(raw_text)) {}
};

struct Grid {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// One record a line, no borders. `columns` 0 shows every column; else columns are
/// left out until the table fits.
[[nodiscard]] std::string table_text(const Grid& grid, int columns, bool colour);
/// RFC 4180: CRLF, quotes doubled, header always.
[[nodiscard]] std::string csv_text(const Grid& grid);
/// GitHub Markdown table; pipes escaped.
[[nodiscard]] std::string markdown_text(const Grid& grid);

}  // namespace gpuadvisor::report
