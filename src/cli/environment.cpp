#include "cli/environment.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

#include "cli/suggest.hpp"

namespace gpuadvisor::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before any thread
  return value == nullptr ? std::string() : std::string(value);
}

int columns_of_terminal() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// Columns of the table: --width, else those of a terminal, else no limit.
Result<int> table_columns(const Arguments& arguments, const Environment& environment) {
  if (const auto width = arguments.value("width")) {
    const auto value = parse_integer(*width, "--width", 0, 10000);
    if (!value) return tl::unexpected(value.error());
    return static_cast<int>(*value);
  }
  if (!environment.output_is_terminal) return 0;
  if (const auto value = parse_integer(environment.columns, "COLUMNS", 20, 10000))
    return static_cast<int>(*value);
  return environment.terminal_columns;
}

Result<report::Format> format_of(const Arguments& arguments) {
  const auto name = arguments.value("output");
  if (arguments.has("json") && name && *name != "json")
    return fail(ErrorCode::usage, fmt::format("contradicts --output {}", *name), "--json");
  if (arguments.has("json")) return report::Format::json;
  if (!name) return report::Format::table;
  const auto format = report::format_from_string(*name);
  if (!format)
    return fail(ErrorCode::usage,
                fmt::format("unknown format {}; expected {}", quote(*name),
                            join(report::format_names(), "or")),
                "--output", hint_for(*name, report::format_names(), ""));
  return *format;
}

}  // namespace

Environment read_environment() {
  Environment environment;
  environment.catalog = variable("GPUADVISOR_CATALOG");
  environment.no_color = variable("NO_COLOR");
  environment.force_color = variable("FORCE_COLOR");
  environment.term = variable("TERM");
  environment.columns = variable("COLUMNS");
  environment.output_is_terminal = isatty(STDOUT_FILENO) == 1;
  environment.errors_are_terminal = isatty(STDERR_FILENO) == 1;
  environment.terminal_columns = environment.output_is_terminal ? columns_of_terminal() : 0;
  return environment;
}

Result<bool> wants_colour(const Arguments& arguments, const Environment& environment,
                          bool is_terminal) {
  const std::string_view when = arguments.value("color").value_or("auto");
  if (when != "auto" && when != "always" && when != "never")
    return fail(ErrorCode::usage,
                fmt::format("unknown value {}; expected auto, always or never", quote(when)),
                "--color");
  if (arguments.has("no-color") && when == "always")
    return fail(ErrorCode::usage, "contradicts --color always", "--no-color");
  if (arguments.has("no-color") || when == "never") return false;
  if (when == "always") return true;
  if (!environment.no_color.empty()) return false;
  if (!environment.force_color.empty() && environment.force_color != "0") return true;
  return is_terminal && environment.term != "dumb";
}

Result<Presentation> presentation(const Arguments& arguments, const Environment& environment) {
  Presentation presentation;
  const auto format = format_of(arguments);
  if (!format) return tl::unexpected(format.error());
  presentation.format = *format;
  const auto columns = table_columns(arguments, environment);
  if (!columns) return tl::unexpected(columns.error());
  presentation.style.columns = *columns;
  const auto colour = wants_colour(arguments, environment, environment.output_is_terminal);
  if (!colour) return tl::unexpected(colour.error());
  presentation.style.colour = *colour;
  presentation.style.explain = arguments.has("explain");
  presentation.style.all_rejected = arguments.has("rejected");
  return presentation;
}

}  // namespace gpuadvisor::cli
