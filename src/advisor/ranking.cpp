#include "advisor/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace gpuadvisor::advisor {
namespace {

constexpr double kComfortableFill = 0.7;  // of usable memory: full marks, room to grow
constexpr double kHalvingCost = 0.4;
constexpr double kTightFactor = 0.8;  // tight, or states offloaded
constexpr double kNoRdmaFactor = 0.7;
constexpr double kNoBf16Factor = 0.8;
constexpr double kKeyStep = 1e-6;

/// Over all GPUs.
double needed_bytes(const ResultRow& row) {
  if (row.serving) return row.serving->estimate.memory.need * row.serving->plan.gpus_per_replica();
  return row.least_gpu_bytes * row.cluster.gpus;
}

double memory_of(const ResultRow& row) { return row.cluster.gpu_memory_bytes * row.cluster.gpus; }

/// Least memory over all GPUs that any of the rows can do the job with.
double job_bytes(const std::vector<ResultRow>& rows) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& row : rows) least = std::min(least, needed_bytes(row));
  return least;
}

double vram_fit(const ResultRow& row, double job) {
  const bool short_of_memory =
      row.best.verdict == memory::Verdict::tight || row.best.plan.offload != workload::kOffloadNone;
  const double halvings = std::log2(kComfortableFill * memory_of(row) / job);
  return std::clamp(1.0 - kHalvingCost * halvings, 0.0, 1.0) *
         (short_of_memory ? kTightFactor : 1.0);
}

double interconnect(const ResultRow& row) {
  if (row.cluster.gpus == 1) return 1.0;
  if (row.serving) {
    const auto& step = row.serving->estimate.speed.step;
    return step.total() > 0 ? 1.0 - step.all_reduce / step.total() : 1.0;
  }
  const auto& performance = row.best.performance;
  const double exposed = performance.breakdown.communication() / performance.step_time_s;
  const bool slow = row.cluster.nodes() > 1 && (row.cluster.fabric == catalog::Fabric::none ||
                                                row.cluster.fabric == catalog::Fabric::tcp);
  return std::clamp(1.0 - exposed, 0.0, 1.0) * (slow ? kNoRdmaFactor : 1.0);
}

double least_cost(const std::vector<ResultRow>& rows) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& row : rows)
    if (row.cost.per_1e9_tokens) least = std::min(least, *row.cost.per_1e9_tokens);
  return least;
}

Score score_of(const Weights& weights, const ResultRow& row, double least, double job) {
  Score score;
  score.vram_fit = vram_fit(row, job);
  score.interconnect = interconnect(row);
  const double own = row.cost.per_1e9_tokens.value_or(0.0);
  score.cost = own > 0 ? least / own : 0.0;
  const double sum = weights.vram + weights.interconnect + weights.cost;
  if (sum > 0)
    score.total = (weights.vram * score.vram_fit + weights.interconnect * score.interconnect +
                   weights.cost * score.cost) /
                  sum;
  if (!row.gpu->has_bf16() && !row.serving) score.total *= kNoBf16Factor;
  return score;
}

/// The objective as a number to be small, in whole steps so that noise ties.
double objective_key(Objective objective, const ResultRow& row) {
  double key = 0;
  switch (objective) {
    case Objective::balanced:
      key = -row.score.total;
      break;
    case Objective::cheapest:
      key = row.serving ? row.cost_per_1e6_tokens.value_or(0.0) : row.cost.total.value_or(0.0);
      break;
    case Objective::fastest:
      key = row.serving ? -row.serving->estimate.speed.output_tokens_per_s : row.cost.hours;
      break;
    case Objective::fewest_gpus:
      key = row.cluster.gpus;
      break;
  }
  return std::round(key / kKeyStep);
}

/// aliyun first, then by name.
std::string_view provider_key(std::string_view provider) {
  return provider == "aliyun" ? std::string_view{} : provider;
}

auto order_key(Objective objective, const ResultRow& row) {
  const bool observed = row.quote && row.quote->kind == catalog::PriceKind::observed;
  const auto* instance = row.instance;
  return std::make_tuple(!row.quote.has_value(), objective_key(objective, row), observed,
                         provider_key(instance != nullptr ? instance->provider : ""),
                         row.cost.total.value_or(row.cost_per_1e6_tokens.value_or(0.0)),
                         row.cluster.gpus,
                         instance != nullptr ? instance->name : std::string_view{}, row.count);
}

}  // namespace

double least_gpu_bytes(const Context& context, const memory::Prepared& prepared,
                       const planner::Candidate& best, const catalog::Cluster& cluster) {
  workload::Plan lean = best.plan;
  const auto& fixed = context.query.constraints;
  if (!fixed.micro_batch) {
    lean.grad_accum *= lean.micro_batch;
    lean.micro_batch = 1;
  }
  if (!fixed.recompute) lean.recompute = workload::Recompute::full;
  if (!fixed.offload) lean.offload = workload::kOffloadNone;
  const double needed = memory::estimate(prepared, lean, cluster).needed();
  const bool offloaded = best.plan.offload != lean.offload;
  return offloaded ? needed : std::min(best.memory.needed(), needed);
}

void price_row(const Context& context, ResultRow& row) {
  if (row.instance != nullptr)
    row.quote = cost::quote(*row.instance, context.query.price_kind, context.query.region,
                            context.query.currency, context.rates);
  const auto& performance = row.best.performance;
  row.cost = cost::job_cost(row.training.tokens, performance.tokens_per_s, row.count, row.quote);
  if (!row.quote || !(performance.model_flops_per_step > 0)) return;
  const double flops_per_hour = performance.model_flops_per_step / performance.step_time_s * 3600.0;
  row.cost_per_1e18_flops = row.quote->per_hour * row.count / (flops_per_hour / 1e18);
}

ResultRow make_row(const Context& context, const Trial& trial) {
  ResultRow row;
  row.instance = trial.offer->instance;
  row.gpu = trial.offer->gpu;
  row.count = trial.count;
  row.cluster = trial.cluster;
  row.training = trial.setup->prepared.training;
  row.best = trial.result.best.front();
  row.least_gpu_bytes = least_gpu_bytes(context, trial.setup->prepared, row.best, trial.cluster);
  row.memory_band = trial.setup->memory_band;
  row.performance_band = trial.setup->performance_band;
  price_row(context, row);
  return row;
}

void score_rows(const Weights& weights, std::vector<ResultRow>& rows) {
  const double least = least_cost(rows);
  const double job = job_bytes(rows);
  for (auto& row : rows) row.score = score_of(weights, row, least, job);
}

bool ranks_before(Objective objective, const ResultRow& left, const ResultRow& right) {
  return order_key(objective, left) < order_key(objective, right);
}

std::vector<ParetoPoint> pareto_front(const std::vector<ResultRow>& rows) {
  std::vector<ParetoPoint> points;
  for (const auto& row : rows)
    if (row.cost.total)
      points.push_back({row.instance, row.count, row.cost.hours, *row.cost.total});
  std::stable_sort(points.begin(), points.end(), [](const auto& left, const auto& right) {
    return std::make_tuple(left.hours, left.total, left.instance->name, left.count) <
           std::make_tuple(right.hours, right.total, right.instance->name, right.count);
  });
  std::vector<ParetoPoint> front;
  for (const auto& point : points)
    if (front.empty() || point.total < front.back().total) front.push_back(point);
  return front;
}

std::vector<ResultRow> best_of_groups(std::vector<ResultRow> rows, const Query& query) {
  std::vector<ResultRow> kept;
  for (auto& row : rows) {
    const bool seen = std::any_of(kept.begin(), kept.end(), [&](const ResultRow& other) {
      return other.instance->provider == row.instance->provider &&
             (query.per_instance ? other.instance == row.instance
                                 : other.instance->family == row.instance->family);
    });
    if (seen || kept.size() == query.top) continue;
    row.rank = static_cast<int>(kept.size()) + 1;
    kept.push_back(std::move(row));
  }
  return kept;
}

}  // namespace gpuadvisor::advisor
