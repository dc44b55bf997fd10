// The only file that sees CLI11: it splits the line, everything else is ours.
#include "cli/arguments.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/flags.hpp"
#include "cli/suggest.hpp"

namespace gpuadvisor::cli {
namespace {

/// Flags of one form; `--explain` takes a value only with the command accuracy.
std::vector<const Flag*> flags_for(std::span<const std::string> argv) {
  const bool accuracy = std::find(argv.begin(), argv.end(), "accuracy") != argv.end();
  std::vector<const Flag*> flags;
  for (const Flag& flag : all_flags()) {
    const bool other_form =
        accuracy && find_flag(flag.name, kAccuracy) != nullptr && (flag.commands & kAccuracy) == 0;
    const bool known = std::any_of(flags.begin(), flags.end(),
                                   [&](const Flag* seen) { return seen->name == flag.name; });
    if (!other_form && !known) flags.push_back(&flag);
  }
  return flags;
}

CLI::Option* add(CLI::App& app, const Flag& flag, std::vector<std::string>& values) {
  std::string names = fmt::format("--{}", flag.name);
  if (flag.shorthand != 0) names += fmt::format(",-{}", flag.shorthand);
  CLI::Option* option =
      flag.takes_value() ? app.add_option(names, values) : app.add_flag(names, values);
  if (flag.takes_value()) option->expected(1)->allow_extra_args(false);
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

bool is_flag_text(const std::string& text) {
  return text.size() > 2 && text[0] == '-' && text[1] == '-' &&
         find_flag(std::string_view(text).substr(2), kEverywhere) != nullptr;
}

/// "--params: 1 required TEXT missing" -> "params".
std::string flag_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::size_t start = text.find("--");
  const std::size_t end = text.find_first_of(": ,", start);
  return start == std::string::npos ? text : text.substr(start, end - start);
}

tl::unexpected<Error> needs_value(const std::string& flag) {
  const Flag* known =
      find_flag(std::string_view(flag).substr(std::min<std::size_t>(2, flag.size())), kEverywhere);
  return fail(ErrorCode::usage, "needs a value", flag,
              known != nullptr ? fmt::format("{}: {}", flag, known->help) : std::string());
}

Result<void> collect(const Flag& flag, const std::vector<std::string>& values,
                     Arguments& arguments) {
  for (const std::string& value : values) {
    const std::string name = fmt::format("--{}", flag.name);
    if (flag.takes_value() && is_flag_text(value)) return needs_value(name);
    if (!flag.takes_value() && value != "true")
      return fail(ErrorCode::usage, "takes no value", name);
    arguments.flags.push_back({std::string(flag.name), flag.takes_value() ? value : std::string()});
  }
  return {};
}

}  // namespace

bool Arguments::has(std::string_view name) const { return value(name).has_value(); }

std::optional<std::string_view> Arguments::value(std::string_view name) const {
  for (const Given& flag : flags)
    if (flag.name == name) return flag.value;
  return std::nullopt;
}

std::vector<std::string> Arguments::list(std::string_view name) const {
  std::vector<std::string> values;
  for (const Given& flag : flags) {
    if (flag.name != name) continue;
    std::string_view rest = flag.value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      if (end > 0) values.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return values;
}

Result<Arguments> split_arguments(std::span<const std::string> argv) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const auto flags = flags_for(argv);
  std::vector<std::vector<std::string>> values(flags.size());
  Arguments arguments;
  for (std::size_t i = 0; i < flags.size(); ++i) add(app, *flags[i], values[i]);
  app.add_option("words", arguments.words);

  std::vector<std::string> reversed(argv.rbegin(), argv.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return needs_value(flag_of(error));
  }
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (const auto ok = collect(*flags[i], values[i], arguments); !ok)
      return tl::unexpected(ok.error());
  arguments.unknown = app.remaining();
  std::erase(arguments.unknown, "--");
  return arguments;
}

Result<void> check_flags(const Arguments& arguments, std::string_view command_name,
                         std::uint32_t command) {
  if (!arguments.unknown.empty()) {
    std::vector<std::string> dashed;
    for (const Flag& flag : all_flags())
      if ((flag.commands & command) != 0) dashed.push_back(fmt::format("--{}", flag.name));
    const std::vector<std::string_view> names(dashed.begin(), dashed.end());
    std::vector<std::string_view> unknown(arguments.unknown.begin(), arguments.unknown.end());
    return fail(
        ErrorCode::usage,
        fmt::format("unknown flag{} {}", unknown.size() > 1 ? "s" : "", join(unknown, "and")), {},
        hint_for(unknown.front().substr(0, unknown.front().find('=')), names,
                 fmt::format("gpuadvisor {} --help lists the flags", command_name)));
  }
  for (const Arguments::Given& given : arguments.flags) {
    const Flag* flag = find_flag(given.name, command);
    if (flag == nullptr)
      return fail(ErrorCode::usage, fmt::format("is no flag of '{}'", command_name),
                  fmt::format("--{}", given.name),
                  fmt::format("gpuadvisor {} --help", command_name));
    const auto first = arguments.value(given.name);
    if (!flag->list && first && *first != given.value)
      return fail(ErrorCode::usage,
                  fmt::format("is given twice: {} and {}", quote(*first), quote(given.value)),
                  fmt::format("--{}", given.name));
  }
  return {};
}

}  // namespace gpuadvisor::cli
