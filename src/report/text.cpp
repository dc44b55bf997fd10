#include "report/text.hpp"

#include <array>
#include <cstdint>

namespace gpuadvisor::report {
namespace {

struct CodePoint {
  std::uint32_t value;
  std::size_t length;
};

/// The character at the start of `text`; a byte that is no UTF-8 counts as itself.
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80    ? 1
                             : lead >= 0xf0 ? 4
                             : lead >= 0xe0 ? 3
                             : lead >= 0xc0 ? 2
                                            : 1;
  if (length == 1 || length > text.size()) return {lead, 1};
  std::uint32_t value = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {lead, 1};
    value = (value << 6u) | (byte(i) & 0x3fu);
  }
  return {value, length};
}

struct Range {
  std::uint32_t first, last;
};

/// Blocks of East Asian wide and fullwidth characters (Unicode UAX 11).
constexpr std::array<Range, 10> kWide = {{{0x1100, 0x115f},
                                          {0x2e80, 0x303e},
                                          {0x3041, 0x33ff},
                                          {0x3400, 0x4dbf},
                                          {0x4e00, 0x9fff},
                                          {0xa000, 0xa4cf},
                                          {0xac00, 0xd7a3},
                                          {0xf900, 0xfaff},
                                          {0xff00, 0xff60},
                                          {0x20000, 0x3fffd}}};
constexpr std::array<Range, 3> kCombining = {{{0x300, 0x36f}, {0x200b, 0x200f}, {0xfe00, 0xfe0f}}};

template <std::size_t N>
bool in_ranges(const std::array<Range, N>& ranges, std::uint32_t value) {
  for (const Range& range : ranges)
    if (value >= range.first && value <= range.last) return true;
  return false;
}

std::size_t width_of(std::uint32_t value) {
  if (in_ranges(kCombining, value)) return 0;
  return in_ranges(kWide, value) ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    width += width_of(point.value);
    text.remove_prefix(point.length);
  }
  return width;
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  std::string padded(text);
  if (used < width) padded.append(width - used, ' ');
  return padded;
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  std::string padded(used < width ? width - used : 0, ' ');
  padded.append(text);
  return padded;
}

std::string truncate_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  constexpr std::string_view kMark = "...";
  const std::size_t room = width > kMark.size() ? width - kMark.size() : 0;
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint point = first_code_point(text.substr(bytes));
    if (used + width_of(point.value) > room) break;
    used += width_of(point.value);
    bytes += point.length;
  }
  return std::string(text.substr(0, bytes)) + std::string(kMark.substr(0, width));
}

std::string wrap(std::string_view prefix, std::string_view text, std::size_t columns) {
  const std::size_t indent = display_width(prefix);
  std::string wrapped(prefix);
  std::size_t used = indent;
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t width = display_width(word);
    if (columns > 0 && !line_is_empty && used + 1 + width > columns) {
      wrapped += '\n';
      wrapped.append(indent, ' ');
      used = indent;
    } else if (!line_is_empty) {
      wrapped += ' ';
      ++used;
    }
    wrapped += word;
    used += width;
    line_is_empty = false;
  }
  while (!wrapped.empty() && wrapped.back() == ' ') wrapped.pop_back();
  wrapped += '\n';
  return wrapped;
}

}  // namespace gpuadvisor::report
