#include <cmath>

#include "gpuadvisor/cost.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::cost;

namespace {

Quote quote_of(double per_hour) {
  Quote quote;
  quote.per_hour = per_hour;
  quote.currency = "CNY";
  return quote;
}

}  // namespace

TEST_CASE("job cost is price times count times hours") {
  // 1e8 tokens at 10,000 tokens/s: 10,000 s = 2.7778 h; 2 x 30 CNY/h: 166.67 CNY;
  // 1e9 tokens take ten times as long.
  const auto cost = job_cost(1e8, 1e4, 2, quote_of(30));
  CHECK_THAT(cost.hours, WithinRel(1e4 / 3600.0, 1e-12));
  CHECK_THAT(cost.total.value(), WithinRel(2 * 30 * 1e4 / 3600.0, 1e-12));
  CHECK_THAT(cost.per_1e9_tokens.value(), WithinRel(2 * 30 * 1e5 / 3600.0, 1e-12));
}

TEST_CASE("a job without a price has hours and no money") {
  const auto cost = job_cost(3600, 1, 4, std::nullopt);
  CHECK_THAT(cost.hours, WithinRel(1.0, 1e-12));
  CHECK_FALSE(cost.total);
  CHECK_FALSE(cost.per_1e9_tokens);
}

TEST_CASE("goodput follows Young and Daly") {
  // One failure a day (M = 86,400 s), checkpoint 60 s, restart 600 s:
  // tau = sqrt(2 x 60 x 86400) = 3219.94 s;
  // efficiency = tau / (M e^(R/M) (e^((tau+C)/M) - 1))
  //            = 3219.94 / (86400 x 1.0069686 x 0.0386934) = 0.95650.
  const auto result = goodput(1.0 / 86400.0, 60, 600);
  CHECK_THAT(result.checkpoint_interval_s, WithinRel(3219.938, 1e-5));
  CHECK_THAT(result.efficiency, WithinRel(0.9565, 1e-3));
}

TEST_CASE("a job that never fails loses nothing") {
  CHECK(goodput(0, 60, 600).efficiency == 1.0);
  CHECK(goodput(0, 60, 600).checkpoint_interval_s == 0.0);
}

TEST_CASE("free checkpoints leave only the restarts") {
  CHECK_THAT(goodput(1e-5, 0, 1000).efficiency, WithinRel(std::exp(-0.01), 1e-12));
}

TEST_CASE("goodput falls with the failure rate and with dear checkpoints") {
  CHECK(goodput(1e-5, 60, 600).efficiency > goodput(1e-4, 60, 600).efficiency);
  CHECK(goodput(1e-5, 60, 600).efficiency > goodput(1e-5, 300, 600).efficiency);
}

TEST_CASE("failures grow with the GPUs") {
  // 16,384 GPUs x 4.735e-4 a day = 7.758 a day, one in 3.09 hours.
  CHECK_THAT(1.0 / failure_rate_per_s(16384) / 3600.0, WithinRel(3.094, 1e-3));
  CHECK_THAT(failure_rate_per_s(16), WithinRel(2 * failure_rate_per_s(8), 1e-12));
}

TEST_CASE("spot interruptions stretch hours and cost alike") {
  const auto calm = spot_job(100, 4, 0.0, 60, 600, quote_of(10));
  CHECK(calm.hours == 100.0);
  CHECK_THAT(calm.total.value(), WithinRel(4000.0, 1e-12));
  const auto rough = spot_job(100, 4, 0.05, 60, 600, quote_of(10));
  CHECK(rough.hours > 100.0);
  CHECK_THAT(rough.total.value(), WithinRel(rough.hours * 40.0, 1e-12));
  CHECK_THAT(rough.hours * rough.goodput.efficiency, WithinRel(100.0, 1e-12));
}

TEST_CASE("break-even hours compare a committed price with one by the hour") {
  // 4 CNY/h spread over 730 h is 2,920 CNY a month; at 10 CNY/h that buys 292 h.
  CHECK_THAT(break_even_hours(quote_of(10), quote_of(4)).value(), WithinRel(292.0, 1e-12));
  CHECK_FALSE(break_even_hours(quote_of(10), quote_of(11)));
  auto dollars = quote_of(4);
  dollars.currency = "USD";
  CHECK_FALSE(break_even_hours(quote_of(10), dollars));
}
