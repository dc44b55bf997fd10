// What the allocator holds beyond tensors, and what lies outside of it.
#include <algorithm>

#include "calibration_data.hpp"
#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

namespace constants = calibration::memory;

// Each longer record opens new segments while the old ones stay cached: the sum of the
// record lengths over their maximum.
double record_factor(const Training& run) {
  if (!run.varying_lengths || run.expandable_segments) return 1;
  const auto seq = static_cast<double>(run.seq_len);
  const double mean = run.mean_len > 0 ? run.mean_len : seq / 2;
  if (seq <= mean) return constants::record_factor;
  return 1 + (constants::record_factor - 1) * mean / seq;
}

double fragmentation(const Training& run) { return run.framework.memory.fragmentation; }

}  // namespace

double overhead(const Prepared& prepared, const Plan& plan, const catalog::Cluster&) {
  int groups = plan.gpus() > 1 ? 1 : 0;
  for (const int size : {plan.tp, plan.pp, plan.dp, plan.cp, plan.ep}) groups += size > 1 ? 1 : 0;
  const bool old = prepared.training.framework.memory.legacy_stack;
  const double context = old ? constants::context_bytes_old : constants::context_bytes;
  return context + groups * constants::communicator_bytes;
}

double reserved(const Prepared& prepared, const Stage& stage, double allocated, Phase peak) {
  const Training& run = prepared.training;
  const double logits = peak == Phase::loss ? stage.head.reserved - stage.head.allocated : 0;
  const double factor = record_factor(run);
  if (factor <= 1) return allocated * (1 + fragmentation(run)) + logits;
  const bool scores = run.attention == workload::Attention::eager;
  const double transient = std::max(stage.head.reserved, scores ? stage.activations.live : 0);
  return allocated + logits + (factor - 1) * transient +
         fragmentation(run) * stage.activations.kept;
}

}  // namespace gpuadvisor::memory
