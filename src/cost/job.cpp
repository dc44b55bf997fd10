#include <cmath>

#include "calibration_data.hpp"
#include "gpuadvisor/cost.hpp"

namespace gpuadvisor::cost {
namespace {

constexpr double kSecondsPerHour = 3600.0;
constexpr double kSecondsPerDay = 24.0 * kSecondsPerHour;

std::optional<double> total_of(const std::optional<Quote>& quote, int count, double hours) {
  if (!quote) return std::nullopt;
  return quote->per_hour * count * hours;
}

}  // namespace

JobCost job_cost(double tokens, double tokens_per_s, int count, const std::optional<Quote>& quote) {
  JobCost cost;
  cost.hours = tokens / tokens_per_s / kSecondsPerHour;
  cost.total = total_of(quote, count, cost.hours);
  cost.per_1e9_tokens = total_of(quote, count, 1e9 / tokens_per_s / kSecondsPerHour);
  return cost;
}

Goodput goodput(double failure_rate_per_s, double checkpoint_s, double restart_s) {
  Goodput result;
  if (failure_rate_per_s <= 0) return result;
  const double rate = failure_rate_per_s;
  result.checkpoint_interval_s = std::sqrt(2.0 * checkpoint_s / rate);
  const double work = result.checkpoint_interval_s;
  // The limit of tau/(M·(e^((tau+C)/M) - 1)) for a checkpoint that costs nothing is 1.
  const double useful = work > 0 ? work * rate / std::expm1((work + checkpoint_s) * rate) : 1.0;
  result.efficiency = useful * std::exp(-restart_s * rate);
  return result;
}

double failure_rate_per_s(int gpus) {
  return calibration::cost::failures_per_gpu_day * gpus / kSecondsPerDay;
}

SpotJob spot_job(double useful_hours, int count, double interruptions_per_hour, double checkpoint_s,
                 double restart_s, const std::optional<Quote>& quote) {
  SpotJob job;
  job.goodput = goodput(interruptions_per_hour * count / kSecondsPerHour, checkpoint_s, restart_s);
  job.hours = useful_hours / job.goodput.efficiency;
  job.total = total_of(quote, count, job.hours);
  return job;
}

std::optional<double> break_even_hours(const Quote& hourly, const Quote& committed) {
  if (!(hourly.per_hour > 0) || hourly.currency != committed.currency) return std::nullopt;
  const double hours = committed.per_hour * kHoursPerMonth / hourly.per_hour;
  if (hours > kHoursPerMonth) return std::nullopt;
  return hours;
}

}  // namespace gpuadvisor::cost
