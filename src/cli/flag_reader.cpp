#include "cli/flag_reader.hpp"

namespace gpuadvisor::cli {

std::optional<std::string_view> FlagReader::text(std::string_view name) {
  if (error_) return std::nullopt;
  const auto value = arguments_.value(name);
  return value && *value == "auto" ? std::nullopt : value;
}

Error FlagReader::unknown_name(std::string_view value, std::string_view where,
                               std::span<const std::string_view> names) {
  return Error{ErrorCode::usage,
               fmt::format("unknown value {}; expected {}", quote(value), join(names, "or")),
               std::string(where), hint_for(value, names, "")};
}

void FlagReader::exclusive(std::span<const std::string_view> names) {
  std::string_view first;
  for (const std::string_view name : names) {
    if (!arguments_.has(name)) continue;
    if (first.empty()) {
      first = name;
    } else {
      set_error(Error{ErrorCode::usage,
                      fmt::format("contradicts {}; give one of them", dashed(first)),
                      dashed(name),
                      {}});
    }
  }
}

}  // namespace gpuadvisor::cli
