#include "gpuadvisor/report.hpp"

#include <array>

#include "report/ranking.hpp"

namespace gpuadvisor::report {
namespace {

constexpr std::array<std::string_view, 4> kFormats = {"table", "json", "csv", "markdown"};

}  // namespace

std::string_view tool_version() { return GPUADVISOR_VERSION; }

std::span<const std::string_view> format_names() { return kFormats; }

std::optional<Format> format_from_string(std::string_view name) {
  for (std::size_t i = 0; i < kFormats.size(); ++i)
    if (kFormats[i] == name) return static_cast<Format>(i);
  return std::nullopt;
}

std::string render(const advisor::Ranking& ranking, Format format, const Style& style) {
  if (format == Format::json) return ranking_json(ranking);
  if (format == Format::table) return ranking_table(ranking, style);
  const Grid grid = style.all_rejected ? rejected_grid(ranking) : results_grid(ranking);
  return format == Format::csv ? csv_text(grid) : markdown_text(grid);
}

}  // namespace gpuadvisor::report
