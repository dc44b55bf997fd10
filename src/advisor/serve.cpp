#include "advisor/serve.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "advisor/candidates.hpp"
#include "advisor/ranking.hpp"
#include "advisor/relax.hpp"
#include "advisor/words.hpp"

namespace gpuadvisor::advisor {
namespace {

using serving::Option;

/// Arrivals that outrun the engines queue without end: no answer, whatever the targets.
bool meets_targets(const serving::Request& request, const serving::Speed& speed) {
  return speed.utilisation <= 1 &&
         (request.ttft_target_s <= 0 || speed.ttft_s <= request.ttft_target_s) &&
         (request.tpot_target_s <= 0 || speed.tpot_s <= request.tpot_target_s);
}

std::vector<Option> options_on(const Query& query, const serving::Model& model,
                               const catalog::Cluster& cluster) {
  const std::vector<serving::Quant> one{query.serve.quant};
  auto options = serving::compare_options(model, query.serve, cluster,
                                          query.serve_formats.empty() ? one : query.serve_formats);
  const planner::Constraints& fixed = query.constraints;
  std::erase_if(options, [&](const Option& option) {
    return (fixed.tp && option.plan.tp != *fixed.tp) || (fixed.pp && option.plan.pp != *fixed.pp);
  });
  return options;
}

/// Does the option carry the whole load, with all clients in the cache?
bool carries_load(const serving::Speed& speed) {
  return speed.limit != serving::Limit::kv_capacity;
}

/// The option with the highest throughput that keeps the targets, one that carries the
/// load before the others.
const Option* choose(const Query& query, const std::vector<Option>& options) {
  const Option* partial = nullptr;
  for (const auto& option : options) {
    if (!meets_targets(query.serve, option.estimate.speed)) continue;
    if (carries_load(option.estimate.speed)) return &option;
    if (partial == nullptr) partial = &option;
  }
  return partial;
}

/// What was found for one instance type: the least count whose best option carries the
/// load; else the least count with any option.
struct Found {
  catalog::Cluster cluster;
  std::optional<Option> best;
  std::optional<Option> nearest;  ///< misses the targets; of the largest count
  std::size_t evaluated = 0;
};

/// Copies need no fast network, so any type may be counted up; a model that needs several
/// nodes wants a type that may be joined.
int most_instances(const Query& query, const Offer& offer) {
  const int gpus = std::max(1, offer.instance->gpus);
  return std::max(1, query.max_gpus ? *query.max_gpus / gpus : query.max_nodes);
}

/// Counts between two powers of two are tried where the upper one carries the load.
void smaller_count(const Query& query, const serving::Model& model, const Offer& offer, int enough,
                   Found& found) {
  for (int count = enough / 2 + 1; count < enough; ++count) {
    const auto cluster = catalog::make_cluster(*offer.instance, *offer.gpu, count);
    const auto options = options_on(query, model, cluster);
    found.evaluated += options.size();
    const Option* option = choose(query, options);
    if (option == nullptr || !carries_load(option->estimate.speed)) continue;
    found.best = *option;
    found.cluster = cluster;
    return;
  }
}

Found find_option(const Query& query, const serving::Model& model, const Offer& offer) {
  Found found;
  for (const int count : power_counts(most_instances(query, offer))) {
    const auto cluster = catalog::make_cluster(*offer.instance, *offer.gpu, count);
    const auto options = options_on(query, model, cluster);
    found.evaluated += options.size();
    if (count == 1) found.cluster = cluster;
    if (options.empty() && offer.max_count <= 1) break;
    if (!options.empty()) found.nearest = options.front();
    const Option* option = choose(query, options);
    if (option == nullptr) continue;
    const bool carries = carries_load(option->estimate.speed);
    if (!found.best || carries) {
      found.best = *option;
      found.cluster = cluster;
    }
    if (!carries) continue;
    if (count > 2) smaller_count(query, model, offer, count, found);
    break;
  }
  return found;
}

ResultRow row_of(const Context& context, const catalog::Cluster& cluster, const Option& option) {
  ResultRow row;
  row.instance = cluster.instance;
  row.gpu = cluster.gpu;
  row.count = cluster.nodes();
  row.cluster = cluster;
  row.serving = option;
  if (row.instance != nullptr)
    row.quote = cost::quote(*row.instance, context.query.price_kind, context.query.region,
                            context.query.currency, context.rates);
  const double rate = option.estimate.speed.output_tokens_per_s;
  if (!row.quote || !(rate > 0)) return row;
  row.cost.per_1e9_tokens = row.quote->per_hour * row.count / (rate * 3600.0) * 1e9;
  row.cost_per_1e6_tokens = *row.cost.per_1e9_tokens / 1e3;
  const double per_second = row.quote->per_hour * row.count / 3600.0;
  row.cost_per_1e6_input = per_second * option.estimate.speed.input_token_s * 1e6;
  row.cost_per_1e6_output = per_second * option.estimate.speed.output_token_s * 1e6;
  return row;
}

/// What only the rows that are shown need.
void study(const Query& query, const serving::Model& model, ResultRow& row) {
  serving::Request request = query.serve;
  request.quant = row.serving->quant;
  const serving::Plan& plan = row.serving->plan;
  row.largest_context = serving::largest_context(model, request, plan, row.cluster);
  row.saturation = serving::saturation(model, request, plan, row.cluster);
  if (query.trace.empty()) return;
  row.replay = serving::simulate(model, request, plan, row.cluster, query.trace);
  row.replay->requests = {};
}

/// Least memory over the tensor parallel sizes of the instance.
Rejected out_of_memory(const Query& query, const serving::Model& model,
                       const catalog::Cluster& cluster) {
  serving::Plan plan;
  for (int tp = 1; tp * 2 <= std::min(cluster.gpus, cluster.gpus_per_node); tp *= 2)
    plan.tp = tp * 2;
  const auto refused = serving::refusal(model, query.serve, plan, *cluster.gpu);
  if (!refused.empty())
    return {cluster.instance, 1, RejectCode::dtype_unsupported, std::string(refused), std::nullopt};
  const auto memory = serving::estimate_memory(model, query.serve, plan, cluster);
  return {
      cluster.instance, 1, RejectCode::gpu_memory,
      fmt::format("needs {} a GPU on {} GPUs, {} within the engine's share",
                  format_bytes(Bytes(memory.need)), plan.tp, format_bytes(Bytes(memory.budget))),
      memory.missing()};
}

Rejected misses_target(const Query& query, const catalog::Cluster& cluster, const Option& nearest) {
  if (nearest.estimate.speed.utilisation > 1)
    return {cluster.instance, cluster.nodes(), RejectCode::deadline,
            fmt::format("{} GPUs serve {:.1f} of the {:.1f} requests/s", nearest.plan.gpus(),
                        nearest.estimate.speed.requests_per_s, query.serve.rate_rps),
            std::nullopt};
  return {cluster.instance, 1, RejectCode::deadline,
          fmt::format("misses the latency target: {:.0f} ms to the first token, {:.1f} ms a token",
                      1e3 * nearest.estimate.speed.ttft_s, 1e3 * nearest.estimate.speed.tpot_s),
          std::nullopt};
}

std::vector<std::string> serving_reasons(const ResultRow& row) {
  const auto& memory = row.serving->estimate.memory;
  const auto& speed = row.serving->estimate.speed;
  std::vector<std::string> reasons{
      fmt::format("memory: weights {} a GPU, cache for {} tokens, {:.0f} sequences of full length",
                  format_bytes(Bytes(memory.weights)), format_count(memory.kv_tokens),
                  memory.max_concurrency),
      fmt::format("speed: {:.0f} output tokens/s, {:.0f} ms to the first token, {:.1f} ms a token, "
                  "bound by {}",
                  speed.output_tokens_per_s, 1e3 * speed.ttft_s, 1e3 * speed.tpot_s,
                  serving::to_string(speed.limit))};
  if (row.cost_per_1e6_tokens)
    reasons.push_back(fmt::format("cost: {} per 1e6 output tokens",
                                  format_money({*row.cost_per_1e6_tokens, row.quote->currency})));
  else
    reasons.emplace_back("cost: no price known, ranked after all priced instances");
  return reasons;
}

std::vector<Warning> serving_warnings(const ResultRow& row) {
  std::vector<Warning> found;
  const auto& speed = row.serving->estimate.speed;
  if (speed.limit == serving::Limit::kv_capacity)
    found.push_back(
        {WarningCode::capacity_bound,
         fmt::format("the cache holds {:.0f} running sequences a replica; the rest queue",
                     speed.running)});
  if (row.serving->plan.tp > 1 && row.cluster.link == catalog::NodeLink::pcie)
    found.push_back(
        {WarningCode::pcie_only, "tensor parallelism over PCIe: all-reduces cost time"});
  if (row.instance != nullptr && !row.quote)
    found.push_back(
        {WarningCode::no_price,
         fmt::format("no price known for {}; add one with --catalog", row.instance->name)});
  if (row.quote && row.quote->kind == catalog::PriceKind::observed)
    found.push_back(
        {WarningCode::observed_price,
         fmt::format("the price is a sighting by {}, not the provider's list", row.quote->source)});
  return found;
}

void add_study(ResultRow& row) {
  row.reasons.push_back(
      fmt::format("limits: one request of up to {} tokens; {:.0f} clients saturate it at {:.0f} "
                  "output tokens/s",
                  format_count(row.largest_context), row.saturation.concurrency,
                  row.saturation.output_tokens_per_s));
  if (row.replay)
    row.reasons.push_back(fmt::format(
        "trace: first token after {:.0f} ms at the median and {:.0f} ms at the 95th percentile, "
        "{:.1f} and {:.1f} ms a token, {:.0f} output tokens/s",
        1e3 * row.replay->ttft_p50_s, 1e3 * row.replay->ttft_p95_s, 1e3 * row.replay->tpot_p50_s,
        1e3 * row.replay->tpot_p95_s, row.replay->output_tokens_per_s));
}

void describe(const Query& query, const serving::Model& model, ResultRow& row) {
  study(query, model, row);
  row.reasons = serving_reasons(row);
  add_study(row);
  row.warnings = serving_warnings(row);
}

/// What the request left at its defaults, as flags of the command line.
std::vector<workload::Assumption> assumptions(const serving::Request& request) {
  const serving::Request usual;
  std::vector<workload::Assumption> assumed;
  const auto note = [&](bool same, const char* field, std::string value, const char* flag) {
    if (same) assumed.push_back({field, std::move(value), flag});
  };
  note(request.input_len == usual.input_len, "input_len", format_number(usual.input_len, 0),
       "--input-len");
  note(request.output_len == usual.output_len, "output_len", format_number(usual.output_len, 0),
       "--output-len");
  note(request.load == serving::Load::closed && request.concurrency == usual.concurrency,
       "concurrency", format_number(usual.concurrency, 0), "--concurrency");
  note(request.engine == usual.engine, "engine", std::string(serving::to_string(usual.engine)),
       "--engine");
  return assumed;
}

std::vector<std::string> serving_steps(const ResultRow& row) {
  return {
      fmt::format("launch files: gpuadvisor emit --for vllm with the same flags; PAI-EAS serves "
                  "them behind one address"),
      fmt::format(
          "pilot run first: {:.0f} requests at once should show about {:.0f} output tokens/s",
          row.serving->estimate.speed.running * row.serving->plan.replicas,
          row.serving->estimate.speed.output_tokens_per_s),
      "steady load pays less by subscription; see the break-even hours of the price kinds"};
}

}  // namespace

Result<Ranking> rank_serving(const catalog::Catalog& catalog, const Query& query) {
  auto context = make_context(catalog, query);
  if (!context) return tl::unexpected(context.error());
  auto offers = list_offers(*context);
  if (!offers) return tl::unexpected(offers.error());
  const auto model = serving::prepare(query.model.architecture);
  Ranking ranking = make_ranking("recommend", *context);
  ranking.assumed = assumptions(query.serve);
  ranking.rejected = std::move(offers->rejected);
  std::vector<ResultRow> rows;
  for (const auto& offer : offers->offers) {
    if (offer.foreign) continue;
    const Found found = find_option(query, model, offer);
    ranking.search.in_space += found.evaluated;
    ranking.search.evaluated += found.evaluated;
    ranking.search.fitting += found.evaluated;
    if (found.best)
      rows.push_back(row_of(*context, found.cluster, *found.best));
    else if (!found.nearest)
      ranking.rejected.push_back(out_of_memory(query, model, found.cluster));
    else
      ranking.rejected.push_back(misses_target(query, found.cluster, *found.nearest));
  }
  score_rows(query.weights, rows);
  std::stable_sort(rows.begin(), rows.end(), [&](const ResultRow& left, const ResultRow& right) {
    return ranks_before(query.objective, left, right);
  });
  ranking.results = best_of_groups(std::move(rows), query);
  for (auto& row : ranking.results) describe(query, model, row);
  if (auto old = old_price_warning(context->as_of, ranking.results))
    ranking.warnings.push_back(std::move(*old));
  if (!ranking.results.empty()) ranking.next_steps = serving_steps(ranking.results.front());
  return ranking;
}

Result<Ranking> serve_on(const catalog::Catalog& catalog, const Query& query,
                         const catalog::Cluster& cluster) {
  auto context = make_context(catalog, query);
  if (!context) return tl::unexpected(context.error());
  const auto model = serving::prepare(query.model.architecture);
  Ranking ranking = make_ranking("plan", *context);
  ranking.assumed = assumptions(query.serve);
  const auto options = options_on(query, model, cluster);
  ranking.search.in_space = ranking.search.evaluated = ranking.search.fitting = options.size();
  for (const auto& option : options) {
    if (ranking.results.size() == query.top) break;
    ranking.results.push_back(row_of(*context, cluster, option));
  }
  if (options.empty()) ranking.rejected.push_back(out_of_memory(query, model, cluster));
  score_rows(query.weights, ranking.results);
  int rank = 0;
  for (auto& row : ranking.results) {
    row.rank = ++rank;
    describe(query, model, row);
  }
  if (!ranking.results.empty()) ranking.next_steps = serving_steps(ranking.results.front());
  return ranking;
}

}  // namespace gpuadvisor::advisor
