// Results and rejected candidates as rows and columns.
#include <fmt/format.h>

#include "gpuadvisor/units.hpp"
#include "report/format.hpp"
#include "report/ranking.hpp"

namespace gpuadvisor::report {
namespace {

std::string text_of(std::string_view text) { return std::string(text); }

std::string count_text(int value) { return fmt::format("{}", value); }

Cell number_cell(double value) { return {short_number(value), raw_number(value)}; }

Cell optional_cell(const std::optional<double>& value) {
  return {value ? short_number(*value) : "-", raw_number(value)};
}

Cell memory_cell(double used, double usable, std::string_view verdict) {
  return {fmt::format("{}/{}{}", gib(used), gib(usable),
                      verdict == "fits" ? "" : fmt::format(" {}", verdict)),
          raw_number(used)};
}

std::string price_text(const advisor::ResultRow& row) {
  if (!row.quote) return "no price";
  std::string text = text_of(catalog::to_string(row.quote->kind));
  for (const std::string* part : {&row.quote->region, &row.quote->date})
    if (!part->empty()) text += " " + *part;
  return text;
}

std::string score_text(const advisor::Score& score) {
  return fmt::format("{} ({}/{}/{})", format_number(score.total, 2),
                     format_number(score.vram_fit, 2), format_number(score.interconnect, 2),
                     format_number(score.cost, 2));
}

/// Columns that every kind of result starts with.
std::vector<Column> identity_columns() {
  return {{"rank", "#", Align::right, 0},
          {"provider", "provider", Align::left, 9, true},
          {"instance", "instance x count", Align::left, 0},
          {"count", "count", Align::right, 0, true},
          {"gpu", "GPU", Align::left, 6},
          {"gpus", "GPUs", Align::right, 0}};
}

std::vector<Cell> identity_cells(const advisor::ResultRow& row) {
  const bool known = row.instance != nullptr;
  return {count_text(row.rank),
          known ? text_of(row.instance->provider) : std::string(),
          {cluster_label(row), known ? text_of(row.instance->name) : std::string()},
          count_text(row.count),
          row.gpu != nullptr ? text_of(row.gpu->id) : std::string(),
          count_text(row.cluster.gpus)};
}

/// Price columns that every kind of result ends with.
void add_price_columns(std::vector<Column>& columns, const std::string& currency) {
  columns.push_back({"currency", "currency", Align::left, 9, true});
  columns.push_back({"price_per_hour", currency + "/h", Align::right, 4});
  columns.push_back({"price_kind", "price", Align::left, 9});
  columns.push_back({"region", "region", Align::left, 9, true});
  columns.push_back({"price_date", "price date", Align::left, 9, true});
  columns.push_back({"score_total", "score fit/link/cost", Align::left, 5});
  columns.push_back({"score_vram_fit", "memory score", Align::right, 9, true});
  columns.push_back({"score_interconnect", "link score", Align::right, 9, true});
  columns.push_back({"score_cost", "cost score", Align::right, 9, true});
}

void add_price_cells(std::vector<Cell>& cells, const advisor::ResultRow& row) {
  const bool priced = row.quote.has_value();
  const double hourly = priced ? row.quote->per_hour * row.count : 0;
  cells.emplace_back(priced ? row.quote->currency : std::string());
  cells.emplace_back(priced ? format_number(hourly, 2) : "-",
                     priced ? raw_number(row.quote->per_hour) : std::string());
  cells.emplace_back(price_text(row),
                     priced ? text_of(catalog::to_string(row.quote->kind)) : std::string());
  cells.emplace_back(priced ? row.quote->region : std::string());
  cells.emplace_back(priced ? row.quote->date : std::string());
  cells.emplace_back(score_text(row.score), raw_number(row.score.total));
  cells.emplace_back(raw_number(row.score.vram_fit));
  cells.emplace_back(raw_number(row.score.interconnect));
  cells.emplace_back(raw_number(row.score.cost));
}

Grid training_grid(const advisor::Ranking& ranking) {
  Grid grid;
  const std::string& currency = ranking.query.currency;
  grid.columns = identity_columns();
  for (Column column : std::vector<Column>{{"plan", "plan", Align::left, 7},
                                           {"gpu_peak_bytes", "GiB/GPU", Align::right, 0},
                                           {"gpu_usable_bytes", "usable", Align::right, 9, true},
                                           {"verdict", "verdict", Align::left, 9, true},
                                           {"memory_bar", "memory", Align::left, 8},
                                           {"step_time_s", "step s", Align::right, 3},
                                           {"tokens_per_s", "tokens/s", Align::right, 1},
                                           {"mfu", "MFU", Align::right, 2},
                                           {"hours", "hours", Align::right, 0},
                                           {"total_cost", "cost " + currency, Align::right, 0}})
    grid.columns.push_back(std::move(column));
  add_price_columns(grid.columns, currency);

  for (const advisor::ResultRow& row : ranking.results) {
    const planner::Candidate& best = row.best;
    const double usable = row.cluster.gpu_memory_bytes;
    const std::string_view verdict = memory::to_string(best.verdict);
    auto cells = identity_cells(row);
    cells.emplace_back(workload::describe(best.plan));
    cells.push_back(memory_cell(best.memory.needed(), usable, verdict));
    cells.emplace_back(raw_number(usable));
    cells.emplace_back(text_of(verdict));
    cells.emplace_back(bar(best.memory.needed(), usable),
                       raw_number(best.memory.needed() / usable));
    cells.push_back(number_cell(best.performance.step_time_s));
    cells.push_back(number_cell(best.performance.tokens_per_s));
    cells.emplace_back(percent(best.performance.mfu), raw_number(best.performance.mfu));
    cells.emplace_back(row.cost.hours > 0
                           ? with_band(short_number(row.cost.hours), row.performance_band.p50)
                           : "-",
                       row.cost.hours > 0 ? raw_number(row.cost.hours) : std::string());
    cells.push_back(optional_cell(row.cost.total));
    add_price_cells(cells, row);
    grid.rows.push_back(std::move(cells));
  }
  return grid;
}

std::string serving_plan(const serving::Option& option) {
  return fmt::format(
      "{}, {}", serving::describe(option.plan),
      option.quant == serving::Quant::none ? "16-bit" : serving::to_string(option.quant));
}

Grid serving_grid(const advisor::Ranking& ranking) {
  Grid grid;
  const std::string& currency = ranking.query.currency;
  grid.columns = identity_columns();
  for (Column column :
       std::vector<Column>{{"plan", "plan", Align::left, 7},
                           {"gpu_need_bytes", "GiB/GPU", Align::right, 1},
                           {"gpu_usable_bytes", "usable", Align::right, 9, true},
                           {"ttft_ms", "TTFT ms", Align::right, 2},
                           {"tpot_ms", "TPOT ms", Align::right, 0},
                           {"output_tokens_per_s", "out tokens/s", Align::right, 0},
                           {"max_concurrency", "max concurrency", Align::right, 3},
                           {"cost_per_1e6_tokens", currency + "/1e6 tokens", Align::right, 0}})
    grid.columns.push_back(std::move(column));
  add_price_columns(grid.columns, currency);

  for (const advisor::ResultRow& row : ranking.results) {
    if (!row.serving) continue;
    const serving::Memory& memory = row.serving->estimate.memory;
    const serving::Speed& speed = row.serving->estimate.speed;
    auto cells = identity_cells(row);
    cells.emplace_back(serving_plan(*row.serving));
    cells.push_back(memory_cell(memory.need, memory.usable, memory.fits ? "fits" : "does_not_fit"));
    cells.emplace_back(raw_number(memory.usable));
    cells.push_back(number_cell(speed.ttft_s * 1e3));
    cells.push_back(number_cell(speed.tpot_s * 1e3));
    cells.push_back(number_cell(speed.output_tokens_per_s));
    cells.push_back(number_cell(memory.max_concurrency));
    cells.push_back(optional_cell(row.cost_per_1e6_tokens));
    add_price_cells(cells, row);
    grid.rows.push_back(std::move(cells));
  }
  return grid;
}

}  // namespace

std::string cluster_label(const advisor::ResultRow& row) {
  if (row.instance != nullptr) return fmt::format("{} x {}", row.instance->name, row.count);
  return fmt::format("{} x {}", row.gpu != nullptr ? row.gpu->id : "GPU", row.cluster.gpus);
}

Grid results_grid(const advisor::Ranking& ranking) {
  const bool serve = ranking.query.request.mode == workload::Mode::serve;
  return serve ? serving_grid(ranking) : training_grid(ranking);
}

Grid rejected_grid(const advisor::Ranking& ranking) {
  Grid grid;
  grid.columns = {
      {"provider", "provider", Align::left, 2},      {"instance", "instance", Align::left, 0},
      {"count", "count", Align::right, 0},           {"code", "constraint", Align::left, 0},
      {"missing_bytes", "missing", Align::right, 1}, {"message", "reason", Align::left, 0}};
  for (const advisor::Rejected& rejected : ranking.rejected) {
    const bool known = rejected.instance != nullptr;
    const auto& missing = rejected.missing_bytes;
    grid.rows.push_back({known ? text_of(rejected.instance->provider) : std::string(),
                         known ? text_of(rejected.instance->name) : std::string(),
                         count_text(rejected.count),
                         text_of(advisor::to_string(rejected.code)),
                         {missing ? format_bytes(Bytes(*missing)) : std::string(),
                          missing ? format_number(*missing, 0) : std::string()},
                         rejected.message});
  }
  return grid;
}

}  // namespace gpuadvisor::report
