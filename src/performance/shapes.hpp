// The matrices of one layer as one rank holds them.
#pragma once

#include <array>

#include "gpuadvisor/model.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::performance {

/// A weight matrix: `in` inner and `out` output elements on this rank.
struct Linear {
  double in = 0, out = 0;
  [[nodiscard]] double weights() const { return in * out; }
};

inline constexpr int kMaxLinears = 16;

/// Linears of one layer kind on one rank. `dense` sees every token of the rank; `expert`
/// sees the tokens routed to one of `local_experts`.
struct LayerShape {
  std::array<Linear, kMaxLinears> dense{};
  int dense_count = 0;
  int last_dense = -1;  ///< the one whose forward early-stopped recompute skips; -1 none
  std::array<Linear, 3> expert{};
  int expert_count = 0;
  double local_experts = 0;
  double attention_width = 0;    ///< (a + k) d on this rank, what rope and layout kernels touch
  double mlp_width = 0;          ///< f of the dense or shared MLP on this rank
  double expert_width = 0;       ///< fe
  double parameters_dense = 0;   ///< all parameters of the layer on this rank but the experts
  double parameters_expert = 0;  ///< routed experts on this rank

  [[nodiscard]] double linear_weights() const;
  [[nodiscard]] double sum_in() const;
  [[nodiscard]] double sum_out() const;
};

/// Shapes after tensor parallelism `tp` and expert parallelism `ep` (expert tensor
/// parallelism 1). Fused kernels join gate and up into one matrix.
[[nodiscard]] LayerShape layer_shape(const model::Architecture& architecture,
                                     const model::ParameterCounts& counts, int kind, double tp,
                                     double ep, bool fused_gate_up);

}  // namespace gpuadvisor::performance
