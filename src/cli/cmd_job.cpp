// recommend, estimate, plan and check: one question, one ranking.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/query.hpp"
#include "gpuadvisor/report.hpp"

namespace gpuadvisor::cli {
namespace {

/// What all four need before they differ.
struct Job {
  catalog::Catalog catalog;
  advisor::Query query;
  Presentation shown;
};

Result<Job> prepare_job(const Arguments& arguments, const Environment& environment) {
  auto shown = presentation(arguments, environment);
  if (!shown) return tl::unexpected(shown.error());
  auto loaded = load_catalog(arguments, environment);
  if (!loaded) return tl::unexpected(loaded.error());
  auto query = read_query(arguments, *loaded);
  if (!query) return tl::unexpected(query.error());
  return Job{std::move(*loaded), std::move(*query), *shown};
}

/// Formats without room for them leave warnings to standard error.
std::string warning_notes(const advisor::Ranking& ranking, report::Format format) {
  if (format != report::Format::csv && format != report::Format::markdown) return {};
  std::string notes;
  for (const advisor::Warning& warning : ranking.warnings)
    notes += fmt::format("warning: {} [{}]\n", warning.message, advisor::to_string(warning.code));
  return notes;
}

bool fits(const advisor::ResultRow& row) {
  return row.serving ? row.serving->estimate.memory.fits
                     : row.best.verdict != memory::Verdict::does_not_fit;
}

Output output_of(const advisor::Ranking& ranking, const Job& job) {
  Output output;
  output.text = report::render(ranking, job.shown.format, job.shown.style);
  output.notes = warning_notes(ranking, job.shown.format);
  bool any = false;
  for (const advisor::ResultRow& row : ranking.results) any = any || fits(row);
  if (!any) {
    output.status = kNegative;
    output.notes += ranking.results.empty() ? "nothing fits\n" : "the plan does not fit\n";
  }
  return output;
}

Result<Output> run_on_cluster(const Arguments& arguments, const Environment& environment,
                              Result<advisor::Ranking> (*answer)(const catalog::Catalog&,
                                                                 const advisor::Query&,
                                                                 const catalog::Cluster&)) {
  auto job = prepare_job(arguments, environment);
  if (!job) return tl::unexpected(job.error());
  const auto cluster = read_cluster(arguments, job->catalog);
  if (!cluster) return tl::unexpected(cluster.error());
  const auto ranking = answer(job->catalog, job->query, *cluster);
  if (!ranking) return tl::unexpected(ranking.error());
  return output_of(*ranking, *job);
}

/// The best answer without limits of money and time, to tell which limit is missed.
Result<advisor::Ranking> answer_for_check(const Job& job, const Arguments& arguments) {
  if (!has_cluster(arguments)) return advisor::recommend(job.catalog, job.query);
  const auto cluster = read_cluster(arguments, job.catalog);
  if (!cluster) return tl::unexpected(cluster.error());
  return advisor::estimate(job.catalog, job.query, *cluster);
}

std::string money_text(double amount, const std::string& currency) {
  return format_money({amount, currency});
}

report::Check fits_check(const advisor::Ranking& ranking) {
  for (const advisor::ResultRow& row : ranking.results) {
    if (!fits(row)) continue;
    const std::string where =
        row.instance != nullptr ? std::string(row.instance->name) : std::string(row.gpu->id);
    return {"fits", true,
            fmt::format("{} x {} holds it", where,
                        row.instance != nullptr ? row.count : row.cluster.gpus)};
  }
  const std::string why = ranking.relaxations.empty()
                              ? std::string("nothing fits")
                              : "nothing fits; " + ranking.relaxations.front();
  return {"fits", false, why};
}

cost::Rates rates_for(const Job& job) {
  cost::Rates rates = cost::rates_of(job.catalog);
  for (const auto& [currency, cny] : job.query.rates) rates.set(currency, cny);
  return rates;
}

report::Check budget_check(const advisor::Ranking& ranking, const Money& budget,
                           const cost::Rates& rates) {
  std::optional<double> least;
  for (const advisor::ResultRow& row : ranking.results)
    if (fits(row) && row.cost.total && (!least || *row.cost.total < *least)) least = row.cost.total;
  if (!least) return {"budget", false, "no candidate that fits has a price"};
  double limit = budget.amount;
  if (budget.currency != ranking.query.currency) {
    const auto converted = rates.convert(budget.amount, budget.currency, ranking.query.currency);
    if (!converted)
      return {"budget", false,
              fmt::format("no rate from {} to {}; give --rate or --currency", budget.currency,
                          ranking.query.currency)};
    limit = *converted;
  }
  return {"budget", *least <= limit,
          fmt::format("the cheapest that fits costs {}, the budget is {}",
                      money_text(*least, ranking.query.currency), format_money(budget))};
}

report::Check deadline_check(const advisor::Ranking& ranking, double deadline_s) {
  std::optional<double> least;
  for (const advisor::ResultRow& row : ranking.results)
    if (fits(row) && row.cost.hours > 0 && (!least || row.cost.hours < *least))
      least = row.cost.hours;
  if (!least) return {"deadline", false, "nothing fits"};
  return {
      "deadline", *least * 3600 <= deadline_s,
      fmt::format("the fastest that fits takes {}, the deadline is {}",
                  format_duration(Seconds(*least * 3600)), format_duration(Seconds(deadline_s)))};
}

}  // namespace

Result<Output> run_recommend(const Arguments& arguments, const Environment& environment) {
  auto job = prepare_job(arguments, environment);
  if (!job) return tl::unexpected(job.error());
  const auto ranking = advisor::recommend(job->catalog, job->query);
  if (!ranking) return tl::unexpected(ranking.error());
  return output_of(*ranking, *job);
}

Result<Output> run_compare(const Arguments& arguments, const Environment& environment) {
  auto job = prepare_job(arguments, environment);
  if (!job) return tl::unexpected(job.error());
  const auto ranking = advisor::compare(job->catalog, job->query);
  if (!ranking) return tl::unexpected(ranking.error());
  return output_of(*ranking, *job);
}

Result<Output> run_estimate(const Arguments& arguments, const Environment& environment) {
  return run_on_cluster(arguments, environment, advisor::estimate);
}

Result<Output> run_plan(const Arguments& arguments, const Environment& environment) {
  return run_on_cluster(arguments, environment, advisor::plan);
}

Result<Output> run_check(const Arguments& arguments, const Environment& environment) {
  auto job = prepare_job(arguments, environment);
  if (!job) return tl::unexpected(job.error());
  const auto budget = std::exchange(job->query.budget, std::nullopt);
  const auto deadline_s = std::exchange(job->query.deadline_s, std::nullopt);
  job->query.top = 1000;
  const auto ranking = answer_for_check(*job, arguments);
  if (!ranking) return tl::unexpected(ranking.error());

  std::vector<report::Check> checks = {fits_check(*ranking)};
  if (budget) checks.push_back(budget_check(*ranking, *budget, rates_for(*job)));
  if (deadline_s) checks.push_back(deadline_check(*ranking, *deadline_s));
  Output output;
  for (const report::Check& check : checks)
    if (!check.ok) output.status = kNegative;
  const report::Frame frame{ranking->catalog_date, ranking->warnings};
  output.text = report::render_checks(checks, frame, job->shown.format, job->shown.style);
  return output;
}

}  // namespace gpuadvisor::cli
