#include "advisor/alternatives.hpp"

#include <fmt/format.h>

#include "advisor/words.hpp"
#include "calibration_data.hpp"

namespace gpuadvisor::advisor {
namespace {

using catalog::PriceKind;

std::optional<Alternative> megatron_plan(const Context& context, const ResultRow& row) {
  workload::Request request = context.request;
  request.framework = workload::Framework::megatron;
  const auto& architecture = context.query.model.architecture;
  const auto resolved = workload::resolve(request, architecture, row.gpu);
  if (!resolved || !performance::refusal(*row.gpu, resolved->training).empty()) return std::nullopt;
  planner::SearchOptions options;
  options.constraints = context.query.constraints;
  options.error_p50 = row.memory_band.p50.value_or(0.0);
  options.threads = thread_count(context.query);
  const auto prepared = memory::prepare(architecture, resolved->training);
  auto found = planner::search(prepared, row.cluster, options);
  if (found.best.empty() || found.best.front().plan == row.best.plan) return std::nullopt;
  return Alternative{"best TP+PP+DP plan (megatron)", found.best.front()};
}

std::optional<Alternative> second_best(const Context& context, const ResultRow& row) {
  const Setup* setup = context.find_setup(row.gpu->id);
  if (setup == nullptr) return std::nullopt;
  auto options = context.search_options(*setup);
  options.top = 2;
  auto found = planner::search(setup->prepared, row.cluster, options);
  if (found.best.size() < 2) return std::nullopt;
  const auto& second = found.best[1];
  const double slower = second.performance.step_time_s / row.best.performance.step_time_s - 1.0;
  return Alternative{fmt::format("second-best plan, {:.1f}% slower: {}", 100.0 * slower,
                                 difference(second.plan, row.best.plan)),
                     second};
}

double checkpoint_seconds(const Context& context, const ResultRow& row) {
  constexpr double kStateBytes = 14;  // 16-bit weights, fp32 master and moments
  const double parameters = row.training.adapters()
                                ? row.training.lora_parameters
                                : model::count_parameters(context.query.model.architecture).total;
  return parameters * kStateBytes /
         (calibration::cost::checkpoint_write_bandwidth * row.cluster.nodes());
}

PriceOption price_option(const Context& context, const ResultRow& row, const cost::Quote& quote) {
  PriceOption option{quote, row.cost.hours, quote.per_hour * row.count * row.cost.hours, {}};
  if (quote.kind == PriceKind::spot) {
    const auto job =
        cost::spot_job(row.cost.hours, row.count, calibration::cost::spot_interruptions_per_hour,
                       checkpoint_seconds(context, row), calibration::cost::restart_s, quote);
    option.hours = job.hours;
    option.total = job.total;
  }
  return option;
}

}  // namespace

std::vector<Alternative> alternatives_of(const Context& context, const ResultRow& row) {
  std::vector<Alternative> found;
  if (framework_is_open(context.query))
    if (auto alternative = megatron_plan(context, row)) found.push_back(std::move(*alternative));
  if (auto alternative = second_best(context, row)) found.push_back(std::move(*alternative));
  return found;
}

std::vector<PriceOption> price_options_of(const Context& context, const ResultRow& row) {
  std::vector<PriceOption> options;
  if (row.instance == nullptr) return options;
  const auto quote_of = [&](PriceKind kind) {
    auto quote = cost::quote(*row.instance, kind, context.query.region, context.query.currency,
                             context.rates);
    if (quote && quote->kind != kind) quote.reset();
    return quote;
  };
  const auto hourly = quote_of(PriceKind::on_demand);
  for (const auto kind : {PriceKind::on_demand, PriceKind::spot, PriceKind::subscription,
                          PriceKind::savings_plan, PriceKind::reserved}) {
    const auto quote = quote_of(kind);
    if (!quote) continue;
    options.push_back(price_option(context, row, *quote));
    const bool committed = kind != PriceKind::on_demand && kind != PriceKind::spot;
    if (committed && hourly)
      options.back().break_even_hours = cost::break_even_hours(*hourly, *quote);
  }
  return options;
}

}  // namespace gpuadvisor::advisor
