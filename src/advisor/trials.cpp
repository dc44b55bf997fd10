#include "advisor/trials.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <tuple>

namespace gpuadvisor::advisor {
namespace {

/// Calls work(i) for i in [0, n) on `threads` threads.
template <class Work>
void parallel_for(std::size_t n, int threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t at = next++; at < n; at = next++) work(at);
  };
  std::vector<std::thread> helpers;
  const auto most = std::min(n, static_cast<std::size_t>(std::max(threads, 1)));
  for (std::size_t extra = 1; extra < most; ++extra) helpers.emplace_back(run);
  run();
  for (auto& helper : helpers) helper.join();
}

/// Everything of a cluster that memory and time depend on.
auto search_key(const Trial& trial) {
  const auto& c = trial.cluster;
  return std::make_tuple(c.gpu->id, c.gpus, c.gpus_per_node, c.gpu_memory_bytes, c.link,
                         c.allreduce_bw, c.allgather_bw, c.h2d_bw, c.node_nic_bw, c.fabric,
                         c.host_memory_bytes, c.local_disk_bytes, c.power_w);
}

bool allowed(const Context& context, const Offer& offer, int count) {
  return count == 1 || offer.instance->rdma != catalog::Fabric::none ||
         context.query.rdma != RdmaPolicy::required;
}

/// Counts between the last power of two that does not fit and the first that does.
std::vector<int> counts_between(const std::vector<Trial>& trials, const Offer& offer) {
  int fits = offer.max_count + 1;
  int fails = 0;
  for (const auto& trial : trials) {
    if (trial.offer != &offer) continue;
    if (trial.fits()) fits = std::min(fits, trial.count);
  }
  for (const auto& trial : trials)
    if (trial.offer == &offer && !trial.fits() && trial.count < fits)
      fails = std::max(fails, trial.count);
  std::vector<int> counts;
  constexpr int kMost = 16;  // a large range is thinned: the powers of two cover it
  for (int count = fails + 1; count < fits && static_cast<int>(counts.size()) < kMost; ++count)
    counts.push_back(count);
  return counts;
}

/// Keeps of the counts in between only the smallest that fits.
void append_smallest_fit(std::vector<Trial>& trials, std::vector<Trial>& between) {
  const Offer* done = nullptr;
  for (auto& trial : between) {
    if (!trial.fits() || trial.offer == done) continue;
    done = trial.offer;
    trials.push_back(std::move(trial));
  }
}

}  // namespace

Trial make_trial(const Offer& offer, const Setup& setup, int count) {
  Trial trial;
  trial.offer = &offer;
  trial.setup = &setup;
  trial.count = count;
  trial.cluster = catalog::make_cluster(*offer.instance, *offer.gpu, count);
  return trial;
}

void run_trials(const Context& context, std::vector<Trial>& trials, planner::SearchStats& stats) {
  std::vector<std::size_t> order(trials.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return search_key(trials[left]) < search_key(trials[right]);
  });
  std::vector<std::size_t> firsts;  // positions in `order` where a new cluster starts
  for (std::size_t at = 0; at < order.size(); ++at)
    if (at == 0 || search_key(trials[order[at - 1]]) != search_key(trials[order[at]]))
      firsts.push_back(at);
  parallel_for(firsts.size(), thread_count(context.query), [&](std::size_t group) {
    Trial& trial = trials[order[firsts[group]]];
    trial.result =
        planner::search(trial.setup->prepared, trial.cluster, context.search_options(*trial.setup));
  });
  for (std::size_t group = 0; group < firsts.size(); ++group) {
    const Trial& source = trials[order[firsts[group]]];
    stats.add(source.result.stats);
    const std::size_t end = group + 1 < firsts.size() ? firsts[group + 1] : order.size();
    for (std::size_t at = firsts[group] + 1; at < end; ++at)
      trials[order[at]].result = source.result;
  }
}

std::vector<Trial> try_offers(const Context& context, const std::vector<Offer>& offers,
                              planner::SearchStats& stats) {
  std::vector<Trial> trials, between;
  for (const auto& offer : offers) {
    const Setup* setup = context.find_setup(offer.gpu->id);
    if (!setup->refusal.empty()) continue;
    for (const int count : power_counts(offer.max_count))
      if (allowed(context, offer, count)) trials.push_back(make_trial(offer, *setup, count));
  }
  run_trials(context, trials, stats);
  for (const auto& offer : offers) {
    const Setup* setup = context.find_setup(offer.gpu->id);
    if (!setup->refusal.empty()) continue;
    for (const int count : counts_between(trials, offer))
      if (allowed(context, offer, count)) between.push_back(make_trial(offer, *setup, count));
  }
  run_trials(context, between, stats);
  append_smallest_fit(trials, between);
  std::stable_sort(trials.begin(), trials.end(), [](const Trial& left, const Trial& right) {
    const auto key = [](const Trial& trial) {
      return std::make_tuple(trial.offer->instance->provider, trial.offer->instance->name,
                             trial.count);
    };
    return key(left) < key(right);
  });
  return trials;
}

}  // namespace gpuadvisor::advisor
