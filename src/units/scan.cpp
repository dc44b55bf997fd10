#include "units/scan.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace gpuadvisor::units {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool digit_at(std::string_view text, std::size_t index) {
  return index < text.size() && is_digit(text[index]);
}

/// Length of the mantissa; an underscore counts only between two digits.
std::size_t mantissa_length(std::string_view text) {
  std::size_t end = 0;
  bool point = false;
  while (end < text.size()) {
    const char c = text[end];
    const bool separator =
        c == '_' && end > 0 && is_digit(text[end - 1]) && digit_at(text, end + 1);
    if (c == '.' && !point) {
      point = true;
    } else if (!is_digit(c) && !separator) {
      break;
    }
    ++end;
  }
  return end;
}

/// Length of an exponent ("e9", "E-3") at `start`; 0 when there is none.
std::size_t exponent_length(std::string_view text, std::size_t start) {
  if (start >= text.size() || to_lower(text[start]) != 'e') return 0;
  std::size_t end = start + 1;
  if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
  if (!digit_at(text, end)) return 0;
  while (digit_at(text, end)) ++end;
  return end - start;
}

std::string without_separators(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != '_') digits.push_back(c);
  return digits;
}

}  // namespace

Scan scan_number(std::string_view text) {
  const bool minus = !text.empty() && text.front() == '-';
  if (minus) text.remove_prefix(1);
  const std::size_t mantissa = mantissa_length(text);
  const std::size_t length = mantissa + (mantissa > 0 ? exponent_length(text, mantissa) : 0);
  const std::string digits = without_separators(text.substr(0, length));

  Scan scan;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), scan.value);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) return scan;
  scan.rest = trim(text.substr(length));
  if (error == std::errc::result_out_of_range || !std::isfinite(scan.value)) {
    scan.status = ScanStatus::out_of_range;
    return scan;
  }
  scan.status = minus ? ScanStatus::negative : ScanStatus::ok;
  if (minus) scan.value = -scan.value;
  return scan;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string shown = "'";
  for (const char c : text.substr(0, kLongest))
    shown.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c);
  return shown + (text.size() > kLongest ? "...'" : "'");
}

Error not_accepted(std::string_view text, std::string_view where, ScanStatus status,
                   std::string_view what, std::string_view accepted) {
  std::string message;
  switch (status) {
    case ScanStatus::negative:
      message = fmt::format("{} is negative; expected {} such as {}", quoted(text), what, accepted);
      break;
    case ScanStatus::out_of_range:
      message =
          fmt::format("{} is out of range; expected {} such as {}", quoted(text), what, accepted);
      break;
    case ScanStatus::ok:
    case ScanStatus::no_number:
      message =
          fmt::format("{} is not {}; expected a form such as {}", quoted(text), what, accepted);
      break;
  }
  return Error{ErrorCode::usage, std::move(message), std::string(where), {}};
}

}  // namespace gpuadvisor::units
