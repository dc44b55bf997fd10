#include "accuracy/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace gpuadvisor::accuracy {
namespace {

using Group = std::vector<const Outcome*>;

Summary figures(std::string kind, std::string name, const Group& group) {
  Summary summary{std::move(kind), std::move(name)};
  std::vector<double> absolute;
  std::vector<double> signed_errors;
  for (const Outcome* outcome : group) {
    ++summary.rows;
    if (outcome->skipped) ++summary.skipped;
    if (outcome->correct) {
      ++summary.judged;
      summary.right += *outcome->correct ? 1U : 0U;
    }
    if (!outcome->relative_error) continue;
    absolute.push_back(std::fabs(*outcome->relative_error));
    signed_errors.push_back(*outcome->relative_error);
    summary.mean_abs_error += absolute.back();
  }
  if (!absolute.empty()) summary.mean_abs_error /= static_cast<double>(absolute.size());
  summary.median_abs_error = percentile(absolute, 0.5);
  summary.p90_abs_error = percentile(absolute, 0.9);
  summary.bias = percentile(signed_errors, 0.5);
  return summary;
}

}  // namespace

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double position = std::clamp(share, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<Summary> summarise(std::span<const Outcome> outcomes) {
  struct Grouping {
    const char* prefix;
    std::string Outcome::*member;
  };
  constexpr Grouping kGroupings[] = {
      {"quality ", &Outcome::quality},     {"quantity ", &Outcome::quantity},
      {"method ", &Outcome::method},       {"plan ", &Outcome::plan},
      {"framework ", &Outcome::framework}, {"gpu ", &Outcome::gpu},
      {"source ", &Outcome::source}};
  std::map<std::string, Group> kinds;
  for (const Outcome& outcome : outcomes) kinds[outcome.kind].push_back(&outcome);
  std::vector<Summary> out;
  for (const auto& [kind, all] : kinds) {
    out.push_back(figures(kind, "all", all));
    for (const Grouping& grouping : kGroupings) {
      std::map<std::string, Group> groups;
      for (const Outcome* outcome : all) groups[outcome->*grouping.member].push_back(outcome);
      for (const auto& [name, group] : groups)
        out.push_back(figures(kind, grouping.prefix + name, group));
    }
  }
  return out;
}

}  // namespace gpuadvisor::accuracy
