#include "performance/elementwise.hpp"

#include "calibration_data.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::KernelProfile;

/// Bytes a token in 16-bit precision: a factor for each of the layer's widths.
struct Traffic {
  double hidden = 0, mlp = 0, attention = 0;
  [[nodiscard]] Traffic scaled(double factor) const {
    return {factor * hidden, factor * mlp, factor * attention};
  }
};
struct Passes {
  Traffic forward, backward;
  double multiplier = 1;
};

constexpr double kUnfusedNorm = 36;  // fp32 RMSNorm as six torch kernels
constexpr double kUnfusedNormBackward = 64;
constexpr double kFusedNorm = 4;
constexpr double kEagerBackward = 1.5;

Passes fused_passes(const model::Architecture& m, const workload::Training& run, bool bias) {
  const bool dropout = run.dropout > 0;
  const double qk_norm = m.qk_norm > 0 ? 4 : 0;
  Passes passes;
  passes.forward = {8.0 + (dropout ? 14 : 12), m.gated ? 6.0 : 4.0,
                    (m.gated ? 4.0 : 2.0) + qk_norm};
  passes.backward = {24.0 + (dropout ? 10 : 0) + (bias ? 4 : 0),
                     (m.gated ? 10.0 : 6.0) + (bias ? 2 : 0), 4.0 + 2 * qk_norm};
  if (!run.fused_rope && m.gated) {  // rope and SwiGLU in plain torch
    passes.forward.mlp = 10, passes.forward.attention = 22 + qk_norm;
    passes.backward.mlp = 15, passes.backward.attention = 30 + 2 * qk_norm;
  }
  passes.multiplier =
      run.kernel_profile == KernelProfile::compiled ? speed::el_compiled : speed::el_fused;
  return passes;
}

Passes mpt_passes() { return {{24, 4, 6}, {36, 6, 6}, speed::el_mpt}; }

Passes eager_passes(const model::Architecture& m, const workload::Training& run, bool bias) {
  Passes passes;
  if (m.gated) {
    const double norm = run.fused_norm ? kFusedNorm : kUnfusedNorm;
    const double norm_back = run.fused_norm ? kEagerBackward * kFusedNorm : kUnfusedNormBackward;
    const double heads = m.qk_norm > 0 ? 1 : 0;
    passes.forward = {2 * norm + 12, 10, 22 + heads * norm};
    passes.backward = {2 * norm_back + 18, 18, 33 + heads * norm_back};
  } else {
    passes.forward = {28.0 + (run.dropout > 0 ? 10 : 0) + (bias ? 8 : 0), bias ? 12.0 : 8.0, 8};
    passes.backward = passes.forward.scaled(kEagerBackward);
  }
  passes.multiplier = speed::el_eager;
  return passes;
}

Passes passes_of(const model::Architecture& m, const workload::Training& run) {
  const bool bias = m.mlp_bias || m.out_bias;
  switch (run.kernel_profile) {
    case KernelProfile::mpt:
      return mpt_passes();
    case KernelProfile::eager:
      return eager_passes(m, run, bias);
    case KernelProfile::fused:
    case KernelProfile::compiled:
      break;
  }
  return fused_passes(m, run, bias);
}

/// Sorting tokens by expert and back, twice each way; the router's softmax in fp32.
constexpr double kPermuteBytes = 8;
constexpr double kRouterBytes = 16;

double pass_bytes(const Traffic& traffic, const model::Architecture& m, const LayerShape& shape,
                  double tokens, double routed, double hidden_split) {
  double bytes =
      tokens * (traffic.hidden * m.hidden / hidden_split + traffic.mlp * shape.mlp_width +
                traffic.attention * shape.attention_width);
  if (shape.expert_count > 0)
    bytes += routed * (traffic.mlp * shape.expert_width + kPermuteBytes * m.hidden) +
             tokens / hidden_split * kRouterBytes * m.experts;
  return bytes;
}

}  // namespace

PassTimes elementwise_time(const Machine& machine, const model::Architecture& architecture,
                           const workload::Training& training, const LayerShape& shape,
                           double tokens, double routed, double hidden_split) {
  const Passes passes = passes_of(architecture, training);
  const double unit = passes.multiplier * machine.element_bytes / 2 / machine.elementwise_bw;
  return {unit * pass_bytes(passes.forward, architecture, shape, tokens, routed, hidden_split),
          unit * pass_bytes(passes.backward, architecture, shape, tokens, routed, hidden_split)};
}

}  // namespace gpuadvisor::performance
