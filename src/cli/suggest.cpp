#include "cli/suggest.hpp"

#include <vector>

#include <fmt/format.h>

#include "gpuadvisor/units.hpp"
#include "units/scan.hpp"

namespace gpuadvisor::cli {

std::string quote(std::string_view text) { return units::quoted(text); }

std::string join(std::span<const std::string_view> names, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? fmt::format(" {} ", last) : std::string(", ");
    text += names[i];
  }
  return text;
}

std::string hint_for(std::string_view name, std::span<const std::string_view> names,
                     std::string_view otherwise) {
  const std::vector<std::string> near = suggest_names(name, names);
  if (near.empty()) return std::string(otherwise);
  const std::vector<std::string_view> views(near.begin(), near.end());
  return fmt::format("did you mean {}?", join(views, "or"));
}

}  // namespace gpuadvisor::cli
