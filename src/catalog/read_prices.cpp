#include <algorithm>

#include <fmt/format.h>

#include "catalog/reader.hpp"

namespace gpuadvisor::catalog {
namespace {

constexpr double kMaxPerHour = 1e6;
/// Stands for "the source names no region" in per_hour.
constexpr std::string_view kNoRegion = "unknown";

bool is_currency(std::string_view code) {
  return code.size() == 3 &&
         std::all_of(code.begin(), code.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::string_view read_currency(ObjectReader& object) {
  const std::string_view code = object.text("currency");
  if (object.ok() && !is_currency(code))
    object.refuse("currency", "expected a currency code of three capital letters such as CNY");
  return code;
}

void read_entry(ObjectReader& object, const SourceTable& table, const std::string& file,
                Draft& draft) {
  const std::string_view instance = object.text("instance");
  Price price;
  price.kind = object.choice<PriceKind>("kind", kPriceKindNames);
  price.currency = read_currency(object);
  price.date = object.optional_date("date");
  price.source = table.find(object.text("source"), object, "source").text;
  ObjectReader regions = object.object("per_hour");
  if (object.ok() && regions.keys().empty())
    object.refuse("per_hour", "expected at least one region with a price");
  for (const std::string& region : regions.keys()) {
    price.region = region == kNoRegion ? std::string_view{} : object.records().intern(region);
    price.per_hour = regions.number(region, 1e-6, kMaxPerHour);
    draft.prices.emplace_back(instance, price);
  }
  draft.instance_references.push_back({instance, file + ": " + object.path() + "/instance"});
  object.finish();
}

}  // namespace

void read_prices(ObjectReader& object, const std::string& file, Draft& draft) {
  (void)object.text("provider");
  (void)object.date("checked");
  const SourceTable sources(object);
  for (ObjectReader& member : object.objects("prices")) read_entry(member, sources, file, draft);
}

void read_rates(ObjectReader& object, Draft& draft) {
  const std::string_view base = object.text("base");
  if (object.ok() && base != "CNY") object.refuse("base", "expected CNY");
  const std::string_view date = object.date("date");
  const std::string_view source = object.text("source");
  ObjectReader rates = object.object("rates");
  for (const std::string& currency : rates.keys()) {
    if (!is_currency(currency))
      rates.refuse(currency, "expected a currency code of three capital letters such as USD");
    const double cny = rates.number(currency, 1e-9, 1e9);
    draft.records.rates.push_back({object.records().intern(currency), cny, date, source});
  }
}

void read_wrong_names(ObjectReader& object, const std::string& file, Draft& draft) {
  (void)object.date("checked");
  for (ObjectReader& member : object.objects("wrong_names")) {
    WrongName wrong;
    wrong.claim = member.text("claim");
    wrong.verdict = member.text("verdict");
    wrong.fact = member.text("fact");
    wrong.source = member.text("source");
    wrong.names = member.optional_texts("names");
    wrong.nearest_types = member.optional_texts("nearest_types");
    for (std::size_t index = 0; index < wrong.nearest_types.size(); ++index)
      draft.instance_references.push_back(
          {wrong.nearest_types[index],
           fmt::format("{}: {}/nearest_types/{}", file, member.path(), index)});
    draft.records.wrong_names.push_back(wrong);
    member.finish();
  }
}

}  // namespace gpuadvisor::catalog
