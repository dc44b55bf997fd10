// Shell completion, made from the tables of commands and flags.
#include <array>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/flag_reader.hpp"
#include "cli/flags.hpp"
#include "gpuadvisor/report.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::cli {
namespace {

/// "--params --model ..." of a command.
std::string flag_words(std::uint32_t bit) {
  std::string words;
  for (const Flag& flag : all_flags())
    if ((flag.commands & bit) != 0)
      words += fmt::format("{}--{}", words.empty() ? "" : " ", flag.name);
  return words;
}

/// First words of commands; or the second words of a group.
std::string command_words(std::string_view group) {
  std::string words;
  std::string_view last;
  for (const Command& command : all_commands()) {
    const std::size_t space = command.name.find(' ');
    const std::string_view first = command.name.substr(0, space);
    std::string_view word = first;
    if (!group.empty()) {
      if (first != group || space == std::string_view::npos) continue;
      word = command.name.substr(space + 1);
    }
    if (word != last) words += fmt::format("{}{}", words.empty() ? "" : " ", word);
    last = word;
  }
  return words;
}

std::string bash() {
  std::string cases;
  for (const Command& command : all_commands())
    cases += fmt::format("    '{}'*) words='{}' ;;\n", command.name, flag_words(command.bit));
  return fmt::format(
      "_gpuadvisor() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" line=\"${{COMP_WORDS[*]:1:COMP_CWORD-1}}\" "
      "words=''\n"
      "  case \"$line\" in\n"
      "    '') words='{}' ;;\n"
      "    catalog) words='{}' ;;\n"
      "    models) words='{}' ;;\n"
      "    completion) words='bash zsh fish man' ;;\n"
      "{}"
      "  esac\n"
      "  if [[ \"${{COMP_WORDS[COMP_CWORD-1]}}\" == --mode ]]; then words='{}'; fi\n"
      "  if [[ \"${{COMP_WORDS[COMP_CWORD-1]}}\" == --output || \"${{COMP_WORDS[COMP_CWORD-1]}}\" "
      "== -o ]]; then\n"
      "    words='table json csv markdown'\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  if [[ ${{#COMPREPLY[@]}} -eq 0 ]]; then COMPREPLY=($(compgen -f -- \"$current\")); fi\n"
      "}}\n"
      "complete -F _gpuadvisor gpuadvisor\n",
      command_words("") + " help", command_words("catalog"), command_words("models"), cases,
      fmt::join(workload::names_of<workload::Mode>(), " "));
}

std::string zsh() {
  // zsh runs the bash function through its own compatibility layer.
  return "#compdef gpuadvisor\nautoload -U +X bashcompinit && bashcompinit\n" + bash();
}

std::string fish() {
  std::string text = fmt::format(
      "complete -c gpuadvisor -f -n __fish_use_subcommand -a '{} help'\n"
      "complete -c gpuadvisor -f -n '__fish_seen_subcommand_from catalog' -a '{}'\n"
      "complete -c gpuadvisor -f -n '__fish_seen_subcommand_from models' -a '{}'\n",
      command_words(""), command_words("catalog"), command_words("models"));
  std::string_view last;
  for (const Flag& flag : all_flags()) {
    if (flag.name == last) continue;
    last = flag.name;
    std::string commands;
    for (const Command& command : all_commands())
      if ((flag.commands & command.bit) != 0) {
        const std::string first(command.name.substr(0, command.name.find(' ')));
        if (commands.find(first) == std::string::npos)
          commands += (commands.empty() ? "" : " ") + first;
      }
    text +=
        fmt::format("complete -c gpuadvisor -n '__fish_seen_subcommand_from {}' -l {}{} -d '{}'\n",
                    commands, flag.name, flag.takes_value() ? " -r" : "", flag.help);
  }
  return text;
}

/// The man page; a hyphen is escaped so that it can be copied from it.
std::string man_page() {
  const auto escaped = [](std::string_view text) {
    std::string roff;
    for (const char c : text) roff += c == '-' ? std::string("\\-") : std::string(1, c);
    return roff;
  };
  std::string text = fmt::format(
      ".TH GPUADVISOR 1 \"\" \"gpuadvisor {}\" \"User Commands\"\n.SH NAME\n"
      "gpuadvisor \\- cloud GPU instances, counts and parallel plans for transformer workloads\n"
      ".SH SYNOPSIS\n.B gpuadvisor\nCOMMAND [FLAGS]\n.SH COMMANDS\n",
      report::tool_version());
  for (const Command& command : all_commands())
    text += fmt::format(".TP\n.B {}\n{}\n.br\nExample: {}\n", command.name,
                        escaped(command.summary), escaped(command.example));
  text += ".SH OPTIONS\n";
  for (const Flag& flag : all_flags())
    text +=
        fmt::format(".TP\n.B {}\\-\\-{} {}\n{}\n",
                    flag.shorthand != 0 ? fmt::format("\\-{}, ", flag.shorthand) : std::string(),
                    escaped(flag.name), flag.placeholder, escaped(flag.help));
  text += ".SH EXIT STATUS\n";
  for (const std::string_view line :
       {"0|a result", "1|a negative answer: nothing fits, the plan does not fit, check says no",
        "2|the command line is wrong",
        "3|a file, catalog or standard input is unreadable or invalid", "4|an internal fault",
        "130|interrupted"})
    text += fmt::format(".TP\n.B {}\n{}\n", line.substr(0, line.find('|')),
                        line.substr(line.find('|') + 1));
  return text;
}

}  // namespace

Result<Output> run_completion(const Arguments& arguments, const Environment&) {
  constexpr std::array<std::string_view, 4> kShells = {"bash", "zsh", "fish", "man"};
  const std::string& shell = arguments.words.front();
  if (shell == "bash") return Output{bash(), {}, kSuccess};
  if (shell == "zsh") return Output{zsh(), {}, kSuccess};
  if (shell == "fish") return Output{fish(), {}, kSuccess};
  if (shell == "man") return Output{man_page(), {}, kSuccess};
  return tl::unexpected(FlagReader::unknown_name(shell, "SHELL", kShells));
}

}  // namespace gpuadvisor::cli
