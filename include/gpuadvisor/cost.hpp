// Hours and money of a job. Pure functions.
#pragma once

#include <optional>
#include <utility>
#include <vector>
#include <string>
#include <string_view>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::cost {

/// Exchange rates with the user's overrides (--rate USD=7.1), CNY for one unit.
struct Rates {
  std::vector<std::pair<std::string, double>> cny_per_unit;
  std::string date;
  [[nodiscard]] std::optional<double> convert(double amount, std::string_view from,
                                              std::string_view to) const;
};
[[nodiscard]] Rates rates_of(const catalog::Catalog& catalog);

/// The price a ranking uses for one instance.
struct Quote {
  catalog::PriceKind kind = catalog::PriceKind::on_demand;
  double per_hour = 0;           ///< one instance, in `currency`
  std::string currency;
  std::string region;
  double original_per_hour = 0;
  std::string original_currency;
  std::optional<double> rate;    ///< original -> currency; null when the same
  std::string date;              ///< "" undated
  std::string source;
};

/// Cheapest price of the wanted kind in `region` ("" any), converted to `currency`.
/// Official prices before observed ones. Nothing when there is none, or no rate.
[[nodiscard]] std::optional<Quote> quote(const catalog::Instance& instance,
                                         catalog::PriceKind kind, std::string_view region,
                                         std::string_view currency, const Rates& rates);

struct JobCost {
  double hours = 0;
  std::optional<double> total;          ///< per_hour x count x hours
  std::optional<double> per_1e9_tokens;
};
/// tokens and tokens_per_s > 0; `count` instances at `quote` (may be empty).
[[nodiscard]] JobCost job_cost(double tokens, double tokens_per_s, int count,
                               const std::optional<Quote>& quote);

/// Expected goodput of a job that fails: Young/Daly checkpoint interval
/// sqrt(2·C/rate), Daly 2006. Rates are failures a second of the whole job.
struct Goodput {
  double checkpoint_interval_s = 0;
  double efficiency = 1;  ///< useful share of the wall time
};
[[nodiscard]] Goodput goodput(double failure_rate_per_s, double checkpoint_s, double restart_s);

}  // namespace gpuadvisor::cost
