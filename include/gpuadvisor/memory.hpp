// How many bytes a training run needs on each GPU and on the host, in which phase.
// Pure functions; every term is kept with its name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::memory {

enum class Phase : std::uint8_t { loss, backward, step };
enum class Verdict : std::uint8_t { fits, tight, does_not_fit };

/// Bytes on one GPU at one moment. The terms sum to `allocated()`.
struct Breakdown {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;    ///< moments and fp32 master copies
  double activations = 0;  ///< kept for the backward pass, and the live layer
  double logits = 0;       ///< output head and loss
  double buffers = 0;      ///< gathers, reduce buckets, step temporaries, workspaces
  [[nodiscard]] double allocated() const {
    return weights + gradients + optimizer + activations + logits + buffers;
  }
};

/// Memory of one run under one plan.
struct Estimate {
  Breakdown peak;          ///< of the peak phase on the worst stage
  Phase peak_phase = Phase::loss;
  std::int32_t peak_stage = 0;
  double overhead_bytes = 0;  ///< CUDA context and communicators, outside the allocator
  double reserved_bytes = 0;  ///< what the allocator is likely to hold (allocated + fragmentation)
  double smi_bytes = 0;       ///< reserved + overhead
  double host_bytes = 0;      ///< a node: offloaded states, pinned buffers
  double disk_bytes = 0;      ///< a node: NVMe offload
  [[nodiscard]] double needed() const { return peak.allocated() + overhead_bytes; }
};

/// Which pipeline stage a figure is wanted of.
enum class StageChoice : std::uint8_t { worst, last };

/// Parameter counts a plan search reuses: computed once a model, read by every
/// estimate. Build with `prepare`.
struct Prepared {
  model::Architecture architecture;
  model::ParameterCounts counts;
  workload::Training training;
};
[[nodiscard]] Prepared prepare(const model::Architecture& architecture,
                               const workload::Training& training);

/// Memory of a training run. Allocates nothing. Requires a legal plan
/// (planner::check_plan) and cluster.gpus == plan.gpus().
[[nodiscard]] Estimate estimate(const Prepared& prepared, const workload::Plan& plan,
                                const catalog::Cluster& cluster,
                                StageChoice stage = StageChoice::worst);

/// All terms of one phase and stage, for --explain.
[[nodiscard]] Breakdown phase_breakdown(const Prepared& prepared, const workload::Plan& plan,
                                        const catalog::Cluster& cluster, Phase phase, int stage);

/// fits: needed x (1 + error_p50) <= usable; tight: needed <= usable.
[[nodiscard]] Verdict verdict(double needed_bytes, double usable_bytes, double error_p50);

[[nodiscard]] std::string_view to_string(Phase value);
[[nodiscard]] std::string_view to_string(Verdict value);

}  // namespace gpuadvisor::memory
