#include "report/text.hpp"

#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>
#endif

using namespace gpuadvisor::report;

TEST_CASE("wide characters count two columns") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xe4\xb8\x8a\xe6\xb5\xb7") == 4);  // two Chinese characters
  CHECK(display_width("e\xcc\x81") == 1);                 // e and a combining accent
  CHECK(display_width("\xf0\xa0\x80\x80") == 2);          // a character beyond 16 bits
  CHECK(display_width("\xff") == 1);                      // no UTF-8
  CHECK(pad_right("\xe4\xb8\x8a", 4) == "\xe4\xb8\x8a  ");
  CHECK(pad_left("ab", 4) == "  ab");
  CHECK(pad_left("abcde", 4) == "abcde");
}

TEST_CASE("text is cut by columns, not by bytes") {
  CHECK(truncate_to_width("abcdef", 6) == "abcdef");
  CHECK(truncate_to_width("abcdefg", 6) == "abc...");
  CHECK(truncate_to_width("\xe4\xb8\x8a\xe6\xb5\xb7\xe4\xb8\x8a\xe6\xb5\xb7", 6) ==
        "\xe4\xb8\x8a...");
}

TEST_CASE("lines break between words and keep their indent") {
  CHECK(wrap("- ", "one two three", 9) == "- one two\n  three\n");
  CHECK(wrap("- ", "one two three", 0) == "- one two three\n");
  CHECK(wrap("", "averylongword b", 4) == "averylongword\nb\n");
  CHECK(wrap("a  b  ", "c", 80) == "a  b  c\n");
  CHECK(wrap("  ", "", 80) == "\n");
}

#if __has_include(<rapidcheck.h>)
TEST_CASE("any bytes can be measured, cut and wrapped") {
  CHECK(rc::check("cut text is no wider than asked", [](const std::string& text) {
    const auto width = *rc::gen::inRange<std::size_t>(0, 40);
    RC_ASSERT(display_width(truncate_to_width(text, width)) <= width);
    (void)wrap("  ", text, width);
  }));
}
#endif
