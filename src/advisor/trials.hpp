// Trying instances in numbers: one search a distinct cluster, on all cores, with the
// same answer whatever their number.
#pragma once

#include <vector>

#include "advisor/candidates.hpp"
#include "advisor/context.hpp"

namespace gpuadvisor::advisor {

/// One instance type in one number, and what the search found.
struct Trial {
  const Offer* offer = nullptr;
  const Setup* setup = nullptr;
  int count = 1;
  catalog::Cluster cluster;
  planner::SearchResult result;

  [[nodiscard]] bool fits() const { return !result.best.empty(); }
};

[[nodiscard]] Trial make_trial(const Offer& offer, const Setup& setup, int count);

/// Searches all trials; equal clusters are searched once. Adds to `stats` what was
/// really searched.
void run_trials(const Context& context, std::vector<Trial>& trials, planner::SearchStats& stats);

/// Power-of-two counts of every offer, and for those that first fit at more than two
/// instances (or not at all) the counts below, so that the smallest that fits is known.
/// Sorted by provider, instance, count.
[[nodiscard]] std::vector<Trial> try_offers(const Context& context,
                                            const std::vector<Offer>& offers,
                                            planner::SearchStats& stats);

}  // namespace gpuadvisor::advisor
