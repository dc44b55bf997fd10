// The search itself, over any models: the real ones (models.hpp), or small fakes in
// tests. Knows nothing about what makes a plan fast or large.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "gpuadvisor/planner.hpp"
#include "planner/space.hpp"

namespace gpuadvisor::planner {

/// What must hold on every GPU and node.
struct Limits {
  double gpu_bytes = 0;
  double host_bytes = std::numeric_limits<double>::infinity();
  double disk_bytes = std::numeric_limits<double>::infinity();
};
[[nodiscard]] Limits limits_of(const catalog::Cluster& cluster, const Constraints& constraints);

[[nodiscard]] inline bool fits(const memory::Estimate& estimate, const Limits& limits) {
  return estimate.needed() <= limits.gpu_bytes && estimate.host_bytes <= limits.host_bytes &&
         estimate.disk_bytes <= limits.disk_bytes;
}

/// The best plans so far, in total order.
class Incumbents {
 public:
  explicit Incumbents(std::size_t top) : top_(std::max<std::size_t>(top, 1)) {}
  void offer(const Candidate& candidate);
  /// Step time that a plan must not exceed to matter.
  [[nodiscard]] double limit() const { return std::min(ceiling_, own_limit()); }
  /// Plans slower than this are beaten by plans found elsewhere.
  void set_ceiling(double step_time_s) { ceiling_ = step_time_s; }
  [[nodiscard]] const std::vector<Candidate>& best() const { return best_; }

 private:
  [[nodiscard]] double own_limit() const {
    return best_.size() < top_ ? std::numeric_limits<double>::infinity()
                               : best_.back().performance.step_time_s;
  }
  std::size_t top_;
  double ceiling_ = std::numeric_limits<double>::infinity();
  std::vector<Candidate> best_;
};

/// Plans that no other plan beats in both step time and memory.
class Front {
 public:
  void offer(const Candidate& candidate);
  [[nodiscard]] const std::vector<Candidate>& plans() const { return plans_; }

 private:
  std::vector<Candidate> plans_;  ///< step time rises, memory falls
};

/// Bounds are computed in another order of operations than the estimates; a bound
/// prunes only beyond what rounding can explain.
inline constexpr double kRoundingSlack = 1.0 - 1e-9;

/// Searches splits one after the other. `Models` offers, for a legal plan:
/// static_bytes (a lower bound for every micro-batch, recompute and interleaving),
/// host_bytes (the same for the node), time_bound (a lower bound of its step time),
/// memory and performance (the estimates).
template <class Models>
class SplitSearch {
 public:
  SplitSearch(const Space& space, const Limits& limits, const SearchOptions& options, Models models)
      : space_(space),
        limits_(limits),
        options_(options),
        models_(std::move(models)),
        incumbents_(options.top) {}

  void search(const Outer& outer) {
    space_.inner(outer, inner_);
    const std::uint64_t plans = inner_.plans_per_state();
    stats_.in_space += plans * inner_.states.size();
    if (plans == 0) return;
    const auto pruned = [&](const StateChoice& state) { return prune_state(outer, state, plans); };
    inner_.states.erase(std::remove_if(inner_.states.begin(), inner_.states.end(), pruned),
                        inner_.states.end());
    if (inner_.states.empty()) return;
    fill_bounds(outer);
    if (least_bound_ * kRoundingSlack > incumbents_.limit()) {
      count(Rule::compute_bound, plans * inner_.states.size());
      return;
    }
    for (const auto& state : inner_.states) search_state(outer, state);
  }

  /// Lower bound of the step time of a split: its first plan without recomputation.
  [[nodiscard]] double bound(const Outer& outer) {
    space_.inner(outer, inner_);
    if (inner_.plans_per_state() == 0 || inner_.states.empty())
      return std::numeric_limits<double>::infinity();
    const auto plan = space_.plan(outer, inner_, inner_.states.back(), inner_.interleaves.front(),
                                  inner_.recomputes.front(), inner_.micro_batches.front());
    if (models_.static_bytes(plan) * kRoundingSlack > limits_.gpu_bytes)
      return std::numeric_limits<double>::infinity();
    return models_.time_bound(plan);
  }

  Incumbents& incumbents() { return incumbents_; }
  [[nodiscard]] const Front& front() const { return front_; }
  [[nodiscard]] const SearchStats& stats() const { return stats_; }

 private:
  [[nodiscard]] bool on(Rule rule) const { return options_.rules[static_cast<std::size_t>(rule)]; }
  void count(Rule rule, std::uint64_t plans) {
    stats_.pruned[static_cast<std::size_t>(rule)] += plans;
  }

  bool prune_state(const Outer& outer, const StateChoice& state, std::uint64_t plans) {
    const auto plan = space_.plan(outer, inner_, state, inner_.interleaves.front(),
                                  inner_.recomputes.back(), inner_.micro_batches.front());
    if (on(Rule::static_memory) &&
        models_.static_bytes(plan) * kRoundingSlack > limits_.gpu_bytes) {
      count(Rule::static_memory, plans);
      return true;
    }
    if (on(Rule::host_memory) && state.offload != workload::kOffloadNone &&
        models_.host_bytes(plan) * kRoundingSlack > limits_.host_bytes) {
      count(Rule::host_memory, plans);
      return true;
    }
    return false;
  }

  /// Time bounds of the split: they do not depend on states or interleaving.
  void fill_bounds(const Outer& outer) {
    bounds_.clear();
    least_bound_ = -std::numeric_limits<double>::infinity();
    if (!on(Rule::compute_bound) || options_.pareto) return;
    least_bound_ = std::numeric_limits<double>::infinity();
    for (const auto recompute : inner_.recomputes)
      for (const auto& interleave : inner_.interleaves)
        for (std::size_t at = interleave.first; at < interleave.last; ++at) {
          const auto plan = space_.plan(outer, inner_, inner_.states.front(), interleave, recompute,
                                        inner_.micro_batches[at]);
          bounds_.push_back(models_.time_bound(plan));
          least_bound_ = std::min(least_bound_, bounds_.back());
        }
  }

  void search_state(const Outer& outer, const StateChoice& state) {
    for (const auto& interleave : inner_.interleaves)
      for (std::size_t kind = 0; kind < inner_.recomputes.size(); ++kind)
        climb(outer, state, interleave, kind);
  }

  /// Micro-batches from small to large: once one does not fit, no larger one does.
  void climb(const Outer& outer, const StateChoice& state, const Interleave& interleave,
             std::size_t kind) {
    for (std::size_t at = interleave.first; at < interleave.last; ++at) {
      if (too_slow(kind, at)) {
        count(Rule::compute_bound, 1);
        continue;
      }
      candidate_.plan = space_.plan(outer, inner_, state, interleave, inner_.recomputes[kind],
                                    inner_.micro_batches[at]);
      if (timed_out()) {
        count(Rule::compute_bound, 1);
        continue;
      }
      candidate_.memory = models_.memory(candidate_.plan);
      ++stats_.evaluated;
      if (fits(candidate_.memory, limits_)) {
        accept();
      } else if (on(Rule::memory)) {
        count(Rule::memory, interleave.last - at - 1);
        return;
      }
    }
  }

  [[nodiscard]] bool too_slow(std::size_t kind, std::size_t at) const {
    if (bounds_.empty()) return false;
    return bounds_[kind * inner_.micro_batches.size() + at] * kRoundingSlack > incumbents_.limit();
  }

  /// The step time itself, which is cheaper than memory, once there is a limit to it.
  [[nodiscard]] bool timed_out() {
    timed_ = !bounds_.empty() && incumbents_.limit() < std::numeric_limits<double>::infinity();
    if (!timed_) return false;
    candidate_.performance = models_.performance(candidate_.plan);
    return candidate_.performance.step_time_s > incumbents_.limit();
  }

  void accept() {
    ++stats_.fitting;
    if (!timed_) candidate_.performance = models_.performance(candidate_.plan);
    if (candidate_.performance.step_time_s <= incumbents_.limit()) {
      candidate_.verdict =
          memory::verdict(candidate_.memory.needed(), limits_.gpu_bytes, options_.error_p50);
      incumbents_.offer(candidate_);
    }
    if (options_.pareto) front_.offer(candidate_);
  }

  const Space& space_;
  const Limits& limits_;
  const SearchOptions& options_;
  Models models_;
  Incumbents incumbents_;
  Front front_;
  SearchStats stats_;
  Inner inner_;
  std::vector<double> bounds_;  ///< by recompute kind, then position in inner_.micro_batches
  double least_bound_ = 0;
  Candidate candidate_;
  bool timed_ = false;  ///< candidate_.performance is of candidate_.plan
};

/// Splits are dealt into a fixed number of hands, whatever the number of threads:
/// each hand keeps its own incumbents under the ceiling of one split searched first,
/// so the answer and every count are the same on every machine.
inline constexpr std::size_t kHands = 16;
inline constexpr std::size_t kSplitsWorthDealing = 64;

template <class Models, class MakeModels>
SearchResult search_space(const Space& space, const Limits& limits, const SearchOptions& options,
                          const MakeModels& make_models) {
  using Search = SplitSearch<Models>;
  const auto& outers = space.outers();
  Search opening(space, limits, options, make_models());
  std::size_t first = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < outers.size(); ++at) {
    const double bound = opening.bound(outers[at]);
    if (bound >= least) continue;
    least = bound;
    first = at;
  }
  if (!outers.empty()) opening.search(outers[first]);
  const double ceiling = opening.incumbents().limit();

  const std::size_t hands = outers.size() > kSplitsWorthDealing ? kHands : 0;
  if (hands == 0)
    for (std::size_t at = 0; at < outers.size(); ++at)
      if (at != first) opening.search(outers[at]);
  std::vector<Search> dealt;
  for (std::size_t hand = 0; hand < hands; ++hand) {
    dealt.emplace_back(space, limits, options, make_models());
    dealt.back().incumbents().set_ceiling(ceiling);
  }
  std::atomic<std::size_t> next{0};
  const auto play = [&] {
    for (std::size_t hand = next++; hand < hands; hand = next++)
      for (std::size_t at = hand; at < outers.size(); at += hands)
        if (at != first) dealt[hand].search(outers[at]);
  };
  std::vector<std::thread> helpers;
  const std::size_t threads =
      std::min<std::size_t>(hands, static_cast<std::size_t>(std::max(options.threads, 1)));
  for (std::size_t extra = 1; extra < threads; ++extra) helpers.emplace_back(play);
  play();
  for (auto& helper : helpers) helper.join();

  SearchResult result;
  result.stats = opening.stats();
  Incumbents merged(options.top);
  Front front;
  const auto collect = [&](Search& search) {
    for (const auto& candidate : search.incumbents().best()) merged.offer(candidate);
    for (const auto& candidate : search.front().plans()) front.offer(candidate);
  };
  collect(opening);
  for (auto& search : dealt) {
    result.stats.add(search.stats());
    collect(search);
  }
  result.best = merged.best();
  result.front = front.plans();
  return result;
}

}  // namespace gpuadvisor::planner
