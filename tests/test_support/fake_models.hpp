// Memory and time of a plan by simple rules that a test can turn: honest bounds,
// arbitrary (but repeatable) times above them.
#pragma once

#include <cmath>

#include "planner/search.hpp"

namespace gpuadvisor::test {

struct FakeRules {
  double state_bytes = 100e9;     ///< of the whole model
  double activation_bytes = 2e9;  ///< a micro-batch without recompute, whole model
  double noise = 1.0;             ///< how far times scatter above their bound
  std::uint64_t seed = 1;
};

class FakeModels {
 public:
  FakeModels(const FakeRules& rules, const catalog::Cluster& cluster)
      : rules_(rules), cluster_(cluster) {}

  [[nodiscard]] double static_bytes(const workload::Plan& plan) const {
    const double shards = planner::shards_parameters(plan.sharding)
                              ? static_cast<double>(plan.shard_group())
                              : (plan.sharding == workload::Sharding::none ? 1.0 : 2.0);
    const double kept = plan.offload != 0 ? 0.25 : 1.0;
    return kept * rules_.state_bytes / (static_cast<double>(plan.tp) * plan.pp * shards);
  }
  [[nodiscard]] double host_bytes(const workload::Plan& plan) const {
    return plan.offload == 0 ? 0 : rules_.state_bytes * cluster_.gpus_per_node / cluster_.gpus;
  }
  [[nodiscard]] double time_bound(const workload::Plan& plan) const {
    const double recompute = plan.recompute == workload::Recompute::full ? 4.0 / 3.0 : 1.0;
    return recompute * (1.0 + (plan.pp - 1.0) / (plan.grad_accum * plan.vpp)) *
           (1.0 + 0.3 / plan.micro_batch);
  }
  [[nodiscard]] memory::Estimate memory(const workload::Plan& plan) const {
    memory::Estimate estimate;
    const double kept = plan.recompute == workload::Recompute::none ? 1.0 : 0.2;
    estimate.peak.weights = static_bytes(plan);
    estimate.peak.activations = kept * rules_.activation_bytes * plan.micro_batch /
                                (static_cast<double>(plan.tp) * plan.cp);
    estimate.host_bytes = host_bytes(plan);
    return estimate;
  }
  [[nodiscard]] performance::Estimate performance(const workload::Plan& plan) const {
    performance::Estimate estimate;
    estimate.step_time_s = time_bound(plan) * (1.0 + rules_.noise * scatter(plan));
    return estimate;
  }

 private:
  [[nodiscard]] double scatter(const workload::Plan& plan) const {
    std::uint64_t hash = rules_.seed;
    for (const std::int64_t field :
         {std::int64_t{plan.tp}, std::int64_t{plan.pp}, std::int64_t{plan.vpp},
          std::int64_t{plan.cp}, std::int64_t{plan.ep}, std::int64_t{plan.micro_batch},
          static_cast<std::int64_t>(plan.sharding), static_cast<std::int64_t>(plan.recompute),
          std::int64_t{plan.offload}})
      hash = (hash ^ static_cast<std::uint64_t>(field)) * 0x9E3779B97F4A7C15ULL ^ hash >> 29U;
    return static_cast<double>(hash >> 44U) / static_cast<double>(1U << 20U);
  }

  FakeRules rules_;
  const catalog::Cluster& cluster_;
};

inline planner::SearchResult fake_search(const model::Architecture& architecture,
                                         const workload::Training& training,
                                         const catalog::Cluster& cluster, const FakeRules& rules,
                                         const planner::SearchOptions& options) {
  const planner::Space space(architecture, training, cluster, options.constraints);
  const auto limits = planner::limits_of(cluster, options.constraints);
  return planner::search_space<FakeModels>(space, limits, options,
                                           [&] { return FakeModels(rules, cluster); });
}

}  // namespace gpuadvisor::test
