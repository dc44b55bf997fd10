#include "planner/search.hpp"

#include <tuple>

#include "planner/models.hpp"

namespace gpuadvisor::planner {
namespace {

using workload::Plan;

/// Fields in the order of preference among equally fast plans.
auto preference(const Plan& plan) {
  return std::make_tuple(plan.tp, plan.pp, plan.cp, -plan.micro_batch, plan.vpp, plan.ep, plan.dp,
                         plan.offload, plan.sharding, plan.recompute, plan.schedule,
                         plan.sequence_parallel, plan.hsdp_group, plan.grad_accum);
}

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
        auto& kept = state.offload == workload::kOffloadNone ? result.shortfall
                                                             : result.offload_shortfall;
        keep_least(kept, shortfall_of(plan, models.memory(plan), limits));
      }
  }
}

}  // namespace

std::string_view to_string(Rule rule) {
  switch (rule) {
    case Rule::static_memory: return "static_memory";
    case Rule::host_memory: return "host_memory";
    case Rule::compute_bound: return "compute_bound";
    case Rule::memory: return "memory";
    case Rule::count_: break;
  }
  return "";
}

void SearchStats::add(const SearchStats& other) {
  in_space += other.in_space;
  evaluated += other.evaluated;
  fitting += other.fitting;
  for (std::size_t rule = 0; rule < kRules; ++rule) pruned[rule] += other.pruned[rule];
}

bool better(const Candidate& left, const Candidate& right) {
  if (left.performance.step_time_s != right.performance.step_time_s)
    return left.performance.step_time_s < right.performance.step_time_s;
  return preference(left.plan) < preference(right.plan);
}

Limits limits_of(const catalog::Cluster& cluster, const Constraints& constraints) {
  Limits limits;
  limits.gpu_bytes = cluster.gpu_memory_bytes * (1.0 - constraints.min_headroom);
  if (cluster.host_memory_bytes > 0) limits.host_bytes = cluster.host_memory_bytes;
  if (cluster.instance != nullptr) limits.disk_bytes = cluster.local_disk_bytes;
  return limits;
}

void Incumbents::offer(const Candidate& candidate) {
  if (best_.size() == top_ && !better(candidate, best_.back())) return;
  const auto at = std::upper_bound(best_.begin(), best_.end(), candidate, better);
  best_.insert(at, candidate);
  if (best_.size() > top_) best_.pop_back();
}

void Front::offer(const Candidate& candidate) {
  const double needed = candidate.memory.needed();
  const auto at = std::lower_bound(plans_.begin(), plans_.end(), candidate, better);
  if (at != plans_.begin() && std::prev(at)->memory.needed() <= needed) return;
  auto last = at;
  while (last != plans_.end() && last->memory.needed() >= needed) ++last;
  plans_.insert(plans_.erase(at, last), candidate);
}

SearchResult search(const memory::Prepared& prepared, const catalog::Cluster& cluster,
                    const SearchOptions& options) {
  const Space space(prepared.architecture, prepared.training, cluster, options.constraints);
  const Limits limits = limits_of(cluster, options.constraints);
  auto result = search_space<RealModels>(space, limits, options,
                                         [&] { return RealModels(prepared, cluster); });
  if (result.best.empty())
    find_shortfalls(space, limits, RealModels(prepared, cluster), result);
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
    candidate.verdict = memory::verdict(candidate.memory.needed(), limits.gpu_bytes,
                                        options.error_p50);
  return candidate;
}

}  // namespace gpuadvisor::planner
