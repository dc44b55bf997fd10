// Numbers for people: rounded half away from zero on their shortest decimal form
// (70.55 prints as 70.6, though its binary value lies below), in every locale alike.
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor {
namespace {

/// Adds one to the last digit of a decimal text, carrying over the point.
void increment(std::string& text) {
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == '.') continue;
    if (text[i] != '9') {
      ++text[i];
      return;
    }
    text[i] = '0';
  }
  text.insert(text.begin(), '1');
}

/// |value| in plain decimal notation, shortest digits that give it back.
std::string shortest_fixed(double value) {
  std::array<char, 400> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                 std::chars_format::fixed);
  return std::string(buffer.data(), end.ptr);
}

std::string rounded(double value, std::size_t digits) {
  std::string text = shortest_fixed(value);
  if (text.find('.') == std::string::npos) text += '.';
  const std::size_t keep = text.find('.') + 1 + digits;
  if (text.size() <= keep) {
    text.resize(keep, '0');
  } else {
    const bool up = text[keep] >= '5';
    text.resize(keep);
    if (up) increment(text);
  }
  if (digits == 0) text.pop_back();
  return text;
}

void trim_zeros(std::string& text) {
  if (text.find('.') == std::string::npos) return;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
}

std::string grouped(std::string digits) {
  const std::size_t whole = std::min(digits.find('.'), digits.size());
  for (std::size_t i = whole; i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

struct Scale {
  double factor;
  std::string_view unit;
};

/// The largest scale in which the rounded value is at least 1.
template <std::size_t N>
const Scale& scale_of(const std::array<Scale, N>& scales, double value, double half_step) {
  for (const Scale& scale : scales)
    if (value >= scale.factor * (1 - half_step)) return scale;
  return scales.back();
}

}  // namespace

std::string format_number(double value, int digits) {
  if (!std::isfinite(value)) return "?";
  const std::string text = rounded(value, static_cast<std::size_t>(std::max(digits, 0)));
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return fmt::format("{}{}", std::signbit(value) && !zero ? "-" : "", text);
}

std::string format_integer(std::int64_t value) {
  // The magnitude as unsigned, for the most negative number has no positive twin.
  const auto bits = static_cast<std::uint64_t>(value);
  const std::string digits = grouped(fmt::format("{}", value < 0 ? 0 - bits : bits));
  return fmt::format("{}{}", value < 0 ? "-" : "", digits);
}

std::string format_count(double value) {
  constexpr std::array<Scale, 6> kScales = {
      {{1e15, "P"}, {1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}, {1, ""}}};
  // Half of the last digit shown (0.05 of 1000) already carries to the next scale.
  const Scale& scale = scale_of(kScales, std::fabs(value), 0.05 / 1000);
  std::string text = format_number(value / scale.factor, 1);
  trim_zeros(text);
  return text + std::string(scale.unit);
}

std::string format_bytes(Bytes bytes) {
  constexpr std::array<Scale, 6> kScales = {
      {{kGiB * kMiB, "PiB"}, {kTiB, "TiB"}, {kGiB, "GiB"}, {kMiB, "MiB"}, {kKiB, "KiB"}, {1, "B"}}};
  const Scale& scale = scale_of(kScales, std::fabs(bytes.value), 0.05 / 1024);
  const double value = bytes.value / scale.factor;
  const int digits = scale.factor == 1 ? 0 : (std::fabs(value) < 9.995 ? 2 : 1);
  return fmt::format("{} {}", format_number(value, digits), scale.unit);
}

std::string format_duration(Seconds time) {
  struct Step {
    double below;
    Scale scale;
  };
  constexpr std::array<Step, 6> kSteps = {
      {{9.995e-4, {1e-6, "us"}},
       {0.9995, {1e-3, "ms"}},
       {119.95, {1, "s"}},
       {7197, {60, "min"}},
       {72 * 3600.0, {3600, "h"}},
       {std::numeric_limits<double>::infinity(), {86400, "d"}}}};
  const double magnitude = std::fabs(time.value);
  for (const Step& step : kSteps) {
    if (magnitude >= step.below) continue;
    const double value = time.value / step.scale.factor;
    const int digits = std::fabs(value) < 9.995 ? 2 : (std::fabs(value) < 999.5 ? 1 : 0);
    return fmt::format("{} {}", format_number(value, digits), step.scale.unit);
  }
  return "?";
}

std::string format_money(const Money& money) {
  const std::string amount = format_number(money.amount, 2);
  const bool minus = !amount.empty() && amount.front() == '-';
  return fmt::format("{}{} {}", minus ? "-" : "", grouped(amount.substr(minus ? 1 : 0)),
                     money.currency);
}

}  // namespace gpuadvisor
