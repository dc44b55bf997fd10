#include <algorithm>
#include <tuple>

#include "gpuadvisor/cost.hpp"

namespace gpuadvisor::cost {
namespace {

using catalog::Price;
using catalog::PriceKind;

std::optional<double> cny_of(const Rates& rates, std::string_view currency) {
  if (currency == "CNY") return 1.0;
  for (const auto& [name, cny] : rates.cny_per_unit)
    if (name == currency) return cny;
  return std::nullopt;
}

/// Sightings stand in for list prices, but say nothing about the spot market.
bool serves(PriceKind offered, PriceKind wanted) {
  if (offered == wanted) return true;
  return offered == PriceKind::observed && wanted != PriceKind::spot;
}

struct Offer {
  const Price* price = nullptr;
  double converted = 0;
};

/// Official first, then cheapest; the rest only makes the choice independent of order.
bool cheaper(const Offer& left, const Offer& right) {
  const auto key = [](const Offer& offer) {
    return std::make_tuple(offer.price->kind == PriceKind::observed, offer.converted,
                           offer.price->region);
  };
  if (key(left) != key(right)) return key(left) < key(right);
  if (left.price->date != right.price->date) return left.price->date > right.price->date;
  return left.price->source < right.price->source;
}

Quote to_quote(const Offer& offer, std::string_view currency) {
  const Price& price = *offer.price;
  Quote quote;
  quote.kind = price.kind;
  quote.per_hour = offer.converted;
  quote.currency = currency;
  quote.region = price.region;
  quote.original_per_hour = price.per_hour;
  quote.original_currency = price.currency;
  if (price.currency != currency) quote.rate = offer.converted / price.per_hour;
  quote.date = price.date;
  quote.source = price.source;
  return quote;
}

}  // namespace

std::optional<double> Rates::convert(double amount, std::string_view from,
                                     std::string_view to) const {
  if (from == to) return amount;
  const auto from_cny = cny_of(*this, from);
  const auto to_cny = cny_of(*this, to);
  if (!from_cny || !to_cny) return std::nullopt;
  return amount * *from_cny / *to_cny;
}

void Rates::set(std::string_view currency, double cny) {
  for (auto& [name, value] : cny_per_unit) {
    if (name != currency) continue;
    value = cny;
    return;
  }
  cny_per_unit.emplace_back(currency, cny);
}

Rates rates_of(const catalog::Catalog& catalog) {
  Rates rates;
  for (const auto& rate : catalog.rates()) {
    rates.set(rate.currency, rate.cny);
    if (rate.date > rates.date) rates.date = rate.date;
  }
  return rates;
}

std::optional<Quote> quote(const catalog::Instance& instance, PriceKind kind,
                           std::string_view region, std::string_view currency, const Rates& rates) {
  std::optional<Offer> best;
  for (const Price& price : instance.prices) {
    if (!serves(price.kind, kind) || !(price.per_hour > 0)) continue;
    if (!region.empty() && price.region != region) continue;
    const auto converted = rates.convert(price.per_hour, price.currency, currency);
    if (!converted) continue;
    const Offer offer{&price, *converted};
    if (!best || cheaper(offer, *best)) best = offer;
  }
  if (!best) return std::nullopt;
  return to_quote(*best, currency);
}

}  // namespace gpuadvisor::cost
