#include "cli/help.hpp"

#include <fmt/format.h>

#include "cli/flags.hpp"

namespace gpuadvisor::cli {
namespace {

constexpr std::string_view kExitStatuses =
    "Exit status\n"
    "  0  a result\n"
    "  1  a negative answer: nothing fits, the plan does not fit, check says no\n"
    "  2  the command line is wrong\n"
    "  3  a file, catalog or standard input is unreadable or invalid\n"
    "  4  an internal fault\n"
    "  130  interrupted\n";

std::string flag_line(const Flag& flag) {
  const std::string letter = flag.shorthand != 0 ? fmt::format("-{}, ", flag.shorthand) : "    ";
  const std::string value = flag.takes_value() ? fmt::format(" {}", flag.placeholder) : "";
  return fmt::format("  {:<30} {}\n", fmt::format("{}--{}{}", letter, flag.name, value), flag.help);
}

std::string flag_groups(std::uint32_t command) {
  std::string text;
  for (int g = 0; g <= static_cast<int>(FlagGroup::output); ++g) {
    std::string lines;
    for (const Flag& flag : all_flags())
      if (flag.group == static_cast<FlagGroup>(g) && (flag.commands & command) != 0)
        lines += flag_line(flag);
    if (!lines.empty()) text += fmt::format("\n{}\n{}", title_of(static_cast<FlagGroup>(g)), lines);
  }
  return text;
}

std::string command_lines(std::string_view prefix) {
  std::string text;
  for (const Command& command : all_commands())
    if (command.name.substr(0, prefix.size()) == prefix)
      text += fmt::format("  {:<18} {}\n", command.name, command.summary);
  return text;
}

}  // namespace

std::string short_help() {
  return fmt::format(
      "gpuadvisor: which cloud GPU instances, how many, with which plan, how long,\n"
      "at what cost\n\n"
      "Example: gpuadvisor recommend --params 70B --mode full-ft\n\n"
      "Commands\n{}\n"
      "gpuadvisor --help tells more; gpuadvisor COMMAND --help lists the flags.\n",
      command_lines(""));
}

std::string general_help() {
  return fmt::format(
      "Example: gpuadvisor recommend --params 70B --mode full-ft\n\n"
      "gpuadvisor tells which cloud GPU instances, how many, with which parallel plan,\n"
      "how long and at what cost a transformer can be trained, fine-tuned or served.\n"
      "It needs no network.\n\n"
      "Usage: gpuadvisor COMMAND [FLAGS]\n\n"
      "Commands\n{}  {:<18} {}\n\n"
      "Flags of every command\n{}\n"
      "Environment\n"
      "  {:<30} {}\n  {:<30} {}\n\n{}",
      command_lines(""), "help COMMAND", "the flags of a command",
      flag_line(*find_flag("help", kEverywhere)) + flag_line(*find_flag("version", kEverywhere)) +
          flag_line(*find_flag("color", kEverywhere)) + flag_line(*find_flag("quiet", kEverywhere)),
      "GPUADVISOR_CATALOG", "catalog files to add or replace", "NO_COLOR, FORCE_COLOR",
      "colour off, on", kExitStatuses);
}

std::string group_help(std::string_view group) {
  const std::string lines = command_lines(std::string(group) + " ");
  if (lines.empty()) return {};
  std::string_view example;
  for (const Command& command : all_commands())
    if (example.empty() && command.name.substr(0, group.size()) == group) example = command.example;
  return fmt::format("Example: {}\n\nUsage: gpuadvisor {} COMMAND [FLAGS]\n\nCommands\n{}", example,
                     group, lines);
}

std::string command_help(const Command& command) {
  const std::string_view open = command.positional_required ? " " : " [";
  const std::string positional =
      command.positional.empty()
          ? std::string()
          : fmt::format("{}{}{}", open, command.positional, command.positional_required ? "" : "]");
  return fmt::format("Example: {}\n\n{}: {}\n\nUsage: gpuadvisor {}{} [FLAGS]\n{}\n{}",
                     command.example, command.name, command.summary, command.name, positional,
                     flag_groups(command.bit), kExitStatuses);
}

}  // namespace gpuadvisor::cli
