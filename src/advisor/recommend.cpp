#include <algorithm>

#include <fmt/format.h>

#include "advisor/alternatives.hpp"
#include "advisor/ranking.hpp"
#include "advisor/relax.hpp"
#include "advisor/serve.hpp"
#include "advisor/words.hpp"

namespace gpuadvisor::advisor {
namespace {

/// A fitting row that a limit of the user refuses; nothing when it passes.
std::optional<Rejected> limit_broken(const Query& query, const ResultRow& row) {
  Rejected rejected{row.instance, row.count, RejectCode::budget, {}, std::nullopt};
  if (query.budget && !row.cost.total) {
    rejected.code = RejectCode::no_price;
    rejected.message = "no price, so the budget cannot be checked";
    return rejected;
  }
  if (query.budget && *row.cost.total > query.budget->amount) {
    rejected.message = fmt::format("costs {}, the budget is {}",
                                   format_money({*row.cost.total, row.quote->currency}),
                                   format_money(*query.budget));
    return rejected;
  }
  if (query.deadline_s && row.cost.hours * 3600.0 > *query.deadline_s) {
    rejected.code = RejectCode::deadline;
    rejected.message = fmt::format("takes {}, the deadline is {}",
                                   format_duration(Seconds(row.cost.hours * 3600.0)),
                                   format_duration(Seconds(*query.deadline_s)));
    return rejected;
  }
  return std::nullopt;
}

/// A budget in another currency than the ranking's is converted once.
Result<Query> with_budget_in_currency(const Query& query, const cost::Rates& rates) {
  Query converted = query;
  if (!query.budget) return converted;
  const auto amount = rates.convert(query.budget->amount, query.budget->currency, query.currency);
  if (!amount)
    return fail(
        ErrorCode::usage,
        fmt::format("no exchange rate from {} to {}", query.budget->currency, query.currency),
        "--budget", "set one with --rate");
  converted.budget = Money{*amount, query.currency};
  return converted;
}

void reject_refused(const Context& context, const Offers& offers, Ranking& ranking) {
  for (const auto& offer : offers.offers) {
    const Setup* setup = context.find_setup(offer.gpu->id);
    if (!offer.foreign && !setup->refusal.empty())
      ranking.rejected.push_back(
          {offer.instance, 1, RejectCode::dtype_unsupported, setup->refusal, std::nullopt});
    const bool rdma = offer.instance->rdma != catalog::Fabric::none;
    if (!offer.foreign && setup->refusal.empty() && !rdma && offer.max_count > 1 &&
        context.query.rdma == RdmaPolicy::required)
      ranking.rejected.push_back({offer.instance, 2, RejectCode::rdma_required,
                                  "several nodes without RDMA, which was required", std::nullopt});
  }
}

/// Splits trials into rows and rejections; rows of other providers go to `foreign`.
void sort_out(const Context& context, const std::vector<Trial>& trials, const Query& limits,
              Ranking& ranking, std::vector<ResultRow>& rows, std::vector<ResultRow>& foreign) {
  for (const auto& trial : trials) {
    if (!trial.fits()) {
      if (!trial.offer->foreign) ranking.rejected.push_back(explain_rejection(context, trial));
      continue;
    }
    ResultRow row = make_row(context, trial);
    auto broken = limit_broken(limits, row);
    if (trial.offer->foreign) {
      if (!broken) foreign.push_back(std::move(row));
    } else if (broken) {
      ranking.rejected.push_back(std::move(*broken));
    } else {
      rows.push_back(std::move(row));
    }
  }
}

/// Balanced advice leaves out jobs that nobody would wait for: longer than 90 days and
/// more than twice as long as the fastest that fits. An assumption, listed as one.
std::vector<Rejected> drop_endless(const Query& query, std::vector<ResultRow>& rows) {
  std::vector<Rejected> dropped;
  constexpr double kPatienceHours = 90 * 24.0;
  constexpr double kTimesFastest = 2;
  if (query.objective != Objective::balanced || query.deadline_s || rows.empty()) return dropped;
  double fastest = rows.front().cost.hours;
  for (const auto& row : rows) fastest = std::min(fastest, row.cost.hours);
  const double limit = std::max(kPatienceHours, kTimesFastest * fastest);
  const std::string words = format_duration(Seconds(limit * 3600.0));
  const auto endless = [&](const ResultRow& row) { return row.cost.hours > limit; };
  for (const auto& row : rows)
    if (endless(row))
      dropped.push_back({row.instance, row.count, RejectCode::deadline,
                         fmt::format("takes {}, assumed deadline {} (--deadline changes it)",
                                     format_duration(Seconds(row.cost.hours * 3600.0)), words),
                         std::nullopt});
  rows.erase(std::remove_if(rows.begin(), rows.end(), endless), rows.end());
  return dropped;
}

void leave_out_endless(const Query& query, Ranking& ranking, std::vector<ResultRow>& rows,
                       std::vector<ResultRow>& foreign) {
  drop_endless(query, foreign);
  auto dropped = drop_endless(query, rows);
  if (dropped.empty()) return;
  ranking.assumed.push_back({"deadline", "90 d, or twice the fastest", "--deadline"});
  for (auto& one : dropped) ranking.rejected.push_back(std::move(one));
}

void note_other_clouds(const Query& query, std::vector<ResultRow> foreign, const ResultRow* best,
                       Ranking& ranking) {
  std::vector<ResultRow> all = std::move(foreign);
  if (all.empty()) return;
  if (best != nullptr) all.push_back(*best);
  score_rows(query.weights, all);
  if (best != nullptr) all.pop_back();
  const auto first =
      std::min_element(all.begin(), all.end(), [&](const auto& left, const auto& right) {
        return ranks_before(query.objective, left, right);
      });
  std::string text =
      fmt::format("best of the other clouds: {} ({}), {}",
                  name_of(first->instance, first->count, first->cluster), first->instance->provider,
                  format_duration(Seconds(first->cost.hours * 3600.0)));
  if (first->cost.total) text += ", " + format_money({*first->cost.total, first->quote->currency});
  ranking.warnings.push_back({WarningCode::note, text + "; rank them with --provider all"});
}

void describe_results(const Context& context, const std::vector<ResultRow>& all, Ranking& ranking) {
  std::optional<double> cheapest;
  for (const auto& row : all)
    if (row.cost.per_1e9_tokens && (!cheapest || *row.cost.per_1e9_tokens < *cheapest))
      cheapest = row.cost.per_1e9_tokens;
  for (auto& row : ranking.results) {
    row.alternatives = alternatives_of(context, row);
    row.reasons = reasons_of(context.query, row, cheapest);
    row.warnings = warnings_of(context, row);
  }
  if (auto old = old_price_warning(context.as_of, ranking.results))
    ranking.warnings.push_back(std::move(*old));
  if (ranking.results.empty()) return;
  ranking.next_steps = next_steps(context, ranking.results.front());
  ranking.price_options = price_options_of(context, ranking.results.front());
}

/// As the best result's GPU runs it; without a result as any GPU would.
void note_assumptions(const Context& context, Ranking& ranking) {
  const auto& assumed = ranking.results.empty()
                            ? context.general_assumed
                            : context.find_setup(ranking.results.front().gpu->id)->assumed;
  ranking.assumed.insert(ranking.assumed.end(), assumed.begin(), assumed.end());
}

void order_rejected(std::vector<Rejected>& rejected) {
  std::stable_sort(
      rejected.begin(), rejected.end(), [](const Rejected& left, const Rejected& right) {
        const auto key = [](const Rejected& one) {
          return std::make_tuple(one.instance->provider, one.instance->name, one.count);
        };
        return key(left) < key(right);
      });
}

}  // namespace

Result<Ranking> rank_offers(const catalog::Catalog& catalog, const Query& query) {
  if (query.request.mode == workload::Mode::serve) return rank_serving(catalog, query);
  auto context = make_context(catalog, query);
  if (!context) return tl::unexpected(context.error());
  auto limits = with_budget_in_currency(query, context->rates);
  if (!limits) return tl::unexpected(limits.error());
  auto offers = list_offers(*context);
  if (!offers) return tl::unexpected(offers.error());
  for (const auto& offer : offers->offers) add_setup(*context, *offer.gpu);

  Ranking ranking = make_ranking("recommend", *context);
  ranking.rejected = std::move(offers->rejected);
  reject_refused(*context, *offers, ranking);
  const auto trials = try_offers(*context, offers->offers, ranking.search);
  std::vector<ResultRow> rows, foreign;
  sort_out(*context, trials, *limits, ranking, rows, foreign);
  leave_out_endless(query, ranking, rows, foreign);
  order_rejected(ranking.rejected);

  score_rows(query.weights, rows);
  std::stable_sort(rows.begin(), rows.end(), [&](const ResultRow& left, const ResultRow& right) {
    return ranks_before(query.objective, left, right);
  });
  for (const ResultRow& row : rows) ranking.fitting_families.push_back(row.instance->family);
  ranking.pareto = pareto_front(rows);
  ranking.results = best_of_groups(rows, query);
  note_other_clouds(query, std::move(foreign),
                    ranking.results.empty() ? nullptr : &ranking.results.front(), ranking);
  describe_results(*context, rows, ranking);
  note_assumptions(*context, ranking);
  return ranking;
}

Ranking make_ranking(std::string command, const Context& context) {
  Ranking ranking;
  ranking.command = std::move(command);
  ranking.query = context.query;
  ranking.catalog_date = context.catalog.date();
  ranking.counts = model::count_parameters(context.query.model.architecture);
  ranking.assumed = context.assumed;
  return ranking;
}

Result<Ranking> recommend(const catalog::Catalog& catalog, const Query& query) {
  auto ranking = rank_offers(catalog, query);
  if (ranking && ranking->results.empty())
    ranking->relaxations = find_relaxations(catalog, query, *ranking);
  return ranking;
}

Result<Ranking> compare(const catalog::Catalog& catalog, Query query) {
  if (query.instances.size() < 2)
    return fail(ErrorCode::usage, "compares two or more instance types", "--instance",
                "for example --instance ecs.gn7i-c8g1.2xlarge,ecs.gn8is.4xlarge");
  query.per_instance = true;
  query.providers.clear();
  query.top = query.instances.size();
  auto ranking = recommend(catalog, query);
  if (ranking) ranking->command = "compare";
  return ranking;
}

}  // namespace gpuadvisor::advisor
