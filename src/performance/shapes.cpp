#include "performance/shapes.hpp"

#include <algorithm>

#include "performance/attention.hpp"

namespace gpuadvisor::performance {
namespace {

using model::Architecture;
using model::Mixer;

void add(LayerShape& shape, double in, double out) {
  if (in <= 0 || out <= 0 || shape.dense_count >= kMaxLinears) return;
  shape.dense[static_cast<std::size_t>(shape.dense_count++)] = {in, out};
}

void add_attention(LayerShape& shape, const Architecture& a, double tp) {
  const double gate = a.attention_gate ? 2 : 1;
  add(shape, a.hidden, (gate * a.q_width() + 2 * a.kv_width()) / tp);
  add(shape, a.out_width() / tp, a.hidden);
  shape.attention_width = (a.q_width() + a.kv_width()) / tp;
}

/// Down projections are whole on each tensor rank (DeepSeek-V2, 2405.04434, section 2.1).
void add_latent_attention(LayerShape& shape, const Architecture& a, double tp) {
  const double query = 1.0 * a.heads * (a.qk_nope_dim + a.qk_rope_dim);
  if (a.q_lora_rank > 0) {
    add(shape, a.hidden, a.q_lora_rank);
    add(shape, a.q_lora_rank, query / tp);
  } else {
    add(shape, a.hidden, query / tp);
  }
  add(shape, a.hidden, a.kv_lora_rank + a.qk_rope_dim);
  add(shape, a.kv_lora_rank, a.heads * (a.qk_nope_dim + a.v_head_dim) / tp);
  add(shape, a.heads * a.v_head_dim / tp, a.hidden);
  shape.attention_width = 2 * query / tp;
}

/// Linear mixers: one input projection and one output projection; their sizes follow from
/// the counted matrices.
void add_linear_mixer(LayerShape& shape, const Architecture& a, double matrices, double tp) {
  const double inner = a.linear_value_heads > 0 ? 1.0 * a.linear_value_heads * a.linear_value_dim
                                                : std::max(a.q_width(), 1.0 * a.hidden);
  const double out = std::min(inner, matrices / a.hidden / 2);
  add(shape, a.hidden, (matrices / a.hidden - out) / tp);
  add(shape, out / tp, a.hidden);
  shape.attention_width = matrices / a.hidden / tp;
}

void add_mlp(LayerShape& shape, const Architecture& a, double width, bool fused_gate_up) {
  if (width <= 0) return;
  if (!a.gated) {
    add(shape, a.hidden, width);
  } else if (fused_gate_up) {
    add(shape, a.hidden, 2 * width);
  } else {
    add(shape, a.hidden, width);
    add(shape, a.hidden, width);
  }
  shape.last_dense = shape.dense_count;
  add(shape, width, a.hidden);
  shape.mlp_width = width;
}

void add_experts(LayerShape& shape, const Architecture& a, double ep, bool fused_gate_up) {
  const double h = a.hidden, width = a.expert_ffn;
  shape.local_experts = std::max(1.0, a.experts / ep);
  shape.expert_width = width;
  int count = 0;
  const auto put = [&](double in, double out) {
    shape.expert[static_cast<std::size_t>(count++)] = {in, out};
  };
  if (a.gated && !fused_gate_up) {
    put(h, width);
    put(h, width);
  } else {
    put(h, a.gated ? 2 * width : width);
  }
  put(width, h);
  shape.expert_count = count;
}

}  // namespace

double LayerShape::linear_weights() const {
  double sum = 0;
  for (int i = 0; i < dense_count; ++i) sum += dense[static_cast<std::size_t>(i)].weights();
  for (int i = 0; i < expert_count; ++i)
    sum += local_experts * expert[static_cast<std::size_t>(i)].weights();
  return sum;
}

double LayerShape::sum_in() const {
  double sum = 0;
  for (int i = 0; i < dense_count; ++i) sum += dense[static_cast<std::size_t>(i)].in;
  return sum;
}

double LayerShape::sum_out() const {
  double sum = 0;
  for (int i = 0; i < dense_count; ++i) sum += dense[static_cast<std::size_t>(i)].out;
  return sum;
}

LayerShape layer_shape(const Architecture& architecture, const model::ParameterCounts& counts,
                       int kind, double tp, double ep, bool fused_gate_up) {
  const auto index = static_cast<std::size_t>(kind);
  const model::LayerKind& layer = architecture.kinds[index];
  const model::LayerParameters& parameters = counts.layer[index];
  LayerShape shape;
  if (layer.mixer == Mixer::mla)
    add_latent_attention(shape, architecture, tp);
  else if (is_linear(layer.mixer))
    add_linear_mixer(shape, architecture, parameters.attention, tp);
  else
    add_attention(shape, architecture, tp);
  if (layer.moe) {
    add(shape, architecture.hidden, architecture.experts);
    add_mlp(shape, architecture, architecture.shared_ffn / tp, fused_gate_up);
    add_experts(shape, architecture, ep, fused_gate_up);
  } else {
    add_mlp(shape, architecture, layer.ffn / tp, fused_gate_up);
  }
  shape.parameters_dense = (parameters.attention + parameters.mlp + parameters.shared) / tp +
                           parameters.attention_whole + parameters.router + parameters.small;
  shape.parameters_expert = parameters.experts / ep;
  return shape;
}

}  // namespace gpuadvisor::performance
