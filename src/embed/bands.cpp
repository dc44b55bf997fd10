#include <fmt/format.h>

#include "embed/embed.hpp"

namespace gpuadvisor::embed {
namespace {

Result<std::string> band_line(const nlohmann::ordered_json& entry, const std::string& where) {
  for (const char* key : {"rows", "p50", "p90"})
    if (!entry.contains(key) || !entry[key].is_number())
      return fail(ErrorCode::input, fmt::format("'{}' is missing or no number", key), where);
  const double p50 = entry["p50"].get<double>();
  const double p90 = entry["p90"].get<double>();
  if (!(0 <= p50 && p50 <= p90)) return fail(ErrorCode::input, "expected 0 <= p50 <= p90", where);
  const auto name = [&](const char* key) {
    return string_literal(entry.value(key, std::string()));
  };
  return fmt::format("  {{{}, {}, {}, {}, {}, {}, {}}},\n", name("kind"), name("method"),
                     name("gpu_class"), name("gpu"), entry["rows"].get<int>(), double_literal(p50),
                     double_literal(p90));
}

}  // namespace

Result<void> bands(std::span<const std::string> arguments) {
  if (arguments.size() != 2) return fail(ErrorCode::usage, "expected IN OUT", "bands");
  auto document = read_json(arguments[0]);
  if (!document) return tl::unexpected(document.error());
  std::string text =
      "// Generated from data/calibration.json; do not edit.\n#pragma once\n\n#include "
      "\"workload/bands.hpp\"\n\n"
      "namespace gpuadvisor::workload {\ninline constexpr BandRecord kBands[] = {\n";
  for (const auto& entry : document->at("bands")) {
    auto line = band_line(entry, arguments[0] + ": bands");
    if (!line) return tl::unexpected(line.error());
    text += *line;
  }
  return write_text(arguments[1], text + "};\n}  // namespace gpuadvisor::workload\n");
}

}  // namespace gpuadvisor::embed
