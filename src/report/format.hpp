// Short forms of values in tables, and raw forms in CSV.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpuadvisor::report {

/// Shortest decimal form that reads back as the same number; "" when not finite.
[[nodiscard]] std::string raw_number(double value);
[[nodiscard]] std::string raw_number(const std::optional<double>& value);

/// Three significant digits with thousands separators: "1,234", "12.3", "0.123".
[[nodiscard]] std::string short_number(double value);
/// "12.3%".
[[nodiscard]] std::string percent(double share);
/// "12.3 +-8%" when the band is known.
[[nodiscard]] std::string with_band(const std::string& value, const std::optional<double>& band);
/// "########.." of ten characters for used / usable.
[[nodiscard]] std::string bar(double used, double usable);
/// Gibibytes with one digit.
[[nodiscard]] std::string gib(double bytes);

}  // namespace gpuadvisor::report
