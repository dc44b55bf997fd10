// The answer for people: a heading, one line a result, and under it why, what was
// assumed, what was rejected and what to do next.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "gpuadvisor/units.hpp"
#include "report/format.hpp"
#include "report/ranking.hpp"
#include "report/text.hpp"

namespace gpuadvisor::report {
namespace {

/// Writes sections with one width and colour setting.
class Page {
 public:
  explicit Page(const Style& style) : style_(style) {}

  void heading(std::string_view text) {
    text_ +=
        style_.colour ? fmt::format("\n\x1b[1m{}\x1b[0m\n", text) : fmt::format("\n{}\n", text);
  }
  void paragraph(std::string_view prefix, std::string_view text) {
    text_ += wrap(prefix, text, columns());
  }
  /// "label  text" with the label padded to `label_width`.
  void item(std::string_view label, std::size_t label_width, std::string_view text) {
    text_ += wrap(fmt::format("  {}  ", pad_right(label, label_width)), text, columns());
  }
  void raw(std::string_view text) { text_ += text; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  [[nodiscard]] std::size_t columns() const {
    return static_cast<std::size_t>(std::max(style_.columns, 0));
  }
  Style style_;
  std::string text_;
};

std::string title(const advisor::Ranking& ranking) {
  const workload::Request& request = ranking.query.request;
  std::string text = fmt::format("{}: {}, {} parameters", ranking.command,
                                 ranking.query.model.label, format_count(ranking.counts.total));
  if (ranking.counts.active > 0 && ranking.counts.active < ranking.counts.total * 0.99)
    text += fmt::format(" ({} active)", format_count(ranking.counts.active));
  if (request.mode) text += fmt::format(", {}", workload::to_string(*request.mode));
  if (!ranking.results.empty() && request.mode != workload::Mode::serve) {
    const workload::Training& training = ranking.results.front().training;
    text += fmt::format(", {} tokens a sequence, global batch {}", training.seq_len,
                        training.global_batch);
    if (training.tokens > 0) text += fmt::format(", {} tokens", format_count(training.tokens));
  }
  text += fmt::format("; catalog {}", ranking.catalog_date);
  return text;
}

std::string price_line(const advisor::ResultRow& row) {
  if (!row.quote) return "no price";
  std::string text = fmt::format("{} an instance and hour, {}",
                                 format_money({row.quote->per_hour, row.quote->currency}),
                                 catalog::to_string(row.quote->kind));
  if (!row.quote->region.empty()) text += ", " + row.quote->region;
  return text + (row.quote->date.empty() ? std::string(", undated") : ", " + row.quote->date);
}

/// The first results are told in full; of the others only what the table has no column
/// for. The score has its own column where there is room for it.
constexpr int kToldInFull = 3;

bool worth_a_line(const std::string& reason, int rank, const Style& style) {
  constexpr int kScoreColumns = 140;
  const auto is = [&](std::string_view kind) { return reason.rfind(kind, 0) == 0; };
  if (style.explain) return true;
  if (is("score:"))
    return style.columns > 0 && style.columns < kScoreColumns && rank <= kToldInFull;
  return rank <= kToldInFull || !(is("memory:") || is("speed:"));
}

/// The plan, then each reason on the same line; the plan that comes nearest for the
/// first results, or every other plan with --explain.
void add_result(Page& page, const advisor::ResultRow& row, const Style& style) {
  std::string why = cluster_label(row) + ": ";
  if (!row.serving) why += workload::describe(row.best.plan) + "; ";
  for (const std::string& reason : row.reasons)
    if (worth_a_line(reason, row.rank, style)) why += reason + "; ";
  page.item(fmt::format("{}", row.rank), 2, why + price_line(row));
  std::size_t shown = style.explain ? row.alternatives.size() : row.rank <= kToldInFull ? 1 : 0;
  for (const advisor::Alternative& other : row.alternatives) {
    if (shown-- == 0) break;
    page.item("", 2,
              fmt::format("also {}: {}, {} a step, {} GiB/GPU", other.why,
                          workload::describe(other.candidate.plan),
                          format_duration(Seconds(other.candidate.performance.step_time_s)),
                          gib(other.candidate.memory.needed())));
  }
}

/// Warnings of the results, once for each kind, with the ranks they belong to.
void add_warnings(Page& page, const advisor::Ranking& ranking) {
  struct Group {
    const advisor::Warning* first;
    std::string ranks;
  };
  std::vector<Group> groups;
  for (const advisor::ResultRow& row : ranking.results)
    for (const advisor::Warning& warning : row.warnings) {
      auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
        return group.first->code == warning.code;
      });
      if (found == groups.end()) {
        groups.push_back({&warning, fmt::format("{}", row.rank)});
      } else {
        found->ranks += fmt::format(", {}", row.rank);
      }
    }
  if (groups.empty() && ranking.warnings.empty()) return;
  page.heading("Warnings");
  for (const advisor::Warning& warning : ranking.warnings)
    page.item("-", 1, fmt::format("{} [{}]", warning.message, advisor::to_string(warning.code)));
  for (const Group& group : groups)
    page.item("-", 1,
              fmt::format("{} [{}; results {}]", group.first->message,
                          advisor::to_string(group.first->code), group.ranks));
}

void add_assumed(Page& page, const advisor::Ranking& ranking) {
  if (ranking.assumed.empty()) return;
  page.heading("Assumed (change with the flag)");
  std::string text;
  for (const workload::Assumption& assumption : ranking.assumed)
    text += fmt::format("{} {}{} ", assumption.flag.empty() ? assumption.field : assumption.flag,
                        assumption.value, &assumption == &ranking.assumed.back() ? "" : ",");
  page.paragraph("  ", text);
}

/// Families without a candidate that fits: the rejection that came nearest.
std::vector<const advisor::Rejected*> decisive_rejections(const advisor::Ranking& ranking) {
  const std::set<std::string_view> fitting(ranking.fitting_families.begin(),
                                           ranking.fitting_families.end());
  std::map<std::string_view, const advisor::Rejected*> nearest;
  for (const advisor::Rejected& rejected : ranking.rejected) {
    if (rejected.instance == nullptr || fitting.count(rejected.instance->family) > 0) continue;
    const advisor::Rejected*& kept = nearest[rejected.instance->family];
    const double missing = rejected.missing_bytes.value_or(0);
    if (kept == nullptr ||
        (rejected.code == kept->code && missing < kept->missing_bytes.value_or(0)))
      kept = &rejected;
  }
  std::vector<const advisor::Rejected*> list;
  for (const auto& [family, rejected] : nearest) list.push_back(rejected);
  return list;
}

/// Why fewer instances of the first result do not do; null when nothing says.
const advisor::Rejected* smaller_first(const advisor::Ranking& ranking) {
  if (ranking.results.empty()) return nullptr;
  const advisor::ResultRow& first = ranking.results.front();
  const advisor::Rejected* nearest = nullptr;
  for (const advisor::Rejected& rejected : ranking.rejected)
    if (rejected.instance != nullptr && rejected.instance == first.instance &&
        rejected.count < first.count && (nearest == nullptr || rejected.count > nearest->count))
      nearest = &rejected;
  return nearest;
}

/// Candidates that share one reason stand on one line.
struct RejectedGroup {
  std::string names;
  const advisor::Rejected* first = nullptr;
};

std::vector<RejectedGroup> grouped(const std::vector<const advisor::Rejected*>& list) {
  std::vector<RejectedGroup> groups;
  for (const advisor::Rejected* rejected : list) {
    const std::string name = fmt::format("{} x {}", rejected->instance->name, rejected->count);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const RejectedGroup& group) {
      return group.first->code == rejected->code && group.first->message == rejected->message;
    });
    if (same == groups.end()) {
      groups.push_back({name, rejected});
    } else {
      same->names += ", " + name;
    }
  }
  return groups;
}

void add_rejected(Page& page, const advisor::Ranking& ranking, const Style& style) {
  if (ranking.rejected.empty()) return;
  if (style.all_rejected) {
    page.heading("Rejected");
    page.raw(table_text(rejected_grid(ranking), 0, style.colour));
    return;
  }
  auto list = decisive_rejections(ranking);
  if (const auto* smaller = smaller_first(ranking)) list.insert(list.begin(), smaller);
  const auto groups = grouped(list);
  if (groups.empty()) return;
  page.heading("Rejected (--rejected lists every candidate)");
  for (const RejectedGroup& group : groups)
    page.item("-", 1,
              fmt::format("{}: {} [{}]", group.names, group.first->message,
                          advisor::to_string(group.first->code)));
}

void add_lines(Page& page, std::string_view heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  page.heading(heading);
  for (const std::string& line : lines) page.item("-", 1, line);
}

void add_sweep(Page& page, const advisor::Ranking& ranking, const Style& style) {
  if (ranking.sweep.empty()) return;
  Grid grid;
  grid.columns = {{"gpus", "GPUs", Align::right},
                  {"nodes", "nodes", Align::right},
                  {"plan", "plan"},
                  {"tokens_per_s", "tokens/s", Align::right},
                  {"hours", "hours", Align::right},
                  {"total", "cost", Align::right},
                  {"efficiency", "efficiency", Align::right}};
  for (const advisor::SweepPoint& point : ranking.sweep) {
    const bool fits = point.best.has_value();
    grid.rows.push_back({fmt::format("{}", point.gpus), fmt::format("{}", point.nodes),
                         fits ? workload::describe(point.best->plan) : point.reason,
                         fits ? short_number(point.best->performance.tokens_per_s) : "-",
                         fits ? short_number(point.hours) : "-",
                         point.total ? short_number(*point.total) : "-",
                         fits ? percent(point.efficiency) + (point.knee ? " <- knee" : "") : "-"});
  }
  page.heading("Scaling");
  page.raw(table_text(grid, style.columns, style.colour));
}

void add_prices(Page& page, const advisor::Ranking& ranking, const Style& style) {
  if (ranking.price_options.size() < 2) return;
  Grid grid;
  grid.columns = {{"kind", "price of the first result"},
                  {"per_hour", "per hour", Align::right},
                  {"hours", "hours", Align::right},
                  {"total", "total", Align::right},
                  {"region", "region"},
                  {"date", "date"}};
  for (const advisor::PriceOption& option : ranking.price_options)
    grid.rows.push_back(
        {std::string(catalog::to_string(option.quote.kind)),
         format_money({option.quote.per_hour, option.quote.currency}), short_number(option.hours),
         option.total ? short_number(*option.total) : "-", option.quote.region, option.quote.date});
  page.raw("\n");
  page.raw(table_text(grid, style.columns, style.colour));
}

}  // namespace

std::string ranking_table(const advisor::Ranking& ranking, const Style& style) {
  Page page(style);
  page.paragraph("", title(ranking));
  page.raw("\n");
  if (ranking.results.empty()) {
    page.paragraph("", "Nothing fits.");
  } else {
    page.raw(table_text(results_grid(ranking), style.columns, style.colour));
    page.heading("Why");
    for (const advisor::ResultRow& row : ranking.results) add_result(page, row, style);
  }
  add_lines(page, "What would make it fit", ranking.relaxations);
  if (style.explain)
    for (const advisor::ResultRow& row : ranking.results)
      page.raw(explanation(row, ranking.query.model.architecture));
  add_sweep(page, ranking, style);
  add_prices(page, ranking, style);
  add_assumed(page, ranking);
  add_rejected(page, ranking, style);
  add_lines(page, "Next", ranking.next_steps);
  add_warnings(page, ranking);
  return page.take();
}

}  // namespace gpuadvisor::report
