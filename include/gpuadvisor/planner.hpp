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
  bool tp_across_nodes = false;  ///< allow tensor parallelism beyond the NVLink island
  double min_headroom = 0;       ///< share of usable memory that must stay free, [0, 1)
};

/// Is the plan legal for this model, batch and cluster? The message names the
/// rule and the numbers ("tp 3 does not divide 64 heads"). Pipeline and tensor
/// rules follow Megatron-LM's argument checks, sharding and offload rules those of
/// DeepSpeed and PyTorch FSDP.
[[nodiscard]] Result<void> check_plan(const model::Architecture& architecture,
                                      const workload::Training& training,
                                      const workload::Plan& plan, const catalog::Cluster& cluster,
                                      bool tp_across_nodes = false);

/// Why no legal plan exists under the constraints; empty when one does.
[[nodiscard]] std::string explain_no_plan(const model::Architecture& architecture,
                                          const workload::Training& training,
                                          const catalog::Cluster& cluster,
                                          const Constraints& constraints);

/// The same as an error that names the flag at fault.
[[nodiscard]] Error no_plan_error(const model::Architecture& architecture,
                                  const workload::Training& training,
                                  const catalog::Cluster& cluster, const Constraints& constraints);

/// Calls `visit` for every legal plan in a fixed order; visit returns false to stop.
/// Free dimensions take the values that the framework offers (a fixed value may go
/// beyond them where it is legal); sharding a group of one rank is left out.
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
///   static_memory: weights, gradients and optimizer states alone exceed the GPU;
///   host_memory:   offloaded states alone exceed the node's memory;
///   compute_bound: the time of its matmuls and bubble alone, or its whole step time
///                  (cheaper to know than its memory), is above the best so far;
///   memory:        a smaller micro-batch of the same plan already did not fit.
enum class Rule : std::uint8_t { static_memory, host_memory, compute_bound, memory, count_ };
inline constexpr std::size_t kRules = static_cast<std::size_t>(Rule::count_);
[[nodiscard]] std::string_view to_string(Rule rule);

/// What a search did; in_space = evaluated + the sum of pruned.
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
  std::size_t top = 1;   ///< how many best plans to keep
  double error_p50 = 0;  ///< memory error band for the verdict
  int threads = 1;       ///< the answer and the counts do not depend on it
  bool pareto = false;   ///< also collect the front of step time against memory
};

/// A plan that does not fit, and by how much.
struct Shortfall {
  workload::Plan plan;
  double needed_gpu_bytes = 0;    ///< a GPU
  double missing_gpu_bytes = 0;   ///< a GPU; 0 when the GPUs suffice
  double host_bytes = 0;          ///< a node
  double missing_host_bytes = 0;  ///< a node; 0 when the host suffices
};

struct SearchResult {
  std::vector<Candidate> best;                 ///< fastest first; total order
  std::vector<Candidate> front;                ///< with `pareto`: by step time, memory falling
  std::optional<Shortfall> shortfall;          ///< least missing without offload, when nothing fits
  std::optional<Shortfall> offload_shortfall;  ///< least missing with offload, when nothing fits
  SearchStats stats;
};

/// Best plans of one cluster, exactly as exhaustive evaluation would rank them:
/// by step time, then fewer tp, pp, cp, larger micro-batch, plan fields.
[[nodiscard]] SearchResult search(const memory::Prepared& prepared, const catalog::Cluster& cluster,
                                  const SearchOptions& options);

/// One plan evaluated as the search does.
[[nodiscard]] Candidate evaluate(const memory::Prepared& prepared, const workload::Plan& plan,
                                 const catalog::Cluster& cluster, const SearchOptions& options);

/// Total order of candidates (see search).
[[nodiscard]] bool better(const Candidate& left, const Candidate& right);

}  // namespace gpuadvisor::planner
