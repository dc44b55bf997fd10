// Plain numbers: counts with decimal suffixes, whole numbers, decimal numbers.
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "gpuadvisor/units.hpp"
#include "units/scan.hpp"

namespace gpuadvisor {
namespace {

using units::not_accepted;
using units::Scan;
using units::ScanStatus;

constexpr std::string_view kCountForms = "70B, 1.5T, 8e9 or 512";
constexpr std::string_view kIntegerForms = "8, 4096 or 4K";
constexpr std::string_view kNumberForms = "0.9 or 1e-3";

/// Power of 1000 of a count suffix; nothing for an unknown one.
std::optional<double> count_factor(std::string_view suffix) {
  if (suffix.empty()) return 1.0;
  if (suffix.size() > 1) return std::nullopt;
  switch (units::to_lower(suffix.front())) {
    case 'k':
      return 1e3;
    case 'm':
      return 1e6;
    case 'b':
    case 'g':
      return 1e9;
    case 't':
      return 1e12;
    case 'p':
      return 1e15;
    default:
      return std::nullopt;
  }
}

Error outside(std::string_view text, std::string_view where, double min, double max) {
  return Error{ErrorCode::usage,
               fmt::format("{} is out of range; expected {} to {}", units::quoted(text), min, max),
               std::string(where),
               {}};
}

Result<double> count_value(std::string_view text, std::string_view where, std::string_view what,
                           std::string_view forms) {
  const Scan scan = units::scan_number(units::trim(text));
  if (scan.status != ScanStatus::ok)
    return tl::unexpected(not_accepted(text, where, scan.status, what, forms));
  const auto factor = count_factor(scan.rest);
  if (!factor) return tl::unexpected(not_accepted(text, where, ScanStatus::ok, what, forms));
  return scan.value * *factor;
}

}  // namespace

Result<double> parse_count(std::string_view text, std::string_view where, double min, double max) {
  const auto value = count_value(text, where, "a count", kCountForms);
  if (!value) return value;
  if (!(*value >= min && *value <= max)) return tl::unexpected(outside(text, where, min, max));
  return value;
}

Result<std::int64_t> parse_integer(std::string_view text, std::string_view where, std::int64_t min,
                                   std::int64_t max) {
  const auto in_range = [&](std::int64_t value) -> Result<std::int64_t> {
    if (value >= min && value <= max) return value;
    return fail(ErrorCode::usage,
                fmt::format("{} is out of range; expected {} to {}", units::quoted(text), min, max),
                std::string(where));
  };
  // Plain digits are read exactly, beyond the 2^53 of a double too.
  const std::string_view digits = units::trim(text);
  std::int64_t exact = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exact);
  const bool negative = !digits.empty() && digits.front() == '-';
  if (error == std::errc{} && end == digits.data() + digits.size() && (!negative || min < 0))
    return in_range(exact);

  const auto value = count_value(text, where, "a whole number", kIntegerForms);
  if (!value) return tl::unexpected(value.error());
  if (*value != std::floor(*value))
    return tl::unexpected(
        not_accepted(text, where, ScanStatus::ok, "a whole number", kIntegerForms));
  constexpr double kInt64End = 9223372036854775808.0;  // 2^63
  return in_range(*value < kInt64End ? static_cast<std::int64_t>(*value)
                                     : std::numeric_limits<std::int64_t>::max());
}

Result<double> parse_number(std::string_view text, std::string_view where, double min, double max) {
  const Scan scan = units::scan_number(units::trim(text));
  const bool wanted_negative = scan.status == ScanStatus::negative && min < 0;
  if ((scan.status != ScanStatus::ok && !wanted_negative) || !scan.rest.empty())
    return tl::unexpected(not_accepted(text, where, scan.status, "a number", kNumberForms));
  if (!(scan.value >= min && scan.value <= max))
    return tl::unexpected(outside(text, where, min, max));
  return scan.value;
}

}  // namespace gpuadvisor
