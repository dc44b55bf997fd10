#include "planner/search.hpp"

#include <tuple>

#include "planner/models.hpp"

namespace gpuadvisor::planner {
namespace {

using workload::Plan;

Shortfall shortfall_of(const Plan& plan, const memory::Estimate& estimate, const Limits& limits) {
  Shortfall found;
  found.plan = plan;
  found.needed_gpu_bytes = estimate.needed();
  found.missing_gpu_bytes = std::max(0.0, estimate.needed() - limits.gpu_bytes);
  found.host_bytes = estimate.host_bytes;
  found.missing_host_bytes = std::max(0.0, estimate.host_bytes - limits.host_bytes);
  return found;
}

void keep_least(std::optional<Shortfall>& kept, const Shortfall& found) {
  const auto key = [](const Shortfall& one) {
    return std::make_tuple(one.missing_gpu_bytes, one.missing_host_bytes);
  };
  if (!kept || key(found) < key(*kept)) kept = found;
}

/// The nearest misses: smallest micro-batch of every split, state and recompute kind.
void find_shortfalls(const Space& space, const Limits& limits, const RealModels& models,
                     SearchResult& result) {
  Inner inner;
  for (const auto& outer : space.outers()) {
    space.inner(outer, inner);
    if (inner.interleaves.empty()) continue;
    for (const auto& state : inner.states)
      for (const auto recompute : inner.recomputes) {
        const auto& interleave = inner.interleaves.front();
        const auto plan = space.plan(outer, inner, state, interleave, recompute,
                                     inner.micro_batches[interleave.first]);
        auto& kept =
            state.offload == workload::kOffloadNone ? result.shortfall : result.offload_shortfall;
        keep_least(kept, shortfall_of(plan, models.memory(plan), limits));
      }
  }
}

}  // namespace

SearchResult search(const memory::Prepared& prepared, const catalog::Cluster& cluster,
                    const SearchOptions& options) {
  const Space space(prepared.architecture, prepared.training, cluster, options.constraints);
  const Limits limits = limits_of(cluster, options.constraints);
  auto result = search_space<RealModels>(space, limits, options,
                                         [&] { return RealModels(prepared, cluster); });
  if (result.best.empty()) find_shortfalls(space, limits, RealModels(prepared, cluster), result);
  return result;
}

Candidate evaluate(const memory::Prepared& prepared, const workload::Plan& plan,
                   const catalog::Cluster& cluster, const SearchOptions& options) {
  const Limits limits = limits_of(cluster, options.constraints);
  Candidate candidate;
  candidate.plan = plan;
  candidate.memory = memory::estimate(prepared, plan, cluster);
  candidate.performance = performance::estimate(prepared, plan, cluster);
  if (fits(candidate.memory, limits))
    candidate.verdict =
        memory::verdict(candidate.memory.needed(), limits.gpu_bytes, options.error_p50);
  return candidate;
}

}  // namespace gpuadvisor::planner
