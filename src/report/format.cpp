#include "report/format.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::report {

std::string raw_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string raw_number(const std::optional<double>& value) {
  return value ? raw_number(*value) : std::string();
}

std::string short_number(double value) {
  const double magnitude = std::fabs(value);
  if (!std::isfinite(value)) return "?";
  if (magnitude >= 99.95) return format_integer(std::llround(std::clamp(value, -9e18, 9e18)));
  return format_number(value, magnitude >= 9.995 ? 1 : magnitude >= 0.9995 ? 2 : 3);
}

std::string percent(double share) { return format_number(share * 100, 1) + "%"; }

std::string with_band(const std::string& value, const std::optional<double>& band) {
  return band ? fmt::format("{} +-{}%", value, format_number(*band * 100, 0)) : value;
}

std::string bar(double used, double usable) {
  constexpr int kCells = 10;
  const double share = usable > 0 ? std::clamp(used / usable, 0.0, 1.0) : 0.0;
  const auto filled = static_cast<std::size_t>(std::lround(share * kCells));
  return std::string(filled, '#') + std::string(kCells - filled, '.');
}

std::string gib(double bytes) { return format_number(bytes / kGiB, 1); }

}  // namespace gpuadvisor::report
