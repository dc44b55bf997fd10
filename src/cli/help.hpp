// Help texts, all made from the tables of commands and flags; at most 80 columns.
#pragma once

#include <string>
#include <string_view>

#include "cli/commands.hpp"

namespace gpuadvisor::cli {

/// Without arguments: what it is and one example.
[[nodiscard]] std::string short_help();
/// gpuadvisor --help.
[[nodiscard]] std::string general_help();
/// The commands of a group such as "catalog"; empty when there is no such group.
[[nodiscard]] std::string group_help(std::string_view group);
/// gpuadvisor CMD --help.
[[nodiscard]] std::string command_help(const Command& command);

}  // namespace gpuadvisor::cli
