#include "report/grid.hpp"

#include <algorithm>

#include "report/text.hpp"

namespace gpuadvisor::report {
namespace {

constexpr std::size_t kGap = 2;

std::vector<std::size_t> widths_of(const Grid& grid) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < grid.columns.size(); ++c) {
    std::size_t width = display_width(grid.columns[c].title);
    for (const auto& row : grid.rows) width = std::max(width, display_width(row[c].shown));
    widths.push_back(width);
  }
  return widths;
}

/// Indexes of the columns that fit into `columns`, the least important ones left out.
std::vector<std::size_t> visible_columns(const Grid& grid, const std::vector<std::size_t>& widths,
                                         int columns) {
  std::vector<std::size_t> visible;
  std::size_t total = 0;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (grid.columns[c].raw_only) continue;
    total += widths[c] + (visible.empty() ? 0 : kGap);
    visible.push_back(c);
  }
  while (columns > 0 && total > static_cast<std::size_t>(columns)) {
    const auto least = std::max_element(visible.begin(), visible.end(), [&](auto a, auto b) {
      return grid.columns[a].rank < grid.columns[b].rank;
    });
    if (grid.columns[*least].rank == 0) break;
    total -= widths[*least] + kGap;
    visible.erase(least);
  }
  return visible;
}

/// Cuts the widest text column so that `visible` fits, down to a readable rest.
void shrink_widest(const Grid& grid, std::vector<std::size_t>& widths,
                   const std::vector<std::size_t>& visible, int columns) {
  constexpr std::size_t kReadable = 16;
  std::size_t total = 0;
  std::size_t widest = visible.front();
  for (const std::size_t c : visible) {
    total += widths[c] + (c == visible.front() ? 0 : kGap);
    if (grid.columns[c].align == Align::left && widths[c] > widths[widest]) widest = c;
  }
  const auto room = static_cast<std::size_t>(columns);
  if (columns <= 0 || total <= room || grid.columns[widest].align == Align::right) return;
  const std::size_t excess = total - room;
  widths[widest] = std::max(std::min(widths[widest], kReadable),
                            widths[widest] - std::min(widths[widest], excess));
}

void append_aligned(std::string& line, std::string_view text, std::size_t width, Align align) {
  const std::string cut = truncate_to_width(text, width);
  line += align == Align::right ? pad_left(cut, width) : pad_right(cut, width);
}

void end_line(std::string& line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  line += '\n';
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string markdown_field(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

}  // namespace

std::string table_text(const Grid& grid, int columns, bool colour) {
  auto widths = widths_of(grid);
  const auto visible = visible_columns(grid, widths, columns);
  shrink_widest(grid, widths, visible, columns);
  const auto line_of = [&](auto&& text_of) {
    std::string line;
    for (const std::size_t c : visible) {
      if (c != visible.front()) line.append(kGap, ' ');
      append_aligned(line, text_of(c), widths[c], grid.columns[c].align);
    }
    end_line(line);
    return line;
  };
  std::string header = line_of([&](std::size_t c) { return grid.columns[c].title; });
  if (colour) header = "\x1b[1m" + header.substr(0, header.size() - 1) + "\x1b[0m\n";
  std::string text = header;
  for (const auto& row : grid.rows) text += line_of([&](std::size_t c) { return row[c].shown; });
  return text;
}

std::string csv_text(const Grid& grid) {
  std::string text;
  for (std::size_t c = 0; c < grid.columns.size(); ++c)
    text += (c > 0 ? "," : "") + csv_field(grid.columns[c].key);
  text += "\r\n";
  for (const auto& row : grid.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) text += (c > 0 ? "," : "") + csv_field(row[c].raw);
    text += "\r\n";
  }
  return text;
}

std::string markdown_text(const Grid& grid) {
  std::string header = "|";
  std::string rule = "|";
  for (const Column& column : grid.columns) {
    if (column.raw_only) continue;
    header += " " + markdown_field(column.title) + " |";
    rule += column.align == Align::right ? "---:|" : "---|";
  }
  std::string text = header + "\n" + rule + "\n";
  for (const auto& row : grid.rows) {
    text += '|';
    for (std::size_t c = 0; c < row.size(); ++c)
      if (!grid.columns[c].raw_only) text += " " + markdown_field(row[c].shown) + " |";
    text += '\n';
  }
  return text;
}

}  // namespace gpuadvisor::report
