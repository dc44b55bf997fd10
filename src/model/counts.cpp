// Parameter counts: every term is the shape of one named weight. Formulas restate
// the module definitions of the published implementations.
#include <algorithm>

#include "gpuadvisor/model.hpp"
#include "model/layer_math.hpp"

namespace gpuadvisor::model {
namespace {

/// Grouped-query attention: q, k, v and output projections (GQA, Ainslie et al. 2023).
void add_attention(const Architecture& a, double blocks, LayerParameters& out) {
  const double q = a.q_width() * (a.attention_gate ? 2.0 : 1.0);
  const double h = a.hidden;
  out.attention += blocks * (h * q + 2.0 * h * a.kv_width() + a.out_width() * h);
  if (a.qkv_bias) out.small += blocks * (q + a.kv_width() * (a.key_bias ? 2.0 : 1.0));
  if (a.out_bias) out.small += blocks * h;
  if (a.qk_norm == 1) out.small += 2.0 * a.head_dim;
  if (a.qk_norm == 2) out.small += a.q_width() + a.kv_width();
  if (a.attention_sinks) out.small += a.heads;
}

/// Multi-head latent attention (DeepSeek-V2, 2405.04434, section 2.1) and the
/// sparse-attention indexer of V3.2.
void add_latent_attention(const Architecture& a, LayerParameters& out) {
  const double h = a.hidden;
  const double q = 1.0 * a.heads * (a.qk_nope_dim + a.qk_rope_dim);
  if (a.q_lora_rank > 0) {
    out.attention_whole += h * a.q_lora_rank;
    out.small += a.q_lora_rank;
    out.attention += a.q_lora_rank * q;
    if (a.qkv_bias) out.small += a.q_lora_rank;
  } else {
    out.attention += h * q;
  }
  out.attention_whole += h * (a.kv_lora_rank + a.qk_rope_dim);
  out.small += a.kv_lora_rank;
  if (a.qkv_bias) out.small += a.kv_lora_rank + a.qk_rope_dim;
  if (a.out_bias) out.small += h;
  out.attention += 1.0 * a.kv_lora_rank * a.heads * (a.qk_nope_dim + a.v_head_dim);
  out.attention += 1.0 * a.heads * a.v_head_dim * h;
  if (a.index_heads > 0) {
    const double index_dim = a.index_head_dim;
    out.attention_whole +=
        a.q_lora_rank * index_dim * a.index_heads + h * index_dim + h * a.index_heads;
    out.small += 2.0 * index_dim;
  }
}

/// Gated delta net (2412.06464) as Qwen3-Next stores it.
void add_delta_net(const Architecture& a, LayerParameters& out) {
  const double key = linear_key_width(a), value = linear_value_width(a);
  out.attention += a.hidden * (2.0 * key + 2.0 * value) + value * a.hidden;
  out.attention += 2.0 * a.hidden * a.linear_value_heads;
  out.small +=
      (2.0 * key + value) * a.linear_conv + 2.0 * a.linear_value_heads + a.linear_value_dim;
}

/// Lightning attention (MiniMax-01, 2501.08313): q, k, v, output gate, output, norm.
void add_lightning(const Architecture& a, LayerParameters& out) {
  out.attention += 5.0 * a.hidden * a.q_width();
  out.small += a.q_width();
}

/// Mamba-1 (2312.00752) when `ssm_heads` is 0, else Mamba-2 (2405.21060).
void add_state_space(const Architecture& a, LayerParameters& out) {
  const double h = a.hidden, inner = a.ssm_inner, state = a.ssm_state;
  out.attention += inner * h;
  if (a.ssm_bias) out.small += h;
  if (a.ssm_heads == 0) {
    out.attention +=
        h * 2.0 * inner + inner * (a.ssm_dt_rank + 2.0 * state) + a.ssm_dt_rank * inner;
    out.small += inner * a.ssm_conv + inner + inner * state + inner;
    if (a.ssm_conv_bias) out.small += inner;
    if (a.ssm_bias) out.small += 2.0 * inner;
    if (a.ssm_inner_norms) out.small += a.ssm_dt_rank + 2.0 * state;
    return;
  }
  const double convolved = inner + 2.0 * a.ssm_groups * state;
  const double projected = inner + convolved + a.ssm_heads;
  out.attention += h * projected;
  out.small += convolved * a.ssm_conv + 3.0 * a.ssm_heads;
  if (a.ssm_norm) out.small += inner;
  if (a.ssm_conv_bias) out.small += convolved;
  if (a.ssm_bias) out.small += projected;
}

void add_mixer(const Architecture& a, Mixer mixer, LayerParameters& out) {
  switch (mixer) {
    case Mixer::full:
    case Mixer::sliding:
    case Mixer::chunked:
      add_attention(a, a.cross_attention ? 2.0 : 1.0, out);
      break;
    case Mixer::mla:
      add_latent_attention(a, out);
      break;
    case Mixer::delta_net:
      add_delta_net(a, out);
      break;
    case Mixer::lightning:
      add_lightning(a, out);
      break;
    case Mixer::state_space:
      add_state_space(a, out);
      break;
    case Mixer::none:
      break;
  }
}

double mlp_biases(const Architecture& a, double width) {
  return a.mlp_bias ? (a.gated ? 2.0 : 1.0) * width + a.hidden : 0.0;
}

void add_mlp(const Architecture& a, const LayerKind& kind, LayerParameters& out) {
  if (!kind.moe) {
    out.mlp += mlp_matrices(a, kind.ffn);
    if (kind.ffn > 0) out.small += mlp_biases(a, kind.ffn);
    return;
  }
  out.experts += 1.0 * a.experts * (mlp_matrices(a, a.expert_ffn) + mlp_biases(a, a.expert_ffn));
  out.router += 1.0 * a.hidden * a.experts + (a.router_bias ? a.experts : 0);
  out.shared += mlp_matrices(a, a.shared_ffn);
  if (a.shared_ffn > 0) out.shared += mlp_biases(a, a.shared_ffn);
  if (a.shared_gate) out.router += a.hidden;
}

double norm_size(const Architecture& a) { return a.hidden * (a.norm_bias ? 2.0 : 1.0); }

LayerParameters encoder_layer(const Architecture& a) {
  LayerParameters out;
  add_attention(a, 1.0, out);
  add_mlp(a, LayerKind{1, Mixer::full, 0, false, a.encoder_ffn}, out);
  out.small += 2.0 * norm_size(a);
  return out;
}

/// Multi-token-prediction layers as the files store them: two norms, the joint
/// projection of 2h to h, one layer like the last, and the norm before the head.
double mtp_parameters(const Architecture& a, const ParameterCounts& counts) {
  if (a.mtp_layers == 0 || a.kind_count == 0) return 0.0;
  const double h = a.hidden;
  double layer = counts.layer[static_cast<std::size_t>(mtp_kind(a))].total();
  double one = 2.0 * norm_size(a) + 2.0 * h * h + layer + norm_size(a);
  if (a.mtp_own_embedding) one += 2.0 * counts.embedding;
  return a.mtp_layers * one;
}

double sum_of_parts(const Architecture& a, const ParameterCounts& counts) {
  double total = counts.embedding + counts.positions + counts.head + counts.final_norm +
                 counts.encoder + counts.vision + counts.other;
  for (int kind = 0; kind < a.kind_count; ++kind)
    total += a.kinds[static_cast<std::size_t>(kind)].count *
             counts.layer[static_cast<std::size_t>(kind)].total();
  return total;
}

/// What one token does not use: experts not chosen, and an encoder's pooler.
double inactive_parameters(const Architecture& a, const ParameterCounts& counts) {
  double unused = a.pooler_parameters;
  if (a.experts == 0) return unused;
  const double share = 1.0 * std::max(a.experts - a.experts_per_token, 0) / a.experts;
  for (int kind = 0; kind < a.kind_count; ++kind)
    unused += a.kinds[static_cast<std::size_t>(kind)].count *
              counts.layer[static_cast<std::size_t>(kind)].experts * share;
  return unused;
}

}  // namespace

int mtp_kind(const Architecture& a) {
  int found = a.kind_of_layer[static_cast<std::size_t>(std::max(a.layers - 1, 0))];
  for (int layer = a.layers - 1; layer >= 0; --layer) {
    const int kind = a.kind_of_layer[static_cast<std::size_t>(layer)];
    const LayerKind& k = a.kinds[static_cast<std::size_t>(kind)];
    const bool softmax = k.mixer == Mixer::full || k.mixer == Mixer::mla;
    if (softmax && (a.experts == 0 || k.moe)) return kind;
  }
  return found;
}

bool set_layer_kinds(Architecture& a, std::span<const LayerKind> layers) {
  if (layers.empty() || layers.size() > kMaxLayers) return false;
  a.layers = static_cast<std::int32_t>(layers.size());
  a.kind_count = 0;
  a.kinds = {};
  a.kind_of_layer = {};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto end = a.kinds.begin() + a.kind_count;
    auto found = std::find(a.kinds.begin(), end, layers[i]);
    if (found == end) {
      if (a.kind_count == kMaxLayerKinds) return false;
      *found = layers[i];
      found->count = 0;
      ++a.kind_count;
    }
    ++found->count;
    a.kind_of_layer[i] = static_cast<std::uint8_t>(found - a.kinds.begin());
  }
  return true;
}

void set_layers(Architecture& a, std::int32_t layers) {
  layers = std::clamp(layers, 1, static_cast<std::int32_t>(kMaxLayers));
  fill_uniform_layers(a);
  std::array<LayerKind, kMaxLayers> wanted{};
  for (std::int32_t i = 0; i < layers; ++i) {
    const auto source = static_cast<std::size_t>(i % std::max(a.layers, 1));
    wanted[static_cast<std::size_t>(i)] = a.kinds[a.kind_of_layer[source]];
  }
  (void)set_layer_kinds(a, std::span(wanted).first(static_cast<std::size_t>(layers)));
}

void fill_uniform_layers(Architecture& a) {
  if (a.kind_count > 0 || a.layers <= 0) return;
  LayerKind kind;
  kind.count = std::min(a.layers, static_cast<std::int32_t>(kMaxLayers));
  kind.mixer = a.is_mla() ? Mixer::mla : Mixer::full;
  kind.moe = a.is_moe();
  kind.ffn = kind.moe ? 0 : a.ffn;
  a.layers = kind.count;
  a.kinds[0] = kind;
  a.kind_count = 1;
  a.kind_of_layer = {};
}

ParameterCounts count_parameters(const Architecture& architecture) {
  Architecture filled;
  const Architecture* source = &architecture;
  if (architecture.kind_count == 0) {
    filled = architecture;
    fill_uniform_layers(filled);
    source = &filled;
  }
  const Architecture& a = *source;
  ParameterCounts counts;
  counts.embedding = 1.0 * a.vocab * (a.embedding_dim > 0 ? a.embedding_dim : a.hidden);
  counts.positions = 1.0 * a.learned_positions * a.hidden;
  counts.head = (a.tied || a.topology == Topology::encoder ? 0.0 : counts.embedding) +
                (a.head_bias ? a.vocab : 0);
  counts.final_norm = a.final_norm ? norm_size(a) : 0.0;
  counts.vision = a.vision_parameters;
  counts.other = a.extra_parameters + a.pooler_parameters;
  for (int kind = 0; kind < a.kind_count; ++kind) {
    LayerParameters& layer = counts.layer[static_cast<std::size_t>(kind)];
    add_mixer(a, a.kinds[static_cast<std::size_t>(kind)].mixer, layer);
    add_mlp(a, a.kinds[static_cast<std::size_t>(kind)], layer);
    layer.small += a.norms_per_layer * norm_size(a);
  }
  if (a.encoder_layers > 0) {
    counts.encoder_layer = encoder_layer(a);
    counts.encoder = a.encoder_layers * counts.encoder_layer.total() + norm_size(a);
  }
  counts.total = sum_of_parts(a, counts);
  if (a.parameters_reported > 0) {
    counts.other += a.parameters_reported - counts.total;
    counts.total = a.parameters_reported;
  }
  counts.active = counts.total - inactive_parameters(a, counts);
  counts.checkpoint = counts.total + mtp_parameters(a, counts);
  return counts;
}

}  // namespace gpuadvisor::model
