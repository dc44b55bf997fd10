#include <array>

#include "gpuadvisor/cost.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::cost;
using catalog::Price;
using catalog::PriceKind;

namespace {

Rates rates() {
  Rates rates;
  rates.set("USD", 7.0);
  return rates;
}

catalog::Instance instance_of(std::span<const Price> prices) {
  catalog::Instance instance;
  instance.name = "test";
  instance.prices = prices;
  return instance;
}

std::optional<Quote> on_demand(std::span<const Price> prices, std::string_view region = {}) {
  return quote(instance_of(prices), PriceKind::on_demand, region, "CNY", rates());
}

}  // namespace

TEST_CASE("the cheapest region is named") {
  const std::array<Price, 3> prices{{{PriceKind::on_demand, "b", "CNY", 12, "2026-01-01", "list"},
                                     {PriceKind::on_demand, "a", "CNY", 10, "2026-01-01", "list"},
                                     {PriceKind::spot, "a", "CNY", 2, "2026-01-01", "list"}}};
  const auto found = on_demand(prices);
  REQUIRE(found);
  CHECK(found->region == "a");
  CHECK(found->per_hour == 10);
  CHECK_FALSE(found->rate);
  CHECK(on_demand(prices, "b")->per_hour == 12);
  CHECK_FALSE(on_demand(prices, "c"));
}

TEST_CASE("currencies are converted and the rate is kept") {
  const std::array<Price, 2> prices{{{PriceKind::on_demand, "a", "USD", 2, "2026-01-01", "list"},
                                     {PriceKind::on_demand, "b", "CNY", 15, "2026-01-01", "list"}}};
  const auto found = on_demand(prices);
  REQUIRE(found);
  CHECK_THAT(found->per_hour, WithinRel(14.0, 1e-12));
  CHECK(found->original_per_hour == 2);
  CHECK(found->original_currency == "USD");
  CHECK_THAT(found->rate.value(), WithinRel(7.0, 1e-12));
}

TEST_CASE("a currency without a rate is no price") {
  const std::array<Price, 1> prices{
      {{PriceKind::on_demand, "a", "JPY", 100, "2026-01-01", "list"}}};
  CHECK_FALSE(on_demand(prices));
}

TEST_CASE("official prices come before cheaper sightings") {
  const std::array<Price, 2> prices{{{PriceKind::observed, "a", "CNY", 5, "", "somebody"},
                                     {PriceKind::on_demand, "a", "CNY", 10, "2026-01-01", "list"}}};
  CHECK(on_demand(prices)->kind == PriceKind::on_demand);
  CHECK(on_demand(std::span(prices).first(1))->kind == PriceKind::observed);
  CHECK_FALSE(quote(instance_of(std::span(prices).first(1)), PriceKind::spot, "", "CNY", rates()));
}

TEST_CASE("the quote does not depend on the order of prices") {
  std::array<Price, 3> prices{{{PriceKind::on_demand, "b", "CNY", 10, "2026-01-01", "x"},
                               {PriceKind::on_demand, "a", "CNY", 10, "2025-01-01", "y"},
                               {PriceKind::on_demand, "a", "CNY", 10, "2026-01-01", "z"}}};
  const auto first = on_demand(prices);
  std::swap(prices[0], prices[2]);
  const auto second = on_demand(prices);
  CHECK(first->region == "a");
  CHECK(first->date == "2026-01-01");
  CHECK(second->region == first->region);
  CHECK(second->source == first->source);
}

TEST_CASE("rates convert through CNY and can be replaced") {
  Rates table = rates();
  table.set("EUR", 8.4);
  CHECK_THAT(table.convert(10, "EUR", "USD").value(), WithinRel(12.0, 1e-12));
  table.set("EUR", 7.7);
  CHECK_THAT(table.convert(10, "EUR", "USD").value(), WithinRel(11.0, 1e-12));
  CHECK(table.convert(3, "XXX", "XXX").value() == 3);
  CHECK_FALSE(table.convert(3, "XXX", "CNY"));
}
