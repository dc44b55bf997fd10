// Compute facts of an architecture: FLOPs of a token and cache sizes.
#include <algorithm>

#include "gpuadvisor/model.hpp"
#include "model/layer_math.hpp"

namespace gpuadvisor::model {
namespace {

/// Mean number of positions a token attends to in a sequence of s tokens.
double mean_context(const Architecture& a, const LayerKind& kind, double s) {
  const double window = kind.window;
  if (kind.window <= 0 || window >= s) return a.causal ? s / 2.0 : s;
  if (!a.causal) return window;
  if (kind.mixer == Mixer::chunked) return window / 2.0;
  return window - window * window / (2.0 * s);  // the first `window` tokens see less
}

/// FLOPs of mixing one token with its context: scores and values, or one state update.
double mixing_flops(const Architecture& a, const LayerKind& kind, double s) {
  const double width = a.q_width() + a.out_width();
  switch (kind.mixer) {
    case Mixer::full:
    case Mixer::sliding:
    case Mixer::chunked:
      return 2.0 * mean_context(a, kind, s) * width + (a.cross_attention ? 2.0 * s * width : 0.0);
    case Mixer::mla: {
      const double indexer = 2.0 * a.index_heads * a.index_head_dim;
      return 2.0 * mean_context(a, kind, s) * width + mean_context(a, kind, s) * indexer;
    }
    case Mixer::delta_net:  // decay and read, correct, write
      return 6.0 * a.linear_value_heads * a.linear_key_dim * a.linear_value_dim;
    case Mixer::lightning:
      return 4.0 * a.q_width() * a.head_dim;
    case Mixer::state_space:
      return 6.0 * a.ssm_inner * a.ssm_state;
    case Mixer::none:
      break;
  }
  return 0.0;
}

double active_matrices(const Architecture& a, const LayerParameters& layer) {
  const double experts = a.experts > 0 ? layer.experts * a.experts_per_token / a.experts : 0.0;
  return layer.attention + layer.attention_whole + layer.mlp + experts + layer.shared +
         layer.router;
}

/// Cached elements that one token adds in a layer of a kind.
double cached_elements(const Architecture& a, const LayerKind& kind) {
  switch (kind.mixer) {
    case Mixer::full:
    case Mixer::sliding:
    case Mixer::chunked:
      return a.kv_width() +
             static_cast<double>(a.kv_heads) * (a.v_head_dim > 0 ? a.v_head_dim : a.head_dim);
    case Mixer::mla:
      return static_cast<double>(a.kv_lora_rank) + a.qk_rope_dim +
             (a.index_heads > 0 ? a.index_head_dim : 0);
    default:
      return 0.0;
  }
}

/// Elements of fixed state a sequence keeps in a layer of a kind.
double state_elements(const Architecture& a, Mixer mixer) {
  switch (mixer) {
    case Mixer::delta_net: {
      const double convolved = 2.0 * linear_key_width(a) + linear_value_width(a);
      return 1.0 * a.linear_value_heads * a.linear_key_dim * a.linear_value_dim +
             convolved * std::max(a.linear_conv - 1, 0);
    }
    case Mixer::lightning:
      return a.q_width() * a.head_dim;
    case Mixer::state_space: {
      const double convolved = a.ssm_inner + 2.0 * a.ssm_groups * a.ssm_state;
      return 1.0 * a.ssm_inner * a.ssm_state + convolved * std::max(a.ssm_conv - 1, 0);
    }
    default:
      return 0.0;
  }
}

bool keeps_cache(const Architecture& a) {
  return a.topology == Topology::decoder || a.topology == Topology::encoder_decoder;
}

template <class F>
double sum_over_kinds(const Architecture& a, F&& term) {
  double sum = 0.0;
  for (int kind = 0; kind < a.kind_count; ++kind) {
    const auto index = static_cast<std::size_t>(kind);
    sum += a.kinds[index].count * term(a.kinds[index], index);
  }
  return sum;
}

Architecture with_layers(Architecture a) {
  fill_uniform_layers(a);
  return a;
}

}  // namespace

ForwardFlops forward_flops_per_token(const Architecture& architecture, double seq_len) {
  if (architecture.kind_count == 0 && architecture.layers > 0)
    return forward_flops_per_token(with_layers(architecture), seq_len);
  const Architecture& a = architecture;
  const ParameterCounts counts = count_parameters(a);
  ForwardFlops flops;
  flops.matmul = 2.0 * sum_over_kinds(a, [&](const LayerKind&, std::size_t kind) {
                   return active_matrices(a, counts.layer[kind]);
                 });
  flops.attention = sum_over_kinds(
      a, [&](const LayerKind& kind, std::size_t) { return mixing_flops(a, kind, seq_len); });
  if (a.encoder_layers > 0) {
    flops.matmul += 2.0 * a.encoder_layers * active_matrices(a, counts.encoder_layer);
    flops.attention += 2.0 * a.encoder_layers * seq_len * (a.q_width() + a.out_width());
  }
  const bool has_head = a.topology == Topology::decoder || a.topology == Topology::encoder_decoder;
  if (has_head) flops.head = 2.0 * counts.embedding;
  return flops;
}

double kv_bytes_per_token(const Architecture& architecture, double bytes_per_element) {
  if (architecture.kind_count == 0 && architecture.layers > 0)
    return kv_bytes_per_token(with_layers(architecture), bytes_per_element);
  if (!keeps_cache(architecture)) return 0.0;
  return bytes_per_element * sum_over_kinds(architecture, [&](const LayerKind& kind, std::size_t) {
           return cached_elements(architecture, kind);
         });
}

double kv_bytes_per_sequence(const Architecture& architecture, double tokens,
                             double bytes_per_element) {
  if (architecture.kind_count == 0 && architecture.layers > 0)
    return kv_bytes_per_sequence(with_layers(architecture), tokens, bytes_per_element);
  if (!keeps_cache(architecture)) return 0.0;
  return bytes_per_element * sum_over_kinds(architecture, [&](const LayerKind& kind, std::size_t) {
           const double kept = kind.window > 0 ? std::min<double>(tokens, kind.window) : tokens;
           return cached_elements(architecture, kind) * kept +
                  state_elements(architecture, kind.mixer);
         });
}

}  // namespace gpuadvisor::model
