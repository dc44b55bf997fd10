// The legal plans of one cluster as a product of few lists: first how the GPUs are
// split (Outer), then what is chosen inside one split (Inner).
#pragma once

#include <cstdint>
#include <vector>

#include "gpuadvisor/planner.hpp"
#include "planner/legal.hpp"

namespace gpuadvisor::planner {

struct Outer {
  std::int32_t tp = 1, pp = 1, cp = 1, ep = 1, dp = 1;
};

struct StateChoice {
  workload::Sharding sharding = workload::Sharding::none;
  std::uint8_t offload = workload::kOffloadNone;
};

/// One way to cut the pipeline, with the micro-batches (ascending) legal for it.
struct Interleave {
  std::int32_t vpp = 1;
  workload::Schedule schedule = workload::Schedule::one_f_one_b;
  std::size_t first = 0, last = 0;  ///< range in Inner::micro_batches
};

/// Choices inside one split; reused from split to split so that nothing is allocated.
struct Inner {
  std::vector<StateChoice> states;
  std::vector<Interleave> interleaves;
  std::vector<std::int32_t> micro_batches;
  std::vector<workload::Recompute> recomputes;
  bool sequence_parallel = false;

  /// Plans of one state choice.
  [[nodiscard]] std::uint64_t plans_per_state() const;
};

class Space {
 public:
  Space(const model::Architecture& architecture, const workload::Training& training,
        const catalog::Cluster& cluster, const Constraints& constraints);

  [[nodiscard]] const std::vector<Outer>& outers() const { return outers_; }
  void inner(const Outer& outer, Inner& out) const;
  /// The plan of one point; fills micro-batch count and group sizes.
  [[nodiscard]] workload::Plan plan(const Outer& outer, const Inner& inner,
                                    const StateChoice& state, const Interleave& interleave,
                                    workload::Recompute recompute, std::int32_t micro_batch) const;

 private:
  [[nodiscard]] std::vector<std::int32_t> values(std::optional<int> fixed, Dimension dimension,
                                                 std::int64_t limit) const;
  void add_outers(std::int32_t tp, std::int32_t pp, std::int32_t cp);
  void fill_states(const Outer& outer, Inner& out) const;
  void fill_interleaves(const Outer& outer, Inner& out) const;
  [[nodiscard]] bool shards_nothing(const StateChoice& state, const Outer& outer) const;
  [[nodiscard]] bool state_allowed(const StateChoice& state, const Outer& outer) const;
  void fill_recomputes(Inner& out) const;

  const model::Architecture& architecture_;
  const workload::Training& training_;
  const catalog::Cluster& cluster_;
  const Constraints& constraints_;
  const FrameworkRules& rules_;
  Set<workload::Sharding> shardings_;
  bool searches_offload_ = false;
  std::vector<Outer> outers_;
};

}  // namespace gpuadvisor::planner
