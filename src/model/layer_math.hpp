// Sizes that counts, compute and adapters share.
#pragma once

#include "gpuadvisor/model.hpp"

namespace gpuadvisor::model {

/// Weights of one MLP of a width: three matrices when gated, else two.
inline double mlp_matrices(const Architecture& a, double width) {
  return (a.gated ? 3.0 : 2.0) * a.hidden * width;
}
inline double linear_key_width(const Architecture& a) {
  return static_cast<double>(a.linear_key_heads) * a.linear_key_dim;
}
inline double linear_value_width(const Architecture& a) {
  return static_cast<double>(a.linear_value_heads) * a.linear_value_dim;
}
/// The kind that a multi-token-prediction layer repeats: the last with softmax
/// attention (and experts, in a MoE).
int mtp_kind(const Architecture& architecture);

}  // namespace gpuadvisor::model
