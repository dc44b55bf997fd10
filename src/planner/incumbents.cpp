// The order of candidates and what a search keeps of them.
#include <tuple>

#include "planner/search.hpp"

namespace gpuadvisor::planner {
namespace {

/// Fields in the order of preference among equally fast plans.
auto preference(const workload::Plan& plan) {
  return std::make_tuple(plan.tp, plan.pp, plan.cp, -plan.micro_batch, plan.vpp, plan.ep, plan.dp,
                         plan.offload, plan.sharding, plan.recompute, plan.schedule,
                         plan.sequence_parallel, plan.hsdp_group, plan.grad_accum);
}

}  // namespace

std::string_view to_string(Rule rule) {
  switch (rule) {
    case Rule::static_memory:
      return "static_memory";
    case Rule::host_memory:
      return "host_memory";
    case Rule::compute_bound:
      return "compute_bound";
    case Rule::memory:
      return "memory";
    case Rule::count_:
      break;
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

}  // namespace gpuadvisor::planner
