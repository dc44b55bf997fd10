// emit: the file to run next, for the best result of the same question.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/query.hpp"
#include "gpuadvisor/emit.hpp"

namespace gpuadvisor::cli {
namespace {

Result<advisor::Ranking> best_result(const Arguments& arguments, const catalog::Catalog& catalog,
                                     const advisor::Query& query) {
  if (!has_cluster(arguments)) return advisor::recommend(catalog, query);
  const auto cluster = read_cluster(arguments, catalog);
  if (!cluster) return tl::unexpected(cluster.error());
  return advisor::estimate(catalog, query, *cluster);
}

Output nothing_fits(const advisor::Ranking& ranking) {
  Output output;
  output.status = kNegative;
  output.notes = "nothing fits, so there is nothing to launch\n";
  for (const std::string& relaxation : ranking.relaxations)
    output.notes += "hint: " + relaxation + "\n";
  return output;
}

/// The plan must be one that the target's framework can run.
Result<void> choose_framework(advisor::Query& query, std::optional<emit::Target> target) {
  const auto framework = target ? emit::framework_of(*target) : std::nullopt;
  if (!framework) return {};
  auto& asked = query.request.framework;
  if (!asked) asked = framework;
  if (*asked == *framework) return {};
  return fail(ErrorCode::usage,
              fmt::format("--for {} contradicts --framework {}", emit::to_string(*target),
                          workload::to_string(*asked)),
              "--for", "leave one of them out");
}

bool fits(const advisor::ResultRow& row) {
  return row.serving ? row.serving->estimate.memory.fits
                     : row.best.verdict != memory::Verdict::does_not_fit;
}

}  // namespace

Result<Output> run_emit(const Arguments& arguments, const Environment& environment) {
  const auto loaded = load_catalog(arguments, environment);
  if (!loaded) return tl::unexpected(loaded.error());
  auto query = read_query(arguments, *loaded);
  if (!query) return tl::unexpected(query.error());
  std::optional<emit::Target> target;
  FlagReader reader(arguments);
  reader.name("for", target, emit::target_names(), emit::target_from_string);
  if (reader.error()) return tl::unexpected(*reader.error());

  if (auto chosen = choose_framework(*query, target); !chosen)
    return tl::unexpected(chosen.error());
  const auto ranking = best_result(arguments, *loaded, *query);
  if (!ranking) return tl::unexpected(ranking.error());
  if (ranking->results.empty() || !fits(ranking->results.front())) return nothing_fits(*ranking);
  const emit::Job job{&*query, &ranking->results.front()};
  const emit::Target chosen = target.value_or(emit::usual_target(job));
  auto text = emit::file(job, chosen);
  if (!text) return tl::unexpected(text.error());
  Output output;
  output.text = std::move(*text);
  if (!target)
    output.notes = fmt::format("note: written for {}; --for chooses another of {}\n",
                               emit::to_string(chosen), join(emit::target_names(), "and"));
  return output;
}

}  // namespace gpuadvisor::cli
