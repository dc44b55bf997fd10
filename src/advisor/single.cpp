// One cluster: `estimate` of a given plan, `plan` for the best ones, scaling studies.
#include <algorithm>

#include <fmt/format.h>

#include "advisor/alternatives.hpp"
#include "advisor/ranking.hpp"
#include "advisor/relax.hpp"
#include "advisor/serve.hpp"
#include "advisor/words.hpp"

namespace gpuadvisor::advisor {
namespace {

constexpr double kKneeGain = 0.8;  // of the tokens/s that ideal scaling would add

/// Setup of the cluster's GPU, or the refusal as an error.
Result<const Setup*> setup_for(Context& context, const catalog::Cluster& cluster) {
  const Setup& setup = add_setup(context, *cluster.gpu);
  if (!setup.refusal.empty()) return fail(ErrorCode::usage, setup.refusal, "--precision");
  return &setup;
}

ResultRow row_of(const Context& context, const Setup& setup, const catalog::Cluster& cluster,
                 const planner::Candidate& candidate) {
  ResultRow row;
  row.instance = cluster.instance;
  row.gpu = cluster.gpu;
  row.count = cluster.nodes();
  row.cluster = cluster;
  row.training = setup.prepared.training;
  row.best = candidate;
  row.least_gpu_bytes = least_gpu_bytes(context, setup.prepared, candidate, cluster);
  row.memory_band = setup.memory_band;
  row.performance_band = setup.performance_band;
  price_row(context, row);
  return row;
}

void finish(const Context& context, Ranking& ranking) {
  score_rows(context.query.weights, ranking.results);
  int rank = 0;
  for (auto& row : ranking.results) {
    row.rank = ++rank;
    row.reasons = reasons_of(context.query, row, std::nullopt);
    row.warnings = warnings_of(context, row);
  }
  if (auto old = old_price_warning(context.as_of, ranking.results))
    ranking.warnings.push_back(std::move(*old));
  if (ranking.results.empty()) return;
  if (ranking.results.front().best.verdict == memory::Verdict::does_not_fit) return;
  ranking.next_steps = next_steps(context, ranking.results.front());
  ranking.price_options = price_options_of(context, ranking.results.front());
}

/// Whether a change suffices on the GPU, and what it asks of the host.
std::string sufficiency(const Setup& setup, const catalog::Cluster& cluster,
                        const memory::Relaxation& change) {
  if (!change.fits) return "";
  const double host = memory::estimate(setup.prepared, change.plan, cluster).host_bytes;
  if (host <= cluster.host_memory_bytes || cluster.host_memory_bytes <= 0) return ", and it fits";
  const auto gib = [](double bytes) { return format_number(bytes / kGiB, 0); };
  return fmt::format(", but a node then needs {} GiB of host memory and has {}", gib(host),
                     gib(cluster.host_memory_bytes));
}

/// Single changes of plan or run that save memory, those that suffice first.
std::vector<std::string> what_would_fit(const Setup& setup, const ResultRow& row) {
  constexpr int kMost = 5;
  const auto changes =
      memory::relaxations(setup.prepared, row.best.plan, row.cluster, row.cluster.gpu_memory_bytes);
  std::vector<std::string> words;
  for (int at = 0; at < std::min(changes.count, kMost); ++at) {
    const auto& change = changes.items[static_cast<std::size_t>(at)];
    words.push_back(fmt::format("{}: {} less a GPU{} ({})", change.name,
                                format_bytes(Bytes(change.gain_bytes)),
                                sufficiency(setup, row.cluster, change), change.cost));
  }
  return words;
}

Error no_plan_error(const Setup& setup, const catalog::Cluster& cluster,
                    const planner::Constraints& constraints) {
  const auto& prepared = setup.prepared;
  return planner::no_plan_error(prepared.architecture, prepared.training, cluster, constraints);
}

/// The plan that misses by least, evaluated all the same.
std::optional<planner::Candidate> nearest_miss(const Setup& setup, const catalog::Cluster& cluster,
                                               const planner::SearchResult& found,
                                               const planner::SearchOptions& options) {
  const auto& nearest = found.shortfall ? found.shortfall : found.offload_shortfall;
  if (!nearest) return std::nullopt;
  return planner::evaluate(setup.prepared, nearest->plan, cluster, options);
}

SweepPoint sweep_point(const Context& context, const Setup& setup, const catalog::Cluster& like,
                       int gpus) {
  catalog::Cluster cluster = like;
  cluster.gpus = gpus;
  auto options = context.search_options(setup);
  options.threads = thread_count(context.query);
  const auto found = planner::search(setup.prepared, cluster, options);
  SweepPoint point{gpus, cluster.nodes(), std::nullopt, 0, std::nullopt, 0, false, {}};
  if (found.best.empty()) {
    point.reason = planner::explain_no_plan(setup.prepared.architecture, setup.prepared.training,
                                            cluster, options.constraints);
    if (point.reason.empty() && found.shortfall)
      point.reason =
          fmt::format("{} a GPU missing", format_bytes(Bytes(found.shortfall->missing_gpu_bytes)));
    return point;
  }
  const ResultRow row = row_of(context, setup, cluster, found.best.front());
  point.best = found.best.front();
  point.hours = row.cost.hours;
  point.total = row.cost.total;
  return point;
}

double tokens_per_s(const SweepPoint& point) { return point.best->performance.tokens_per_s; }

/// Efficiency against the best point, and the last size whose growth still pays.
void judge_sweep(std::vector<SweepPoint>& sweep) {
  double most = 0;
  for (const auto& point : sweep)
    if (point.best) most = std::max(most, tokens_per_s(point) / point.gpus);
  SweepPoint* last = nullptr;
  bool paying = true;
  for (auto& point : sweep) {
    if (!point.best) continue;
    point.efficiency = tokens_per_s(point) / point.gpus / most;
    if (last != nullptr) {
      const double ideal = tokens_per_s(*last) * (static_cast<double>(point.gpus) / last->gpus - 1);
      paying = paying && tokens_per_s(point) - tokens_per_s(*last) >= kKneeGain * ideal;
    }
    if (paying) last = &point;
  }
  if (last != nullptr) last->knee = true;
}

}  // namespace

Result<Ranking> estimate(const catalog::Catalog& catalog, const Query& query,
                         const catalog::Cluster& cluster) {
  if (query.request.mode == workload::Mode::serve) {
    Query one = query;
    one.top = 1;
    return serve_on(catalog, one, cluster);
  }
  auto context = make_context(catalog, query);
  if (!context) return tl::unexpected(context.error());
  auto setup = setup_for(*context, cluster);
  if (!setup) return tl::unexpected(setup.error());
  auto options = context->search_options(**setup);
  options.threads = thread_count(query);
  const auto found = planner::search((*setup)->prepared, cluster, options);
  auto candidate = found.best.empty() ? nearest_miss(**setup, cluster, found, options)
                                      : std::optional(found.best.front());
  if (!candidate) return tl::unexpected(no_plan_error(**setup, cluster, query.constraints));
  Ranking ranking = make_ranking("estimate", *context);
  ranking.assumed.insert(ranking.assumed.end(), (*setup)->assumed.begin(), (*setup)->assumed.end());
  ranking.search = found.stats;
  ranking.results.push_back(row_of(*context, **setup, cluster, *candidate));
  finish(*context, ranking);
  if (candidate->verdict == memory::Verdict::does_not_fit)
    ranking.relaxations = what_would_fit(**setup, ranking.results.front());
  return ranking;
}

Result<Ranking> plan(const catalog::Catalog& catalog, const Query& query,
                     const catalog::Cluster& cluster) {
  if (query.request.mode == workload::Mode::serve) return serve_on(catalog, query, cluster);
  auto context = make_context(catalog, query);
  if (!context) return tl::unexpected(context.error());
  auto setup = setup_for(*context, cluster);
  if (!setup) return tl::unexpected(setup.error());
  auto options = context->search_options(**setup);
  options.threads = thread_count(query);
  options.top = std::max<std::size_t>(query.top, 1);
  options.pareto = query.pareto;
  auto found = planner::search((*setup)->prepared, cluster, options);
  if (found.stats.in_space == 0)
    return tl::unexpected(no_plan_error(**setup, cluster, query.constraints));
  Ranking ranking = make_ranking("plan", *context);
  ranking.assumed.insert(ranking.assumed.end(), (*setup)->assumed.begin(), (*setup)->assumed.end());
  ranking.search = found.stats;
  for (const auto& candidate : found.best)
    ranking.results.push_back(row_of(*context, **setup, cluster, candidate));
  ranking.front = std::move(found.front);
  finish(*context, ranking);
  for (std::size_t at = 1; at < ranking.results.size(); ++at)
    ranking.results[at].reasons.push_back(
        "differs from the best: " +
        difference(ranking.results[at].best.plan, ranking.results.front().best.plan));
  for (const int gpus : query.sweep_gpus)
    ranking.sweep.push_back(sweep_point(*context, **setup, cluster, gpus));
  judge_sweep(ranking.sweep);
  if (!ranking.results.empty()) {
    ranking.results.front().alternatives = alternatives_of(*context, ranking.results.front());
  } else {
    const Offer offer{cluster.instance, cluster.gpu, 1, false};
    Trial trial{&offer, *setup, cluster.nodes(), cluster, std::move(found)};
    ranking.rejected.push_back(explain_rejection(*context, trial));
  }
  return ranking;
}

}  // namespace gpuadvisor::advisor
