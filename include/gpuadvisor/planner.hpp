// Which legal plan is best on this cluster: `space` enumerates legal plans,
// `evaluate` is pure, `search` prunes by exact bounds only and counts what it did.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/memory.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/performance.hpp"
#include "gpuadvisor/units.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::planner {

/// Values the user fixed; empty means free.
struct Constraints {
  std::optional<int> tp, pp, vpp, cp, ep, dp, micro_batch;
  std::optional<workload::Sharding> sharding;
  std::optional<int> zero_stage;
  std::optional<bool> sequence_parallel;
  std::optional<workload::Schedule> schedule;
  std::optional<workload::Recompute> recompute;
  std::optional<std::uint8_t> offload;
  bool tp_across_nodes = false;   ///< allow tensor parallelism beyond the NVLink island
  double min_headroom = 0;        ///< share of usable memory that must stay free
};

/// Is the plan legal for this model, batch and cluster? The message names the
/// rule and the numbers ("tp 3 does not divide 64 heads").
[[nodiscard]] Result<void> check_plan(const model::Architecture& architecture,
                                      const workload::Training& training,
                                      const workload::Plan& plan,
                                      const catalog::Cluster& cluster);

/// Calls `visit` for every legal plan in a fixed order; visit returns false to stop.
void for_each_plan(const model::Architecture& architecture, const workload::Training& training,
                   const catalog::Cluster& cluster, const Constraints& constraints,
                   const std::function<bool(const workload::Plan&)>& visit);

/// One evaluated plan.
struct Candidate {
  workload::Plan plan;
  memory::Estimate memory;
  performance::Estimate performance;
  memory::Verdict verdict = memory::Verdict::does_not_fit;
};

/// Named pruning rules; each is an exact bound, can be switched off, and is counted.
enum class Rule : std::uint8_t { static_memory, host_memory, compute_bound, memory, count_ };
inline constexpr std::size_t kRules = static_cast<std::size_t>(Rule::count_);
[[nodiscard]] std::string_view to_string(Rule rule);

struct SearchStats {
  std::uint64_t in_space = 0;
  std::uint64_t evaluated = 0;
  std::uint64_t fitting = 0;
  std::array<std::uint64_t, kRules> pruned{};
  void add(const SearchStats& other);
};

struct SearchOptions {
  Constraints constraints;
  std::array<bool, kRules> rules{true, true, true, true};
  std::size_t top = 1;           ///< how many best plans to keep
  double error_p50 = 0;          ///< memory error band for the verdict
};

/// The nearest miss: the plan that needs least, when nothing fits.
struct Shortfall {
  workload::Plan plan;
  double missing_gpu_bytes = 0;
  double missing_host_bytes = 0;
};

struct SearchResult {
  std::vector<Candidate> best;    ///< fastest first; total order
  std::optional<Shortfall> shortfall;
  SearchStats stats;
};

/// Best plans of one cluster, exactly as exhaustive evaluation would rank them:
/// by step time, then fewer tp, pp, cp, larger micro-batch, plan fields.
[[nodiscard]] SearchResult search(const memory::Prepared& prepared,
                                  const catalog::Cluster& cluster, const SearchOptions& options);

/// Total order of candidates (see search).
[[nodiscard]] bool better(const Candidate& left, const Candidate& right);

}  // namespace gpuadvisor::planner
