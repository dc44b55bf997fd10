// Quantities of the catalog files: text with a unit, such as "80 GB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuadvisor::catalog {

enum class Dimension : std::uint8_t { bytes, bandwidth, rate, power, time };

/// The value in the base unit (bytes, bytes/s, operations/s, W, s), or nothing when
/// the text is not a finite non-negative number followed by a unit of `dimension`.
std::optional<double> parse_quantity(std::string_view text, Dimension dimension);

/// What parse_quantity takes: `a quantity with unit such as "80 GB" (B, KB, ...)`.
std::string expected_quantity(Dimension dimension);

}  // namespace gpuadvisor::catalog
