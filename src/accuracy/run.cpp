#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accuracy/rows.hpp"
#include "accuracy/summary.hpp"
#include "accuracy/training_row.hpp"

namespace gpuadvisor::accuracy {
namespace {

std::vector<Outcome> outcomes_of(const Json& row, Context& context) {
  const std::string kind = text(row, "kind");
  if (kind == "train_memory" || kind == "train_speed") return training_outcomes(row, context);
  if (kind == "serve_memory" || kind == "serve_speed") return serving_outcomes(row, context);
  return {
      skip(row, "", kind.empty() ? "the row has no kind" : fmt::format("unknown kind '{}'", kind))};
}

void run_row(const Json& row, Context& context, Report& report) {
  if (!row.is_object()) {
    Outcome outcome;
    outcome.skipped = "the row is no object";
    report.outcomes.push_back(std::move(outcome));
    return;
  }
  check_row_keys(row, context.unknown);
  for (Outcome& outcome : outcomes_of(row, context)) report.outcomes.push_back(std::move(outcome));
}

/// The rows of a document; a row without `kind` takes that of the document.
Result<Json> rows_of(const Document& document) {
  Json json = Json::parse(document.text, nullptr, false);
  if (json.is_discarded()) return fail(ErrorCode::input, "is no valid JSON", document.file);
  if (!json.is_object() || !json.contains("rows") || !json["rows"].is_array())
    return fail(ErrorCode::input, "has no list 'rows'", document.file);
  const std::string kind = text(json, "kind");
  for (Json& row : json["rows"])
    if (row.is_object() && !row.contains("kind") && !kind.empty()) row["kind"] = kind;
  return std::move(json["rows"]);
}

}  // namespace

Result<Report> run(const catalog::Catalog& catalog, std::span<const Document> documents,
                   const Options& options) {
  Report report;
  Context context{catalog, options, {}, {}};
  for (const Document& document : documents) {
    auto rows = rows_of(document);
    if (!rows) return tl::unexpected(rows.error());
    for (const Json& row : *rows) run_row(row, context, report);
  }
  if (!options.explain_id.empty() && context.explanation.empty())
    report.warnings.push_back(fmt::format("no row '{}' to explain", options.explain_id));
  report.summaries = summarise(report.outcomes);
  report.explanation = std::move(context.explanation);
  for (std::string& warning : context.unknown.warnings())
    report.warnings.push_back(std::move(warning));
  return report;
}

}  // namespace gpuadvisor::accuracy
