// The number at the start of a text, as people write it; shared by all parsers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::units {

enum class ScanStatus : std::uint8_t { ok, no_number, negative, out_of_range };

/// A decimal number ("1.5", "8e9", "7_000_000", "-2") and the text behind it.
struct Scan {
  ScanStatus status = ScanStatus::no_number;
  double value = 0;
  std::string_view rest;  ///< what follows, leading blanks skipped
};

/// Reads the number at the start of `text`. Words such as "inf" and "nan" and
/// hexadecimal digits are no numbers. A minus sign sets `negative` and the value.
[[nodiscard]] Scan scan_number(std::string_view text);

/// `text` without blanks at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);

/// ASCII lower case, whatever the locale.
[[nodiscard]] char to_lower(char c);
[[nodiscard]] std::string to_lower(std::string_view text);

/// `text` in quotes for a message: control bytes shown as '?', cut when long.
[[nodiscard]] std::string quoted(std::string_view text);

/// A usage error: what the text is not, and what is accepted.
[[nodiscard]] Error not_accepted(std::string_view text, std::string_view where, ScanStatus status,
                                 std::string_view what, std::string_view accepted);

}  // namespace gpuadvisor::units
