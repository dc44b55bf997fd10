// Hours and money of a job: which price a ranking uses, what a job costs, what
// failures and interruptions add to it, and when another price kind pays off.
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::cost {

/// Hours of an average month (365.25 x 24 / 12 rounded), as monthly prices are
/// spread over.
inline constexpr double kHoursPerMonth = 730.0;

/// Exchange rates with the user's overrides (--rate USD=7.1), CNY for one unit.
struct Rates {
  std::vector<std::pair<std::string, double>> cny_per_unit;
  std::string date;
  /// `amount` of `from` in `to`; nothing when one of the rates is unknown.
  [[nodiscard]] std::optional<double> convert(double amount, std::string_view from,
                                              std::string_view to) const;
  /// Adds or replaces one rate (CNY for one unit, > 0).
  void set(std::string_view currency, double cny);
};
[[nodiscard]] Rates rates_of(const catalog::Catalog& catalog);

/// The price a ranking uses for one instance.
struct Quote {
  catalog::PriceKind kind = catalog::PriceKind::on_demand;
  double per_hour = 0;  ///< one instance, in `currency`
  std::string currency;
  std::string region;
  double original_per_hour = 0;
  std::string original_currency;
  std::optional<double> rate;  ///< original -> currency; null when the same
  std::string date;            ///< "" undated
  std::string source;
};

/// Cheapest price of the wanted kind in `region` ("" any), converted to `currency`.
/// Official prices before observed ones (an observed price stands in for every
/// wanted kind but spot). Equal prices: region bytewise, newest date, source. Nothing
/// when there is no such price, or no rate for its currency.
[[nodiscard]] std::optional<Quote> quote(const catalog::Instance& instance, catalog::PriceKind kind,
                                         std::string_view region, std::string_view currency,
                                         const Rates& rates);

struct JobCost {
  double hours = 0;
  std::optional<double> total;  ///< per_hour x count x hours
  std::optional<double> per_1e9_tokens;
};
/// tokens and tokens_per_s > 0; `count` instances at `quote` (may be empty).
[[nodiscard]] JobCost job_cost(double tokens, double tokens_per_s, int count,
                               const std::optional<Quote>& quote);

/// Expected goodput of a job that fails: Young's checkpoint interval sqrt(2·C/rate)
/// (Young 1974) and the run time of Daly 2006, eq. 13:
/// T = M·e^(R/M)·(e^((tau+C)/M) - 1)·work/tau with M = 1/rate.
struct Goodput {
  double checkpoint_interval_s = 0;  ///< work between two checkpoints; 0: none needed
  double efficiency = 1;             ///< useful share of the wall time, (0, 1]
};
/// Rates are failures a second of the whole job, >= 0; times in seconds, >= 0.
[[nodiscard]] Goodput goodput(double failure_rate_per_s, double checkpoint_s, double restart_s);

/// Hardware failures a second that stop a job on `gpus` GPUs: proportional to their
/// number, at the rate published for a 16,384-GPU training run (calibration `cost`).
[[nodiscard]] double failure_rate_per_s(int gpus);

/// A job on capacity that the provider takes back: each of `count` instances is
/// interrupted `interruptions_per_hour` times, and one interruption stops the job.
struct SpotJob {
  Goodput goodput;
  double hours = 0;             ///< expected wall time
  std::optional<double> total;  ///< expected cost
};
[[nodiscard]] SpotJob spot_job(double useful_hours, int count, double interruptions_per_hour,
                               double checkpoint_s, double restart_s,
                               const std::optional<Quote>& quote);

/// From how many hours of use a month a committed price (paid whether used or not)
/// is cheaper than paying by the hour; nothing when it never is (more than a month).
[[nodiscard]] std::optional<double> break_even_hours(const Quote& hourly, const Quote& committed);

}  // namespace gpuadvisor::cost
