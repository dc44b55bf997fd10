// Text in columns of a terminal: UTF-8, wide characters count two.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuadvisor::report {

/// Terminal columns of a UTF-8 text. Combining marks count 0, East Asian wide
/// characters 2, a broken byte 1.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` with blanks up to `width` columns, on the right or on the left.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

/// The longest start of `text` of at most `width` columns, marked with "..." when cut.
[[nodiscard]] std::string truncate_to_width(std::string_view text, std::size_t width);

/// `prefix` (kept as it is) and the words of `text` in lines of at most `columns` (0:
/// one line); each later line starts with as many blanks as `prefix` is wide. Ends with
/// a line break. Words longer than a line stay whole.
[[nodiscard]] std::string wrap(std::string_view prefix, std::string_view text, std::size_t columns);

}  // namespace gpuadvisor::report
