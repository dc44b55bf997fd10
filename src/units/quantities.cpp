// Numbers with a unit: sizes, bandwidths, durations, money.
#include <algorithm>
#include <array>
#include <cmath>

#include "gpuadvisor/units.hpp"
#include "units/scan.hpp"

namespace gpuadvisor {
namespace {

using units::not_accepted;
using units::Scan;
using units::ScanStatus;

constexpr std::string_view kByteForms = "80GiB (2^30), 80GB (10^9), 512MiB or 1e9";
constexpr std::string_view kBandwidthForms = "400Gbit/s, 25Gbps or 50GB/s";
constexpr std::string_view kDurationForms = "12h, 3d, 90min, 1h30m, 30s or 500ms";
constexpr std::string_view kMoneyForms = "'3000 CNY', 50000CNY or 12.5USD";

struct Unit {
  std::string_view name;
  double factor;
};

/// Power of a prefix letter, `base` 1000 or 1024; nothing when it is none.
std::optional<double> prefix_factor(char letter, double base) {
  const std::string_view letters = "kmgtp";
  const auto power = letters.find(units::to_lower(letter));
  if (power == std::string_view::npos) return std::nullopt;
  return std::pow(base, static_cast<double>(power + 1));
}

/// "B", "GB", "GiB"; "Gb" is refused, for that means bits.
std::optional<double> byte_factor(std::string_view unit) {
  if (unit.empty()) return std::nullopt;
  const bool bits = unit.back() == 'b' && unit.size() > 1 && unit.front() >= 'A' &&
                    unit.front() <= 'Z' && unit.size() == 2;
  const std::string lower = units::to_lower(unit);
  if (bits || lower.back() != 'b') return std::nullopt;
  if (lower.size() == 1) return 1.0;
  if (lower.size() == 2) return prefix_factor(lower[0], 1000.0);
  if (lower.size() == 3 && lower[1] == 'i') return prefix_factor(lower[0], 1024.0);
  return std::nullopt;
}

/// Bytes a second of "Gbit/s", "Gbps", "Gb/s", "GB/s", "GiB/s".
std::optional<double> bandwidth_factor(std::string_view unit) {
  const auto ends = [&](std::string_view tail) {
    return unit.size() >= tail.size() && unit.substr(unit.size() - tail.size()) == tail;
  };
  for (const std::string_view tail :
       {std::string_view("bit/s"), std::string_view("bps"), std::string_view("b/s")}) {
    if (!ends(tail)) continue;
    const std::string_view prefix = unit.substr(0, unit.size() - tail.size());
    if (prefix.empty()) return 1.0 / 8;
    const auto factor = prefix.size() == 1 ? prefix_factor(prefix[0], 1000.0) : std::nullopt;
    return factor ? std::optional<double>(*factor / 8) : std::nullopt;
  }
  return ends("B/s") ? byte_factor(unit.substr(0, unit.size() - 2)) : std::nullopt;
}

std::optional<double> duration_factor(std::string_view unit) {
  constexpr std::array<Unit, 13> kUnits = {{{"us", 1e-6},
                                            {"ms", 1e-3},
                                            {"s", 1},
                                            {"sec", 1},
                                            {"m", 60},
                                            {"min", 60},
                                            {"h", 3600},
                                            {"hours", 3600},
                                            {"d", 86400},
                                            {"day", 86400},
                                            {"days", 86400},
                                            {"w", 604800},
                                            {"weeks", 604800}}};
  for (const Unit& known : kUnits)
    if (known.name == unit) return known.factor;
  return std::nullopt;
}

/// The letters at the start of `text`.
std::string_view leading_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && units::to_lower(text[end]) >= 'a' &&
         units::to_lower(text[end]) <= 'z')
    ++end;
  return text.substr(0, end);
}

/// Removes blanks and the commas of well-formed thousands groups ("12,345.60 CNY"), as
/// format_money prints; other commas stay and make the number unreadable.
std::string without_groups(std::string_view text) {
  std::string plain;
  const std::size_t first = text.find(',');
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] != ',') {
      plain.push_back(text[i]);
      continue;
    }
    const std::size_t next = std::min(text.find_first_not_of("0123456789", i + 1), text.size());
    if (first == 0 || first > 3 || next - i != 4) return std::string(text);
  }
  return plain;
}

bool is_currency(std::string_view word) { return word.size() == 3 && leading_word(word) == word; }

std::string to_upper(std::string_view text) {
  std::string upper = units::to_lower(text);
  for (char& c : upper) c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

/// Splits "50kCNY" into factor 1000 and "CNY".
std::optional<Money> money_of(double value, std::string_view word) {
  double factor = 1;
  if (word.size() == 4) {
    const char letter = units::to_lower(word.front());
    if (letter != 'k' && letter != 'm') return std::nullopt;
    factor = letter == 'k' ? 1e3 : 1e6;
    word.remove_prefix(1);
  }
  if (!is_currency(word) || !std::isfinite(value * factor)) return std::nullopt;
  return Money{value * factor, to_upper(word)};
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text, std::string_view where) {
  const Scan scan = units::scan_number(units::trim(text));
  if (scan.status != ScanStatus::ok)
    return tl::unexpected(not_accepted(text, where, scan.status, "a size", kByteForms));
  const auto factor = scan.rest.empty() ? std::optional<double>(1.0) : byte_factor(scan.rest);
  if (!factor)
    return tl::unexpected(not_accepted(text, where, ScanStatus::ok, "a size", kByteForms));
  const Bytes bytes(scan.value * *factor);
  if (!std::isfinite(bytes.value))
    return tl::unexpected(
        not_accepted(text, where, ScanStatus::out_of_range, "a size", kByteForms));
  return bytes;
}

Result<Bandwidth> parse_bandwidth(std::string_view text, std::string_view where) {
  const Scan scan = units::scan_number(units::trim(text));
  if (scan.status != ScanStatus::ok)
    return tl::unexpected(not_accepted(text, where, scan.status, "a bandwidth", kBandwidthForms));
  const auto factor = bandwidth_factor(scan.rest);
  if (!factor)
    return tl::unexpected(
        not_accepted(text, where, ScanStatus::ok, "a bandwidth", kBandwidthForms));
  const Bandwidth rate(scan.value * *factor);
  if (!std::isfinite(rate.value))
    return tl::unexpected(
        not_accepted(text, where, ScanStatus::out_of_range, "a bandwidth", kBandwidthForms));
  return rate;
}

Result<Seconds> parse_duration(std::string_view text, std::string_view where) {
  std::string_view rest = units::trim(text);
  double total = 0;
  double smallest = std::numeric_limits<double>::infinity();
  do {
    const Scan scan = units::scan_number(rest);
    if (scan.status != ScanStatus::ok)
      return tl::unexpected(not_accepted(text, where, scan.status, "a duration", kDurationForms));
    const std::string_view unit = leading_word(scan.rest);
    const auto factor = duration_factor(unit);
    // Parts must fall in size: "1h30m" is clear, "30m1h" and "1h2h" are slips.
    if (!factor || *factor >= smallest)
      return tl::unexpected(
          not_accepted(text, where, ScanStatus::ok, "a duration", kDurationForms));
    smallest = *factor;
    total += scan.value * *factor;
    rest = units::trim(scan.rest.substr(unit.size()));
  } while (!rest.empty());
  if (!std::isfinite(total))
    return tl::unexpected(
        not_accepted(text, where, ScanStatus::out_of_range, "a duration", kDurationForms));
  return Seconds(total);
}

Result<Money> parse_money(std::string_view text, std::string_view where) {
  const std::string plain = without_groups(units::trim(text));
  std::string_view body = plain;
  std::string_view currency = leading_word(body);  // "CNY 3000"
  if (!currency.empty()) body = units::trim(body.substr(currency.size()));
  const Scan scan = units::scan_number(body);
  if (scan.status != ScanStatus::ok)
    return tl::unexpected(
        not_accepted(text, where, scan.status, "an amount of money", kMoneyForms));
  const bool leading = !currency.empty();
  if (!leading) currency = scan.rest;
  const auto money = leading && !scan.rest.empty() ? std::nullopt : money_of(scan.value, currency);
  if (!money)
    return tl::unexpected(not_accepted(text, where, ScanStatus::ok,
                                       "an amount of money with its currency", kMoneyForms));
  return *money;
}

}  // namespace gpuadvisor
