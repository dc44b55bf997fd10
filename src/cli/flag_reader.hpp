// Reads typed values out of the arguments; keeps the first error, so that a list of
// reads needs one check at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/suggest.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::cli {

class FlagReader {
 public:
  explicit FlagReader(const Arguments& arguments) : arguments_(arguments) {}

  /// The text of a flag, with its dashed name for messages; nothing when absent, when
  /// its value is "auto" or after an error.
  [[nodiscard]] std::optional<std::string_view> text(std::string_view name);
  [[nodiscard]] static std::string dashed(std::string_view name) {
    return fmt::format("--{}", name);
  }

  /// Stores what `parse(text, flag)` gives, when the flag was given.
  template <class Target, class Parse>
  void read(std::string_view name, Target& target, const Parse& parse) {
    const auto value = text(name);
    if (!value) return;
    const auto parsed = parse(*value, dashed(name));
    if (parsed) {
      target = *parsed;
    } else {
      set_error(parsed.error());
    }
  }

  template <class Target>
  void count(std::string_view name, Target& target, double min, double max) {
    read(name, target,
         [&](auto value, const auto& flag) { return parse_count(value, flag, min, max); });
  }
  template <class Target>
  void number(std::string_view name, Target& target, double min, double max) {
    read(name, target,
         [&](auto value, const auto& flag) { return parse_number(value, flag, min, max); });
  }
  /// A whole number into int, int64 or an optional of them.
  template <class Integer, class Target>
  void integer(std::string_view name, Target& target, Integer min, Integer max) {
    read(name, target, [&](auto value, const auto& flag) {
      return parse_integer(value, flag, min, max).map([](std::int64_t v) {
        return static_cast<Integer>(v);
      });
    });
  }
  /// A name of a list, turned into a value by `convert(name) -> optional`.
  template <class Target, class Convert>
  void name(std::string_view flag, Target& target, std::span<const std::string_view> names,
            const Convert& convert) {
    read(flag, target, [&](std::string_view value, const std::string& where) {
      using Value = typename decltype(convert(value))::value_type;
      if (const auto found = convert(value)) return Result<Value>(*found);
      return Result<Value>(tl::unexpected(unknown_name(value, where, names)));
    });
  }

  /// "unknown value 'x'; expected a, b or c", with a hint at a near one.
  [[nodiscard]] static Error unknown_name(std::string_view value, std::string_view where,
                                          std::span<const std::string_view> names);

  /// Records a contradiction when more than one of `names` was given.
  void exclusive(std::span<const std::string_view> names);

  void set_error(Error error) {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const Arguments& arguments() const { return arguments_; }

 private:
  const Arguments& arguments_;
  std::optional<Error> error_;
};

}  // namespace gpuadvisor::cli
