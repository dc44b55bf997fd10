// Cache and state of one sequence, by kind of layer.
#include <algorithm>
#include <cmath>

#include "gpuadvisor/serving.hpp"

namespace gpuadvisor::serving {
namespace {

/// State of a linear-attention layer of one sequence: a matrix a head in 32 bit and the
/// window of the short convolution.
double state_bytes(const model::Architecture& a, model::Mixer mixer) {
  if (mixer == model::Mixer::lightning) return 4.0 * a.heads * a.head_dim * a.head_dim;
  const double key = static_cast<double>(a.linear_key_heads) * a.linear_key_dim;
  const double value = static_cast<double>(a.linear_value_heads) * a.linear_value_dim;
  const double conv = a.linear_conv > 1 ? (a.linear_conv - 1.0) * (2 * key + value) * 2.0 : 0;
  return 4.0 * a.linear_value_heads * a.linear_key_dim * a.linear_value_dim + conv;
}

struct Shape {
  const model::Architecture& a;
  double tokens, element_bytes, heads, tp;
  bool windows;
};

double layer_bytes(const Shape& s, const model::LayerKind& kind) {
  const model::Architecture& a = s.a;
  switch (kind.mixer) {
    case model::Mixer::mla:
      return s.tokens * (a.kv_lora_rank + a.qk_rope_dim) * s.element_bytes +
             s.tokens * a.index_head_dim;
    case model::Mixer::delta_net:
    case model::Mixer::lightning:
    case model::Mixer::state_space:
      return state_bytes(a, kind.mixer) / s.tp;
    default:
      break;
  }
  const double seen =
      s.windows && kind.window > 0 ? std::min<double>(s.tokens, kind.window) : s.tokens;
  const double value_dim = a.v_head_dim > 0 ? a.v_head_dim : a.head_dim;
  return seen * s.heads * (a.head_dim + value_dim) * s.element_bytes;
}

}  // namespace

double kv_bytes(const Model& model, const Plan& plan, double tokens, double element_bytes,
                bool windows) {
  const model::Architecture& a = model.architecture;
  const double tp = plan.dp_attention ? 1.0 : plan.tp;
  const double heads = std::max(1.0, a.kv_heads / tp);
  const Shape shape{a, tokens, element_bytes, heads, tp, windows};
  double total = 0;
  for (int i = 0; i < a.kind_count; ++i) {
    const model::LayerKind& kind = a.kinds[static_cast<std::size_t>(i)];
    total += kind.count * layer_bytes(shape, kind);
  }
  return total / (static_cast<double>(plan.pp) * plan.split_gpus);
}

double kv_element_bytes(const Request& request, const EngineProfile& profile) {
  switch (request.kv_type) {
    case KvType::fp16:
      return 2;
    case KvType::fp8:
      return 1;
    case KvType::int8:
      return 1;
    case KvType::q8_0:
      return 8.5 / 8;
    case KvType::q4_0:
      return 4.5 / 8;
    case KvType::fp4:
      return 4.5 / 8;
    case KvType::automatic:
      break;
  }
  if (request.quant == Quant::fp32) return 4;
  return profile.fp8_cache_with_fp8 && (request.quant == Quant::fp8 || request.quant == Quant::fp4)
             ? 1
             : 2;
}

}  // namespace gpuadvisor::serving
