// From layer times to a step: stages and schedule, data-parallel collectives,
// optimizer, stragglers. Cheap: what a search pays for each plan.
#pragma once

#include "gpuadvisor/performance.hpp"
#include "performance/layer.hpp"
#include "performance/machine.hpp"

namespace gpuadvisor::performance {

/// What does not depend on the plan.
struct Run {
  const memory::Prepared* prepared = nullptr;
  const catalog::Cluster* cluster = nullptr;
  Machine machine;
  double layers = 0;     ///< layers to run, encoder layers at their share included
  double heads = 0;      ///< output heads to run (one more a prediction layer)
  double trainable = 1;  ///< share of the weights that has gradients: 1, or 0 with adapters
  double adapter_parameters = 0;
  double model_flops = 0;       ///< a token, forward and backward, of the definition of MFU
  double forward_flops = 0;     ///< a token, one forward
  double attention_flops = 0;   ///< of these, scores and values
  double bound_flops = 0;       ///< a token, matmuls of the forward and backward of all layers
  double bound_head_flops = 0;  ///< same of the heads, before vocabulary sharding
};
[[nodiscard]] Run make_run(const memory::Prepared& prepared, const catalog::Cluster& cluster);

[[nodiscard]] Estimate step_estimate(const Run& run, const LayerTimes& layer,
                                     const workload::Plan& plan);
[[nodiscard]] double step_lower_bound(const Run& run, const workload::Plan& plan);

/// The plan's stages in layers and heads, and its micro-batches.
struct Stages {
  double micro_batches = 1;
  double longest_layers = 0, longest_heads = 0;  ///< of the stage that takes longest
  double longest = 0;                            ///< seconds of a micro-batch in it
  double sum = 0;                                ///< seconds of a micro-batch in all stages
};
[[nodiscard]] Stages make_stages(const Run& run, const LayerTimes& layer,
                                 const workload::Plan& plan);

/// Idle time while the pipeline fills and drains, seconds a step.
[[nodiscard]] double bubble_time(const LayerTimes& layer, const Stages& stages,
                                 const workload::Plan& plan);
/// Exposed sends of one micro-batch between two stages.
[[nodiscard]] double send_time(const Run& run, const workload::Plan& plan, double tokens);

/// Parameters of one GPU that have gradients: on the stage with most of them.
struct Trainable {
  double dense = 0, expert = 0;
  [[nodiscard]] double total() const { return dense + expert; }
};
[[nodiscard]] Trainable trainable_parameters(const Run& run, const LayerTimes& layer,
                                             const workload::Plan& plan);
/// Exposed seconds of gradient and parameter collectives outside the layers.
[[nodiscard]] double data_parallel_time(const Run& run, const LayerTimes& layer,
                                        const Stages& stages, const Trainable& trainable,
                                        const workload::Plan& plan);

/// Optimizer step: on the GPU, or on the host with its transfers.
struct OptimizerTimes {
  double gpu = 0, offload = 0;
};
[[nodiscard]] OptimizerTimes optimizer_time(const Run& run, const Trainable& trainable,
                                            const workload::Plan& plan);

}  // namespace gpuadvisor::performance
