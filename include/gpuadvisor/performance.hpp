// How long a training step takes, and what bounds it. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/memory.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/units.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::performance {

/// Seconds of one optimizer step by cause; the terms sum to `step_time_s`.
struct StepBreakdown {
  double compute = 0;          ///< GEMMs, attention, element-wise work, head (forward and backward)
  double recompute = 0;        ///< forward work done again
  double tensor_comm = 0;      ///< exposed tensor-parallel collectives
  double context_comm = 0;     ///< exposed context-parallel exchange
  double expert_comm = 0;      ///< exposed all-to-all of experts
  double pipeline_comm = 0;    ///< exposed sends between stages
  double data_comm = 0;        ///< exposed gradient and parameter collectives (DDP, ZeRO, FSDP)
  double bubble = 0;           ///< pipeline fill and drain, stage imbalance
  double optimizer = 0;        ///< optimizer step
  double offload = 0;          ///< host transfers and CPU optimizer
  double host = 0;             ///< launch-bound time above the GPU's own
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
  double model_flops_per_step = 0;     ///< without recompute (PaLM's definition)
  double hardware_flops_per_step = 0;  ///< with recompute
  double mfu = 0;                      ///< against the dense peak of the precision
  double hfu = 0;
};

/// Why a run cannot be computed on a GPU at all; empty when it can.
/// (bf16 on V100/T4, fp8 below 8.9, FlashAttention-2 below 8.0.)
[[nodiscard]] std::string_view refusal(const catalog::Gpu& gpu, const workload::Training& training);

/// Time of one step. Allocates nothing. Requires a legal plan and no refusal.
[[nodiscard]] Estimate estimate(const memory::Prepared& prepared, const workload::Plan& plan,
                                const catalog::Cluster& cluster);

/// Forward and backward times of a layer, cached by (tp, cp, micro-batch,
/// recompute): what a plan search calls millions of times. One object a thread.
class LayerTable;

}  // namespace gpuadvisor::performance
