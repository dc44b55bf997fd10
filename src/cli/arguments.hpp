// The command line as flags and words; values stay text until a command reads them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::cli {

/// Flags that were given, in order, and the words between them.
struct Arguments {
  struct Given {
    std::string name;   ///< without dashes
    std::string value;  ///< empty for a switch
  };
  std::vector<Given> flags;
  std::vector<std::string> words;    ///< command and argument
  std::vector<std::string> unknown;  ///< flags that no command has

  [[nodiscard]] bool has(std::string_view name) const;
  /// The value of a flag, if it was given.
  [[nodiscard]] std::optional<std::string_view> value(std::string_view name) const;
  /// All values of a list flag: repeated or separated by commas; empty parts dropped.
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
};

/// Splits the arguments behind the program's name. Errors: a flag without its value, a
/// switch with one.
[[nodiscard]] Result<Arguments> split_arguments(std::span<const std::string> argv);

/// Refuses flags that do not exist, that the command does not take, or that were given
/// twice with different values.
[[nodiscard]] Result<void> check_flags(const Arguments& arguments, std::string_view command_name,
                                       std::uint32_t command);

}  // namespace gpuadvisor::cli
