// Predicted against measured, and the yes and no of `check`.
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "gpuadvisor/units.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/listing.hpp"

namespace gpuadvisor::report {
namespace {

Json summary_json(const accuracy::Summary& summary) {
  Json json = Json::object();
  json["kind"] = summary.kind;
  json["group"] = summary.group;
  json["rows"] = summary.rows;
  json["skipped"] = summary.skipped;
  json["median_abs_error"] = number(summary.median_abs_error);
  json["p90_abs_error"] = number(summary.p90_abs_error);
  json["mean_abs_error"] = number(summary.mean_abs_error);
  json["bias"] = number(summary.bias);
  json["judged"] = summary.judged;
  json["right"] = summary.right;
  return json;
}

/// Exactly one of relative_error, correct and skipped is not null.
Json outcome_json(const accuracy::Outcome& outcome) {
  const bool skipped = outcome.skipped.has_value();
  Json json = Json::object();
  json["id"] = outcome.id;
  json["kind"] = outcome.kind;
  json["quantity"] = outcome.quantity;
  json["predicted"] = skipped ? Json(nullptr) : number(outcome.predicted);
  json["measured"] = number(outcome.measured);
  json["relative_error"] = number(outcome.relative_error);
  json["correct"] = outcome.correct ? Json(*outcome.correct) : Json(nullptr);
  json["skipped"] = skipped ? Json(*outcome.skipped) : Json(nullptr);
  json["quality"] = text_or_null(outcome.quality);
  json["method"] = text_or_null(outcome.method);
  json["framework"] = text_or_null(outcome.framework);
  json["gpu"] = text_or_null(outcome.gpu);
  json["source"] = text_or_null(outcome.source);
  return json;
}

std::string share(std::size_t part, std::size_t whole_count) {
  return whole_count == 0 ? "-" : fmt::format("{}/{}", part, whole_count);
}

/// `sources`: also one line a source, whose names are long.
Grid summary_grid(const accuracy::Report& report, bool sources) {
  Grid grid;
  grid.columns = {{"kind", "kind"},
                  {"group", "group"},
                  {"rows", "rows", Align::right},
                  {"skipped", "skipped", Align::right, 2},
                  {"median_abs_error", "median error", Align::right},
                  {"p90_abs_error", "p90", Align::right},
                  {"mean_abs_error", "mean", Align::right, 1},
                  {"bias", "bias", Align::right, 1},
                  {"right", "right", Align::right, 3}};
  for (const accuracy::Summary& summary : report.summaries) {
    if (!sources && summary.group.rfind("source ", 0) == 0) continue;
    const bool compared = summary.rows > summary.judged;
    const auto error = [&](double value) {
      return compared ? Cell{percent(value), raw_number(value)} : Cell{"-", ""};
    };
    grid.rows.push_back({summary.kind, summary.group, fmt::format("{}", summary.rows),
                         fmt::format("{}", summary.skipped), error(summary.median_abs_error),
                         error(summary.p90_abs_error), error(summary.mean_abs_error),
                         error(summary.bias), share(summary.right, summary.judged)});
  }
  return grid;
}

constexpr int kWorstRows = 5;  // of each kind

/// The largest errors of each kind, and every fits/oom row that came out wrong.
Grid worst_grid(const accuracy::Report& report) {
  std::vector<const accuracy::Outcome*> rows;
  for (const accuracy::Outcome& outcome : report.outcomes)
    if (outcome.relative_error) rows.push_back(&outcome);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::fabs(*a->relative_error) > std::fabs(*b->relative_error);
  });
  std::map<std::string_view, int> shown;
  std::erase_if(rows, [&](const auto* row) { return ++shown[row->kind] > kWorstRows; });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto* a, const auto* b) { return a->kind < b->kind; });
  for (const accuracy::Outcome& outcome : report.outcomes)
    if (outcome.correct == false) rows.push_back(&outcome);
  Grid grid;
  grid.columns = {{"id", "worst rows"},
                  {"quantity", "quantity"},
                  {"predicted", "predicted", Align::right},
                  {"measured", "measured", Align::right},
                  {"error", "error", Align::right}};
  for (const accuracy::Outcome* row : rows)
    grid.rows.push_back({row->id, row->quantity, fmt::format("{:.4g}", row->predicted),
                         fmt::format("{:.4g}", row->measured),
                         row->relative_error ? percent(*row->relative_error) : "wrong"});
  return grid;
}

Grid checks_grid(std::span<const Check> checks) {
  Grid grid;
  grid.columns = {{"check", "check"}, {"ok", "ok"}, {"message", "message"}};
  for (const Check& check : checks)
    grid.rows.push_back(
        {check.name, {check.ok ? "yes" : "no", check.ok ? "true" : "false"}, check.message});
  return grid;
}

}  // namespace

std::string render_accuracy(const accuracy::Report& report, const Frame& frame, Format format,
                            const Style& style) {
  if (format != Format::json) {
    const bool table = format == Format::table;
    if (table && !report.explanation.empty()) return report.explanation;
    const std::string summary = grid_text(summary_grid(report, !table), format, style);
    return table ? summary + "\n" + grid_text(worst_grid(report), format, style) : summary;
  }
  Json json = document(frame.catalog_date);
  Json summaries = Json::array();
  for (const accuracy::Summary& summary : report.summaries)
    summaries.push_back(summary_json(summary));
  Json rows = Json::array();
  for (const accuracy::Outcome& outcome : report.outcomes) rows.push_back(outcome_json(outcome));
  json["summary"] = std::move(summaries);
  json["rows"] = std::move(rows);
  json["explanation"] = text_or_null(report.explanation);
  Json warnings = to_json(frame.warnings);
  for (const std::string& text : report.warnings) {
    Json warning = Json::object();
    warning["code"] = "note";
    warning["message"] = text;
    warnings.push_back(std::move(warning));
  }
  json["warnings"] = std::move(warnings);
  return dump(json);
}

std::string render_checks(std::span<const Check> checks, const Frame& frame, Format format,
                          const Style& style) {
  if (format != Format::json) return grid_text(checks_grid(checks), format, style);
  Json json = document(frame.catalog_date);
  bool ok = true;
  Json list = Json::array();
  for (const Check& check : checks) {
    ok = ok && check.ok;
    Json item = Json::object();
    item["name"] = check.name;
    item["ok"] = check.ok;
    item["message"] = check.message;
    list.push_back(std::move(item));
  }
  json["ok"] = ok;
  json["checks"] = std::move(list);
  json["warnings"] = to_json(frame.warnings);
  return dump(json);
}

}  // namespace gpuadvisor::report
