// The words that stand for enumerations, in the order of their values.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace gpuadvisor::catalog {

inline constexpr std::array<std::string_view, 7> kFabricNames{"none",       "tcp", "erdma", "roce",
                                                              "infiniband", "efa", "opa"};
inline constexpr std::array<std::string_view, 3> kNodeLinkNames{"single", "pcie", "nvlink"};
inline constexpr std::array<std::string_view, 4> kInstanceKindNames{"vm", "bare_metal", "scc",
                                                                    "vgpu"};
inline constexpr std::array<std::string_view, 6> kInstanceStatusNames{
    "documented", "not_recommended", "undocumented", "invitational", "retired", "incomplete"};
inline constexpr std::array<std::string_view, 6> kPriceKindNames{
    "on_demand", "spot", "subscription", "savings_plan", "reserved", "observed"};

template <class Enum>
constexpr std::string_view name_of(Enum value, std::span<const std::string_view> names) {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : std::string_view("unknown");
}

template <class Enum>
constexpr std::optional<Enum> value_of(std::string_view name,
                                       std::span<const std::string_view> names) {
  for (std::size_t index = 0; index < names.size(); ++index)
    if (names[index] == name) return static_cast<Enum>(index);
  return std::nullopt;
}

}  // namespace gpuadvisor::catalog
