#pragma once

#include "performance/attention.hpp"
#include "performance/layer.hpp"
#include "performance/shapes.hpp"

namespace gpuadvisor::performance {

/// One layer kind of one rank under one key.
struct LayerContext {
  const Machine& machine;
  const model::Architecture& architecture;
  const workload::Training& training;
  const model::LayerKind& kind;
  const LayerKey& key;
  LayerShape shape;
  double tokens = 0;  ///< of a micro-batch on this rank
  double routed = 0;  ///< tokens times experts that reach this rank's experts
};
[[nodiscard]] LayerContext layer_context(const Machine& machine, const memory::Prepared& prepared,
                                         const LayerKey& key, int kind);

/// Seconds of the GPU's own work in a layer, no communication.
struct KernelTimes {
  double linear_forward = 0;       ///< forward matmuls with their casts
  double last_linear_forward = 0;  ///< of these, the MLP's last
  double data_gradient = 0;
  double weight_gradient = 0;  ///< 0 for frozen weights
  PassTimes attention, elementwise;
  double adapters = 0;      ///< one forward
  double last_adapter = 0;  ///< of these, the MLP's last
  double dequantise = 0;    ///< one pass

  [[nodiscard]] double forward() const {
    return linear_forward + attention.forward + elementwise.forward + adapters + dequantise;
  }
  [[nodiscard]] double backward() const;
};
[[nodiscard]] KernelTimes kernel_times(const LayerContext& context);

/// Whether recompute runs chosen operators again instead of whole layers or the attention core.
[[nodiscard]] bool recomputes_operators(const workload::Training& training,
                                        workload::Recompute recompute);

/// Forward work done again in the backward pass.
[[nodiscard]] double recompute_time(const LayerContext& context, const KernelTimes& kernels);

/// Launch time of one forward of the layer on the host.
[[nodiscard]] double host_time(const LayerContext& context);

}  // namespace gpuadvisor::performance
