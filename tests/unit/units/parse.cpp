#include <limits>
#include <string>
#include <vector>

#include "gpuadvisor/units.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;

TEST_CASE("counts take decimal suffixes of any case") {
  CHECK(*parse_count("70B", "--params") == 70e9);
  CHECK(*parse_count("1.5T", "--params") == 1.5e12);
  CHECK(*parse_count("8e9", "--params") == 8e9);
  CHECK(*parse_count("7_000_000_000", "--params") == 7e9);
  CHECK(*parse_count(" 512 ", "--params") == 512);
  CHECK(*parse_count("7b", "--params") == 7e9);
  CHECK(*parse_count("0.5 B", "--params") == 5e8);
  CHECK(*parse_count("1e16", "--params", 1, 1e16) == 1e16);
}

TEST_CASE("counts refuse nonsense and name the accepted forms") {
  const std::vector<std::string> bad = {"",      "70Q",   "-1",  "nan",  "inf", "-inf",
                                        "1e999", "0x10",  "B",   "7__0", "_7",  "7_",
                                        "1,5B",  "1.2.3", "+7B", "70BB", "1e",  "."};
  for (const auto& text : bad) {
    INFO(text);
    const auto value = parse_count(text, "--params");
    REQUIRE_FALSE(value);
    CHECK(value.error().code == ErrorCode::usage);
    CHECK(value.error().where == "--params");
    CHECK_THAT(value.error().message, ContainsSubstring("70B"));
  }
  CHECK_THAT(parse_count("-1", "--params").error().message, ContainsSubstring("negative"));
  CHECK_THAT(parse_count("2e16", "--params", 1, 1e16).error().message,
             ContainsSubstring("1 to 1e+16"));
}

TEST_CASE("integers are exact and keep their range") {
  CHECK(*parse_integer("010", "--tp", 1, 64) == 10);  // decimal, not octal
  CHECK(*parse_integer("4K", "--seq-len", 1, 1000000) == 4000);
  CHECK(*parse_integer("1e2", "--tp", 1, 1000) == 100);
  CHECK(*parse_integer("9007199254740993", "--tokens", 0,
                       std::numeric_limits<std::int64_t>::max()) == 9007199254740993);
  for (const std::string text :
       {"1.5", "-1", "0", "65", "9223372036854775808", "1e30", "x", "", "0x10"}) {
    INFO(text);
    CHECK_FALSE(parse_integer(text, "--tp", 1, 64));
  }
  CHECK(*parse_integer("-3", "x", -5, 5) == -3);
}

TEST_CASE("plain numbers keep their range and refuse units") {
  CHECK(*parse_number("0.9", "--x", 0, 1) == 0.9);
  CHECK(*parse_number("1e-3", "--x", 0, 1) == 1e-3);
  CHECK(*parse_number("-0.5", "--x", -1, 1) == -0.5);
  for (const std::string text : {"1.1", "-0.1", "nan", "inf", "0.9x", "0,9", ""}) {
    INFO(text);
    CHECK_FALSE(parse_number(text, "--x", 0, 1));
  }
}

TEST_CASE("sizes tell binary from decimal prefixes") {
  CHECK(parse_bytes("80GiB", "x")->value == 80.0 * 1073741824.0);
  CHECK(parse_bytes("80GB", "x")->value == 80e9);
  CHECK(parse_bytes("512 MiB", "x")->value == 512.0 * 1048576.0);
  CHECK(parse_bytes("1e9", "x")->value == 1e9);
  CHECK(parse_bytes("1.5TB", "x")->value == 1.5e12);
  CHECK(parse_bytes("100B", "x")->value == 100);
  CHECK(parse_bytes("80gib", "x")->value == 80.0 * 1073741824.0);
  for (const std::string text :
       {"80G", "80Gb", "80Gbit", "-1GB", "1e300PiB1", "GiB", "80 GiB x", "nanGiB"}) {
    INFO(text);
    const auto value = parse_bytes(text, "--min-headroom");
    REQUIRE_FALSE(value);
    CHECK_THAT(value.error().message, ContainsSubstring("80GiB"));
  }
  CHECK_FALSE(parse_bytes("1e308TB", "x"));  // overflows to infinity
}

TEST_CASE("bandwidths tell bits from bytes") {
  CHECK(parse_bandwidth("400Gbit/s", "x")->value == 50e9);
  CHECK(parse_bandwidth("25Gbps", "x")->value == 3.125e9);
  CHECK(parse_bandwidth("8Gb/s", "x")->value == 1e9);
  CHECK(parse_bandwidth("50GB/s", "x")->value == 50e9);
  CHECK(parse_bandwidth("1.5 TB/s", "x")->value == 1.5e12);
  CHECK(parse_bandwidth("1GiB/s", "x")->value == 1073741824.0);
  for (const std::string text : {"400", "400G", "400Gbit", "-1GB/s", "1XB/s", "GB/s"}) {
    INFO(text);
    CHECK_FALSE(parse_bandwidth(text, "--network"));
  }
}

TEST_CASE("durations need a unit and may be joined") {
  CHECK(parse_duration("12h", "x")->value == 12 * 3600.0);
  CHECK(parse_duration("3d", "x")->value == 3 * 86400.0);
  CHECK(parse_duration("90min", "x")->value == 5400);
  CHECK(parse_duration("30s", "x")->value == 30);
  CHECK(parse_duration("500ms", "x")->value == 0.5);
  CHECK(parse_duration("1h30m", "x")->value == 5400);
  CHECK(parse_duration("1.5 h", "x")->value == 5400);
  CHECK(parse_duration("1d 2h", "x")->value == 93600);
  for (const std::string text :
       {"12", "h", "-3h", "30m1h", "1h1h", "1h30", "12 parsecs", "infh", "1e308d1h"}) {
    INFO(text);
    const auto value = parse_duration(text, "--deadline");
    REQUIRE_FALSE(value);
    CHECK_THAT(value.error().message, ContainsSubstring("12h"));
  }
}

TEST_CASE("money needs its currency") {
  CHECK(*parse_money("3000 CNY", "x") == Money{3000, "CNY"});
  CHECK(*parse_money("50000CNY", "x") == Money{50000, "CNY"});
  CHECK(*parse_money("12.5usd", "x") == Money{12.5, "USD"});
  CHECK(*parse_money("CNY 3000", "x") == Money{3000, "CNY"});
  CHECK(*parse_money("50k CNY", "x") == Money{50000, "CNY"});
  CHECK(*parse_money("12,345.60 CNY", "x") == Money{12345.6, "CNY"});
  for (const std::string text :
       {"3000", "-5 CNY", "CNY", "1,5 CNY", "3000 yuan", "12,34 CNY", "USD 3 CNY", "nan CNY"}) {
    INFO(text);
    const auto value = parse_money(text, "--budget");
    REQUIRE_FALSE(value);
    CHECK_THAT(value.error().message, ContainsSubstring("3000 CNY"));
  }
}

TEST_CASE("dates are checked against the calendar") {
  CHECK(*parse_date("2026-11-30", "x") == "2026-11-30");
  CHECK(*parse_date("2024-02-29", "x") == "2024-02-29");
  for (const std::string text : {"2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "30.11.2026",
                                 "", "2026-11-31", "2026/11/30"}) {
    INFO(text);
    CHECK_FALSE(parse_date(text, "--as-of"));
  }
  // 2024 is a leap year: 366 days to 2025-01-01; February has 29 days.
  CHECK(days_between("2024-01-01", "2025-01-01") == 366);
  CHECK(days_between("2024-02-28", "2024-03-01") == 2);
  CHECK(days_between("2026-11-30", "2026-11-30") == 0);
  CHECK(days_between("2026-11-30", "2026-10-31") == -30);
  CHECK(days_between("1970-01-01", "2000-01-01") == 10957);
}

TEST_CASE("messages show odd bytes and long texts safely") {
  const auto odd = parse_count("7\n\x1b[31mB", "--params");
  REQUIRE_FALSE(odd);
  CHECK(odd.error().message.find('\x1b') == std::string::npos);
  CHECK(odd.error().message.find('\n') == std::string::npos);
  CHECK(parse_count(std::string(100000, 'x'), "--params").error().message.size() < 200);
}
