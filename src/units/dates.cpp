// Calendar dates as text, YYYY-MM-DD; no clock is ever read.
#include <array>

#include "gpuadvisor/units.hpp"
#include "units/scan.hpp"

namespace gpuadvisor {
namespace {

struct Date {
  int year = 0, month = 0, day = 0;
};

int two_digits(std::string_view text) { return (text[0] - '0') * 10 + (text[1] - '0'); }

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_of_month(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

std::optional<Date> read_date(std::string_view text) {
  if (text.size() != 10) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : (text[i] < '0' || text[i] > '9')) return std::nullopt;
  }
  const Date date{two_digits(text) * 100 + two_digits(text.substr(2)), two_digits(text.substr(5)),
                  two_digits(text.substr(8))};
  if (date.year < 1 || date.month < 1 || date.month > 12 || date.day < 1 ||
      date.day > days_of_month(date.year, date.month))
    return std::nullopt;
  return date;
}

/// Days from 0000-03-01 of the proleptic Gregorian calendar, years counted from
/// March so that the leap day ends a year.
int day_number(const Date& date) {
  const int year = date.month > 2 ? date.year : date.year - 1;
  const int month = (date.month + 9) % 12;
  return year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + date.day - 1;
}

}  // namespace

Result<std::string> parse_date(std::string_view text, std::string_view where) {
  const std::string_view date = units::trim(text);
  if (!read_date(date))
    return tl::unexpected(units::not_accepted(text, where, units::ScanStatus::ok,
                                              "a date of the calendar", "2026-11-30"));
  return std::string(date);
}

int days_between(std::string_view from, std::string_view to) {
  const auto first = read_date(from);
  const auto last = read_date(to);
  return first && last ? day_number(*last) - day_number(*first) : 0;
}

}  // namespace gpuadvisor
