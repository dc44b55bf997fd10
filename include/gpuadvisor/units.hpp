// What a quantity is: strong types for bytes, rates, times and money, how they
// are parsed from what people write ("80GiB", "1.5T", "12h") and printed, and
// the one error type of the whole library.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace gpuadvisor {

/// Why something was refused; decides the exit status of the command line.
enum class ErrorCode : std::uint8_t {
  usage,     ///< the command line or a request is wrong: exit status 2
  input,     ///< a file, catalog or standard input is unreadable or invalid: 3
  internal,  ///< a fault of the program itself: 4
};

/// One clear error: what happened, where, and what to do about it.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  ///< what is wrong and what was expected; lower case, no full stop
  std::string where;    ///< flag, file and JSON path, or empty
  std::string hint;     ///< what to do next, or empty
};

template <class T>
using Result = tl::expected<T, Error>;

/// Shorthand to return an error from a function that returns Result<T>.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {},
                                  std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where), std::move(hint)});
}

/// A number with its unit in the type; arithmetic only within one unit.
/// The value is a double in the base unit: exact for integers up to 2^53.
template <class Tag>
struct Quantity {
  double value = 0.0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value(v) {}
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator+(Quantity other) const { return Quantity(value + other.value); }
  constexpr Quantity operator-(Quantity other) const { return Quantity(value - other.value); }
  constexpr Quantity operator*(double factor) const { return Quantity(value * factor); }
  constexpr Quantity operator/(double divisor) const { return Quantity(value / divisor); }
  constexpr double operator/(Quantity other) const { return value / other.value; }
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
};

using Bytes = Quantity<struct BytesTag>;          ///< bytes
using FlopCount = Quantity<struct FlopCountTag>;  ///< floating-point operations
using FlopRate = Quantity<struct FlopRateTag>;    ///< operations a second
using Bandwidth = Quantity<struct BandwidthTag>;  ///< bytes a second
using Seconds = Quantity<struct SecondsTag>;      ///< seconds

constexpr Seconds operator/(Bytes bytes, Bandwidth rate) {
  return Seconds(bytes.value / rate.value);
}
constexpr Seconds operator/(FlopCount flops, FlopRate rate) {
  return Seconds(flops.value / rate.value);
}
constexpr Bytes operator*(Bandwidth rate, Seconds time) { return Bytes(rate.value * time.value); }
constexpr FlopCount operator*(FlopRate rate, Seconds time) {
  return FlopCount(rate.value * time.value);
}

inline constexpr double kKiB = 1024.0;
inline constexpr double kMiB = 1024.0 * kKiB;
inline constexpr double kGiB = 1024.0 * kMiB;
inline constexpr double kTiB = 1024.0 * kGiB;
inline constexpr double kGB = 1e9;

/// An amount in one currency (ISO 4217 code, three capital letters).
struct Money {
  double amount = 0.0;
  std::string currency = "CNY";
  bool operator==(const Money&) const = default;
};

// --- parsing -----------------------------------------------------------------
// All parsers use the decimal point in every locale, take the whole text (blanks
// around it are ignored), and refuse NaN, infinities, negative values, overflow
// and nonsense with a message that lists the accepted forms. `where` names the
// flag or JSON path for the message.

/// A plain count: "70B", "1.5T", "8e9", "7_000_000_000", "512". Suffixes K, M, B
/// (or G), T, P are powers of 1000. Result in [min, max], not rounded.
[[nodiscard]] Result<double> parse_count(std::string_view text, std::string_view where,
                                         double min = 0.0, double max = 1e18);

/// A whole number without suffix or with a suffix of parse_count that gives one.
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view text, std::string_view where,
                                                 std::int64_t min, std::int64_t max);

/// A plain decimal number ("0.9", "1e-3").
[[nodiscard]] Result<double> parse_number(std::string_view text, std::string_view where, double min,
                                          double max);

/// "80GiB" (2^30), "80GB" (10^9), "512MiB", "1e9", "1.5TB", "100B" (bytes).
[[nodiscard]] Result<Bytes> parse_bytes(std::string_view text, std::string_view where);

/// "400Gbit/s", "50GB/s", "25Gbps", "1.5TB/s".
[[nodiscard]] Result<Bandwidth> parse_bandwidth(std::string_view text, std::string_view where);

/// "12h", "3d", "90min", "30s", "500ms", "1h30m"; a bare number is refused.
[[nodiscard]] Result<Seconds> parse_duration(std::string_view text, std::string_view where);

/// "3000 CNY", "50000CNY", "12.5USD"; the currency is required.
[[nodiscard]] Result<Money> parse_money(std::string_view text, std::string_view where);

/// "2026-11-30": checked against the calendar; returned unchanged.
[[nodiscard]] Result<std::string> parse_date(std::string_view text, std::string_view where);

// --- printing ----------------------------------------------------------------
// Locale-free, deterministic, no trailing zeros beyond the stated digits.

[[nodiscard]] std::string format_count(double value);               ///< 70.55e9 -> "70.6B"
[[nodiscard]] std::string format_bytes(Bytes value);                ///< "74.3 GiB"
[[nodiscard]] std::string format_duration(Seconds value);           ///< "1.25 s", "3.4 h", "12.1 d"
[[nodiscard]] std::string format_money(const Money& value);         ///< "12,345.60 CNY"
[[nodiscard]] std::string format_number(double value, int digits);  ///< fixed digits, -0 -> 0
[[nodiscard]] std::string format_integer(std::int64_t value);       ///< "1,234,567"

/// Days between two checked dates, `to - from`.
[[nodiscard]] int days_between(std::string_view from, std::string_view to);

// --- names -------------------------------------------------------------------

/// Damerau-Levenshtein distance of two names, letter case ignored.
[[nodiscard]] int edit_distance(std::string_view left, std::string_view right);

/// The candidates nearest to `name` (distance at most max(2, length / 4), or one
/// contains the other), best first, at most `limit`; ties in candidate order.
[[nodiscard]] std::vector<std::string> suggest_names(std::string_view name,
                                                     std::span<const std::string_view> candidates,
                                                     std::size_t limit = 3);

}  // namespace gpuadvisor
