#include <cmath>
#include <limits>

#include "gpuadvisor/units.hpp"
#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>
#endif

using namespace gpuadvisor;

TEST_CASE("fixed digits round half away from zero in decimal") {
  CHECK(format_number(0.25, 1) == "0.3");
  CHECK(format_number(1.005, 2) == "1.01");
  CHECK(format_number(-0.04, 1) == "0.0");
  CHECK(format_number(-0.05, 1) == "-0.1");
  CHECK(format_number(9.99, 1) == "10.0");
  CHECK(format_number(999.5, 0) == "1000");
  CHECK(format_number(1e16, 0) == "10000000000000000");
  CHECK(format_number(0, 2) == "0.00");
  CHECK(format_number(std::numeric_limits<double>::quiet_NaN(), 2) == "?");
}

TEST_CASE("counts print with one digit at most") {
  CHECK(format_count(70.55e9) == "70.6B");
  CHECK(format_count(70e9) == "70B");
  CHECK(format_count(1.5e12) == "1.5T");
  CHECK(format_count(512) == "512");
  CHECK(format_count(999.96e6) == "1B");
  CHECK(format_count(999.94e6) == "999.9M");
  CHECK(format_count(0) == "0");
}

TEST_CASE("sizes print in binary units") {
  CHECK(format_bytes(Bytes(74.3 * kGiB)) == "74.3 GiB");
  CHECK(format_bytes(Bytes(512)) == "512 B");
  CHECK(format_bytes(Bytes(1.5 * kGiB)) == "1.50 GiB");
  // 16 bytes x 70.55e9 parameters = 1128.8e9 B = 1.0266 TiB
  CHECK(format_bytes(Bytes(16 * 70.55e9)) == "1.03 TiB");
  CHECK(format_bytes(Bytes(1023.99 * kGiB)) == "1.00 TiB");
  CHECK(format_bytes(Bytes(2048 * kTiB)) == "2.00 PiB");
}

TEST_CASE("durations choose a readable unit") {
  CHECK(format_duration(Seconds(1.25)) == "1.25 s");
  CHECK(format_duration(Seconds(3.4 * 3600)) == "3.40 h");
  CHECK(format_duration(Seconds(12.1 * 86400)) == "12.1 d");
  CHECK(format_duration(Seconds(0.2504)) == "250.4 ms");
  CHECK(format_duration(Seconds(5e-5)) == "50.0 us");
  CHECK(format_duration(Seconds(600)) == "10.0 min");
  CHECK(format_duration(Seconds(86400.0 * 5000)) == "5000 d");
  CHECK(format_duration(Seconds(std::numeric_limits<double>::infinity())) == "?");
}

TEST_CASE("money and integers group thousands") {
  CHECK(format_money({12345.6, "CNY"}) == "12,345.60 CNY");
  CHECK(format_money({0.005, "USD"}) == "0.01 USD");
  CHECK(format_money({-1234567, "CNY"}) == "-1,234,567.00 CNY");
  CHECK(format_integer(1234567) == "1,234,567");
  CHECK(format_integer(-999) == "-999");
  CHECK(format_integer(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
}

#if __has_include(<rapidcheck.h>)
TEST_CASE("parsing what was printed gives the value back") {
  CHECK(rc::check("counts and sizes within half of the last digit", [] {
    const double value = std::pow(10.0, *rc::gen::inRange(0, 170) / 10.0);
    const double count = *parse_count(format_count(value), "x", 0, 1e19);
    RC_ASSERT(std::fabs(count - value) <= 0.0501 * value);
    const double bytes = parse_bytes(format_bytes(Bytes(value)), "x")->value;
    RC_ASSERT(std::fabs(bytes - value) <= 0.5 + 0.0051 * value);
    const double time = parse_duration(format_duration(Seconds(value)), "x")->value;
    RC_ASSERT(std::fabs(time - value) <= 0.0051 * value);
  }));
  CHECK(rc::check("money to the cent", [] {
    const auto cents = static_cast<double>(*rc::gen::inRange<std::int64_t>(0, 100000000000));
    RC_ASSERT(parse_money(format_money({cents / 100, "CNY"}), "x")->amount == cents / 100);
  }));
  CHECK(rc::check("any text is parsed or refused", [](const std::string& text) {
    (void)parse_count(text, "x");
    (void)parse_bytes(text, "x");
    (void)parse_bandwidth(text, "x");
    (void)parse_duration(text, "x");
    (void)parse_money(text, "x");
    (void)parse_date(text, "x");
  }));
}
#endif
