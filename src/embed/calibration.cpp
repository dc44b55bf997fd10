#include <set>

#include <fmt/format.h>

#include "embed/embed.hpp"

namespace gpuadvisor::embed {
namespace {

constexpr const char* kHead =
    "// Generated from data/calibration.json; do not edit.\n#pragma once\n\n";

Result<std::string> constant_line(const nlohmann::ordered_json& entry, const std::string& where) {
  for (const char* key : {"name", "value", "unit", "meaning", "origin"})
    if (!entry.contains(key))
      return fail(ErrorCode::input, fmt::format("'{}' is missing", key), where);
  if (!entry["value"].is_number()) return fail(ErrorCode::input, "'value' is no number", where);
  return fmt::format("inline constexpr double {} = {};  // {}\n", entry["name"].get<std::string>(),
                     double_literal(entry["value"].get<double>()),
                     entry["unit"].get<std::string>());
}

}  // namespace

Result<void> calibration(std::span<const std::string> arguments) {
  if (arguments.size() != 2) return fail(ErrorCode::usage, "expected IN OUT", "calibration");
  auto document = read_json(arguments[0]);
  if (!document) return tl::unexpected(document.error());
  std::string text = kHead;
  for (const auto& [section, constants] : document->at("sections").items()) {
    text += fmt::format("namespace gpuadvisor::calibration::{} {{\n", section);
    std::set<std::string> seen;
    for (const auto& entry : constants) {
      const std::string where = arguments[0] + ": " + section;
      auto line = constant_line(entry, where);
      if (!line) return tl::unexpected(line.error());
      if (!seen.insert(entry["name"].get<std::string>()).second)
        return fail(ErrorCode::input, "duplicate constant " + entry["name"].get<std::string>(),
                    where);
      text += *line;
    }
    text += "}\n\n";
  }
  return write_text(arguments[1], text);
}

}  // namespace gpuadvisor::embed
