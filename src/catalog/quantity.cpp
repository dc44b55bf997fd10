#include "catalog/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::catalog {
namespace {

struct Unit {
  Dimension dimension;
  std::string_view name;
  double factor;
};

constexpr std::array kUnits{
    Unit{Dimension::bytes, "B", 1},
    Unit{Dimension::bytes, "KB", 1e3},
    Unit{Dimension::bytes, "MB", 1e6},
    Unit{Dimension::bytes, "GB", 1e9},
    Unit{Dimension::bytes, "TB", 1e12},
    Unit{Dimension::bytes, "KiB", kKiB},
    Unit{Dimension::bytes, "MiB", kMiB},
    Unit{Dimension::bytes, "GiB", kGiB},
    Unit{Dimension::bytes, "TiB", kTiB},
    Unit{Dimension::bandwidth, "MB/s", 1e6},
    Unit{Dimension::bandwidth, "GB/s", 1e9},
    Unit{Dimension::bandwidth, "TB/s", 1e12},
    Unit{Dimension::bandwidth, "Mbit/s", 1e6 / 8},
    Unit{Dimension::bandwidth, "Gbit/s", 1e9 / 8},
    Unit{Dimension::bandwidth, "Tbit/s", 1e12 / 8},
    Unit{Dimension::rate, "GFLOPS", 1e9},
    Unit{Dimension::rate, "TFLOPS", 1e12},
    Unit{Dimension::rate, "PFLOPS", 1e15},
    Unit{Dimension::rate, "TOPS", 1e12},
    Unit{Dimension::power, "W", 1},
    Unit{Dimension::power, "kW", 1e3},
    Unit{Dimension::time, "us", 1e-6},
    Unit{Dimension::time, "ms", 1e-3},
    Unit{Dimension::time, "s", 1},
};

constexpr std::array<std::string_view, 5> kExamples{"80 GB", "400 Gbit/s", "312 TFLOPS", "400 W",
                                                    "20 us"};

std::optional<double> factor_of(std::string_view unit, Dimension dimension) {
  for (const Unit& known : kUnits)
    if (known.dimension == dimension && known.name == unit) return known.factor;
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_quantity(std::string_view text, Dimension dimension) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc{} || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto factor = factor_of(unit, dimension);
  if (!factor || number > 1e18) return std::nullopt;
  return number * *factor;
}

std::string expected_quantity(Dimension dimension) {
  std::string text = "a quantity with unit such as \"";
  text += kExamples[static_cast<std::size_t>(dimension)];
  text += "\" (units: ";
  std::string_view separator;
  for (const Unit& known : kUnits) {
    if (known.dimension != dimension) continue;
    text += separator;
    text += known.name;
    separator = ", ";
  }
  return text + ")";
}

}  // namespace gpuadvisor::catalog
