// The document of recommend, estimate and plan (data/schema/recommend.schema.json).
#include "report/json.hpp"
#include "report/ranking.hpp"

namespace gpuadvisor::report {
namespace {

Json alternatives_json(const advisor::ResultRow& row) {
  Json array = Json::array();
  for (const advisor::Alternative& alternative : row.alternatives) {
    Json json = Json::object();
    json["why"] = alternative.why;
    json["plan"] = plan_json(alternative.candidate.plan, row.training);
    json["performance"] = performance_json(alternative.candidate, row);
    json["memory"] = memory_json(alternative.candidate, row);
    array.push_back(std::move(json));
  }
  return array;
}

Json score_json(const advisor::Score& score) {
  Json json = Json::object();
  json["total"] = number(score.total);
  json["vram_fit"] = number(score.vram_fit);
  json["interconnect"] = number(score.interconnect);
  json["cost"] = number(score.cost);
  return json;
}

Json result_json(const advisor::ResultRow& row, const advisor::Query& query) {
  Json json = Json::object();
  json["rank"] = row.rank;
  json["provider"] = row.instance != nullptr ? Json(row.instance->provider) : Json(nullptr);
  json["instance"] = row.instance != nullptr ? Json(row.instance->name) : Json(nullptr);
  json["count"] = row.count;
  json["gpu"] = row.gpu != nullptr ? Json(row.gpu->id) : Json(nullptr);
  json["gpus"] = row.cluster.gpus;
  json["nodes"] = row.cluster.nodes();
  if (row.serving) {
    json["plan"] = serving_plan_json(*row.serving, query);
    json["serving"] = serving_json(*row.serving, row);
  } else {
    json["plan"] = plan_json(row.best.plan, row.training);
    json["memory"] = memory_json(row.best, row);
    json["performance"] = performance_json(row.best, row);
  }
  json["cost"] = cost_json(row, query);
  json["score"] = score_json(row.score);
  json["interconnect_class"] = catalog::interconnect_class(row.cluster);
  json["alternatives"] = alternatives_json(row);
  json["reasons"] = array_of(row.reasons);
  json["warnings"] = to_json(row.warnings);
  return json;
}

Json rejected_json(const advisor::Rejected& rejected) {
  Json json = Json::object();
  json["provider"] =
      rejected.instance != nullptr ? Json(rejected.instance->provider) : Json(nullptr);
  json["instance"] = rejected.instance != nullptr ? Json(rejected.instance->name) : Json(nullptr);
  json["count"] = rejected.count;
  json["code"] = advisor::to_string(rejected.code);
  json["message"] = rejected.message;
  json["missing_bytes"] = rejected.missing_bytes ? whole(*rejected.missing_bytes) : Json(nullptr);
  return json;
}

Json pareto_json(const advisor::ParetoPoint& point) {
  Json json = Json::object();
  json["instance"] = point.instance != nullptr ? Json(point.instance->name) : Json(nullptr);
  json["count"] = point.count;
  json["hours"] = number(point.hours);
  json["total"] = number(point.total);
  return json;
}

Json search_json(const planner::SearchStats& stats) {
  Json pruned = Json::object();
  for (std::size_t rule = 0; rule < planner::kRules; ++rule)
    pruned[std::string(planner::to_string(static_cast<planner::Rule>(rule)))] = stats.pruned[rule];
  Json json = Json::object();
  json["plans_in_space"] = stats.in_space;
  json["plans_evaluated"] = stats.evaluated;
  json["plans_pruned"] = std::move(pruned);
  json["plans_fitting"] = stats.fitting;
  return json;
}

Json sweep_json(const advisor::SweepPoint& point, const workload::Training& training) {
  Json json = Json::object();
  json["gpus"] = point.gpus;
  json["nodes"] = point.nodes;
  const bool fits = point.best.has_value();
  json["plan"] = fits ? plan_json(point.best->plan, training) : Json(nullptr);
  json["step_time_s"] = fits ? number(point.best->performance.step_time_s) : Json(nullptr);
  json["tokens_per_s"] = fits ? number(point.best->performance.tokens_per_s) : Json(nullptr);
  json["hours"] = fits ? number(point.hours) : Json(nullptr);
  json["total"] = number(point.total);
  json["efficiency"] = fits ? number(point.efficiency) : Json(nullptr);
  json["knee"] = point.knee;
  json["reason"] = text_or_null(point.reason);
  return json;
}

Json price_option_json(const advisor::PriceOption& option) {
  Json json = Json::object();
  json["price_kind"] = catalog::to_string(option.quote.kind);
  json["currency"] = option.quote.currency;
  json["price_per_hour"] = number(option.quote.per_hour);
  json["region"] = text_or_null(option.quote.region);
  json["price_date"] = text_or_null(option.quote.date);
  json["hours"] = number(option.hours);
  json["total"] = number(option.total);
  json["break_even_hours"] = number(option.break_even_hours);
  return json;
}

template <class Items, class Render>
Json list(const Items& items, const Render& render) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(render(item));
  return array;
}

/// What only some answers have; left out when empty.
void add_studies(Json& json, const advisor::Ranking& ranking) {
  const workload::Training training =
      ranking.results.empty() ? workload::Training{} : ranking.results.front().training;
  if (!ranking.sweep.empty())
    json["sweep"] =
        list(ranking.sweep, [&](const auto& point) { return sweep_json(point, training); });
  if (!ranking.front.empty() && !ranking.results.empty())
    json["front"] = list(ranking.front, [&](const planner::Candidate& candidate) {
      Json point = Json::object();
      point["plan"] = plan_json(candidate.plan, training);
      point["step_time_s"] = number(candidate.performance.step_time_s);
      point["gpu_peak_bytes"] = whole(candidate.memory.needed());
      return point;
    });
  json["price_options"] = list(ranking.price_options, price_option_json);
}

}  // namespace

std::string ranking_json(const advisor::Ranking& ranking) {
  Json json = document(ranking.catalog_date);
  json["request"] = request_json(ranking);
  json["results"] =
      list(ranking.results, [&](const auto& row) { return result_json(row, ranking.query); });
  json["pareto"] = list(ranking.pareto, pareto_json);
  json["rejected"] = list(ranking.rejected, rejected_json);
  json["search"] = search_json(ranking.search);
  json["next_steps"] = array_of(ranking.next_steps);
  json["relaxations"] = array_of(ranking.relaxations);
  add_studies(json, ranking);
  json["warnings"] = to_json(ranking.warnings);
  return dump(json);
}

}  // namespace gpuadvisor::report
