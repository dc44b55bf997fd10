// How long a training step takes, and what bounds it. Pure functions: the time of
// every matmul by its shape, attention by kernel generation, element-wise work by
// kernel profile, collectives by scope, then the schedule that composes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/memory.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/units.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::performance {

/// Seconds of one optimizer step by cause; the terms sum to `step_time_s`.
struct StepBreakdown {
  double compute = 0;        ///< GEMMs, attention, element-wise work, head (forward and backward)
  double recompute = 0;      ///< forward work done again
  double tensor_comm = 0;    ///< exposed tensor-parallel collectives
  double context_comm = 0;   ///< exposed context-parallel exchange
  double expert_comm = 0;    ///< exposed all-to-all of experts
  double pipeline_comm = 0;  ///< exposed sends between stages
  double data_comm = 0;      ///< exposed gradient and parameter collectives (DDP, ZeRO, FSDP)
  double bubble = 0;         ///< pipeline fill and drain, stage imbalance
  double optimizer = 0;      ///< optimizer step
  double offload = 0;        ///< host transfers and CPU optimizer
  double host = 0;           ///< launch-bound time above the GPU's own
  double straggler = 0;
  [[nodiscard]] double total() const {
    return compute + recompute + tensor_comm + context_comm + expert_comm + pipeline_comm +
           data_comm + bubble + optimizer + offload + host + straggler;
  }
  /// Exposed communication: the interconnect axis of the score.
  [[nodiscard]] double communication() const {
    return tensor_comm + context_comm + expert_comm + pipeline_comm + data_comm;
  }
};

struct Estimate {
  double step_time_s = 0;
  StepBreakdown breakdown;
  double tokens_per_s = 0;
  double tokens_per_s_per_gpu = 0;
  double model_flops_per_step = 0;     ///< without recompute (PaLM's definition); frozen
                                       ///< weights have no weight gradient
  double hardware_flops_per_step = 0;  ///< with recompute
  double mfu = 0;                      ///< against the dense peak of the precision
  double hfu = 0;
};

/// Why a run cannot be computed on a GPU at all; empty when it can.
/// (bf16 on V100/T4, fp8 below 8.9, FlashAttention-2 below 8.0.)
[[nodiscard]] std::string_view refusal(const catalog::Gpu& gpu, const workload::Training& training);

/// Time of one step. Allocates nothing. Requires a legal plan, no refusal, and
/// cluster.gpus == plan.gpus().
[[nodiscard]] Estimate estimate(const memory::Prepared& prepared, const workload::Plan& plan,
                                const catalog::Cluster& cluster);

/// A time that no plan with this tp, pp, cp, dp, micro-batch and recompute can beat on this
/// cluster: its matmuls at the sustained rate without quantisation, spread evenly over
/// the stages; no communication, no element-wise work. Always <= estimate().step_time_s.
[[nodiscard]] double compute_lower_bound(const memory::Prepared& prepared,
                                         const workload::Plan& plan,
                                         const catalog::Cluster& cluster);

/// Step times of many plans of one run on one cluster: the times of a layer are kept by
/// (tp, cp, ep, micro-batch, recompute, sequence parallelism, sharding and its group,
/// offload), so that a plan of a known key costs about 0.1 microseconds. Answers are
/// bitwise those of the free functions. One object a thread; `prepared` and `cluster`
/// must outlive it. Allocates only when its table grows.
class LayerTable {
 public:
  LayerTable(const memory::Prepared& prepared, const catalog::Cluster& cluster);
  ~LayerTable();
  LayerTable(LayerTable&&) noexcept;
  LayerTable& operator=(LayerTable&&) noexcept;

  /// Same as performance::estimate.
  [[nodiscard]] Estimate estimate(const workload::Plan& plan);
  /// Same as performance::compute_lower_bound.
  [[nodiscard]] double compute_lower_bound(const workload::Plan& plan) const;
  /// Distinct layers computed so far.
  [[nodiscard]] std::size_t size() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuadvisor::performance
