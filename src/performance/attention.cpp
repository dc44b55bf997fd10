#include "performance/attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "calibration_data.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using model::Mixer;

/// Flash kernels exist for these head sizes; others are padded to the next. Share of the
/// rate at head size 128.
struct HeadSize {
  double size, rate;
};
constexpr std::array kHeadSizes = {HeadSize{32, 0.60}, HeadSize{64, 0.90},  HeadSize{96, 0.95},
                                   HeadSize{128, 1.0}, HeadSize{160, 0.90}, HeadSize{192, 0.90},
                                   HeadSize{256, 0.95}};
constexpr double kFlashLaunch = 4e-6;
constexpr double kFlashBackward = 2.5;  // five products for two
constexpr double kLinearChunk = 64;     // tokens of one chunk of linear attention

HeadSize padded_head(double size) {
  for (const HeadSize& candidate : kHeadSizes)
    if (size <= candidate.size) return candidate;
  return {std::ceil(size / 64) * 64, kHeadSizes.back().rate};
}

PassTimes flash_time(const Machine& machine, const model::Architecture& m,
                     const model::LayerKind& kind, const AttentionWork& work) {
  const double value_size = m.v_head_dim > 0 ? m.v_head_dim : m.head_dim;
  const HeadSize key = padded_head(m.head_dim), value = padded_head(value_size);
  const double keys = mean_keys(m, kind, work.sequence);
  const double flops = 2 * work.tokens * keys * m.heads / work.tp * (key.size + value.size);
  const double reach =
      kind.window > 0 ? std::min<double>(kind.window, work.sequence) : work.sequence;
  const double rate = machine.flash * key.rate * reach / (reach + speed::fa_ramp);
  return {flops / rate + kFlashLaunch, kFlashBackward * flops / rate + 2 * kFlashLaunch};
}

/// Bytes a score of softmax, mask and dropout, forward and backward.
std::array<double, 2> score_bytes(const AttentionWork& work) {
  if (!work.fused_softmax) return {24, 28};
  return work.dropout > 0 ? std::array<double, 2>{9, 13} : std::array<double, 2>{4, 8};
}

PassTimes materialised_time(const Machine& machine, const model::Architecture& m,
                            const AttentionWork& work) {
  const double scores = work.tokens * work.sequence * m.heads / work.tp;
  const double rate = m.head_dim % 8 == 0 ? machine.matmul : machine.matmul_unaligned;
  const double product =
      std::max(2 * scores * m.head_dim / rate, machine.element_bytes * scores / machine.operand_bw);
  const auto bytes = score_bytes(work);
  const double width = machine.element_bytes / 2;
  return {2 * product + width * bytes[0] * scores / machine.elementwise_bw,
          4 * product + width * bytes[1] * scores / machine.elementwise_bw};
}

/// Within a chunk scores as in attention, between chunks a state of key x value.
PassTimes linear_time(const Machine& machine, const model::Architecture& m,
                      const AttentionWork& work) {
  const bool own = m.linear_value_heads > 0;
  const double heads = own ? m.linear_value_heads : m.heads;
  const double key = own ? m.linear_key_dim : m.head_dim;
  const double value = own ? m.linear_value_dim : m.head_dim;
  const double flops =
      work.tokens * heads / work.tp * (4 * key * value + 4 * kLinearChunk * (key + value));
  const double forward = flops / (speed::linear_rate * machine.matmul) + 4 * kFlashLaunch;
  return {forward, kFlashBackward * forward};
}

}  // namespace

bool is_linear(Mixer mixer) {
  return mixer == Mixer::delta_net || mixer == Mixer::lightning || mixer == Mixer::state_space;
}

double mean_keys(const model::Architecture& architecture, const model::LayerKind& kind,
                 double sequence) {
  const double window = kind.window > 0 ? std::min<double>(kind.window, sequence) : sequence;
  if (!architecture.causal) return window;
  if (kind.mixer == Mixer::chunked) return window / 2;
  // A query at position i sees min(i, window) keys.
  return window * (1 - window / (2 * sequence));
}

PassTimes attention_time(const Machine& machine, const model::Architecture& architecture,
                         const model::LayerKind& kind, const AttentionWork& work) {
  if (work.tokens <= 0) return {};
  if (is_linear(kind.mixer)) return linear_time(machine, architecture, work);
  return machine.flash > 0 ? flash_time(machine, architecture, kind, work)
                           : materialised_time(machine, architecture, work);
}

}  // namespace gpuadvisor::performance
