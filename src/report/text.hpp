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

/// `text` in lines of at most `columns` (0: one line), each later line indented by
/// `indent` blanks; ends with a line break. Words longer than a line stay whole.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace gpuadvisor::report
