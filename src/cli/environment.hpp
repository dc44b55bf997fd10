// What the program reads of its surroundings, once, at the start; tests make their own.
#pragma once

#include <string>
#include <string_view>

#include "cli/arguments.hpp"
#include "gpuadvisor/report.hpp"

namespace gpuadvisor::cli {

struct Environment {
  std::string catalog;  ///< GPUADVISOR_CATALOG
  std::string no_color, force_color, term, columns;
  bool output_is_terminal = false;
  bool errors_are_terminal = false;
  int terminal_columns = 0;  ///< 0 unknown
};

/// The real one.
[[nodiscard]] Environment read_environment();

/// Colour of a stream: --color and --no-color, then NO_COLOR, FORCE_COLOR, TERM, then
/// whether it is a terminal.
[[nodiscard]] Result<bool> wants_colour(const Arguments& arguments, const Environment& environment,
                                        bool is_terminal);

/// Format and table style of -o, --json, --width, --explain, --rejected.
struct Presentation {
  report::Format format = report::Format::table;
  report::Style style;
};
[[nodiscard]] Result<Presentation> presentation(const Arguments& arguments,
                                                const Environment& environment);

}  // namespace gpuadvisor::cli
