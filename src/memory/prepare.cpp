// Tables that every plan of one model and run shares.
#include <algorithm>

#include "memory/layer_bytes.hpp"
#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

std::size_t index(Recompute value) { return static_cast<std::size_t>(value); }

TokenBytes positive_difference(const TokenBytes& a, const TokenBytes& b) {
  return {std::max(0.0, a.whole - b.whole), std::max(0.0, a.sequence - b.sequence),
          std::max(0.0, a.tensor - b.tensor)};
}

void fill_recompute(LayerTable& table, const LayerShape& shape) {
  const TokenBytes all = layer_bytes(shape), input = layer_input(shape),
                   scores = score_bytes(shape), chosen = saved_matmuls(shape);
  table.kept[index(Recompute::none)] = all;
  table.kept[index(Recompute::full)] = input;
  table.live[index(Recompute::full)] = all;
  table.kept[index(Recompute::selective_op)] = chosen;
  table.live[index(Recompute::selective_op)] = all;
  // Every second layer is recomputed whole.
  table.kept[index(Recompute::selective_layer)] = 0.5 * all + 0.5 * input;
  table.live[index(Recompute::selective_layer)] = all;
  // "Selective" is the attention core in Megatron, and the operator list in plain torch.
  const bool by_operator =
      shape.run.framework.selective_by_operator || shape.kernels == Kernels::compiled;
  table.kept[index(Recompute::selective)] = by_operator ? chosen : positive_difference(all, scores);
  table.live[index(Recompute::selective)] = by_operator ? all : scores;
  table.backward = backward_temporaries(shape);
}

void scale(LayerTable& table, double factor) {
  for (auto& bytes : table.kept) bytes = factor * bytes;
  for (auto& bytes : table.live) bytes = factor * bytes;
  table.backward = factor * table.backward;
}

void fill_parameters(LayerTable& table, const model::LayerParameters& p) {
  table.tensor_parameters = p.attention + p.mlp + p.shared;
  table.whole_parameters = p.attention_whole + p.router + p.small;
  table.linear_whole = p.attention_whole;
  table.expert_parameters = p.experts;
}

void count_layers(Prepared& prepared) {
  const Architecture& m = prepared.architecture;
  const int layers = std::clamp(m.layers, 0, model::kMaxLayers);
  for (int i = 0; i < layers; ++i)
    for (std::size_t k = 0; k < prepared.layers_before.size(); ++k) {
      auto& before = prepared.layers_before[k];
      const auto at = static_cast<std::size_t>(i);
      before[at + 1] = static_cast<std::int16_t>(before[at] + (m.kind_of_layer[at] == k ? 1 : 0));
    }
}

// The encoder's layers attend to each other; the decoder's also attend to the encoder.
void fill_encoder(Prepared& prepared) {
  const Architecture& m = prepared.architecture;
  if (m.encoder_layers <= 0) return;
  model::LayerKind kind = m.kinds[0];
  kind.moe = false;
  if (m.encoder_ffn > 0) kind.ffn = m.encoder_ffn;
  fill_recompute(prepared.encoder, layer_shape(m, prepared.training, kind));
  const LayerShape decoder = layer_shape(m, prepared.training, m.kinds[0]);
  const TokenBytes cross{.sequence = 4.0 * m.hidden,
                         .tensor = 2 * (2 * decoder.width.q + decoder.width.k + decoder.width.v)};
  for (auto& table : prepared.layer) {
    table.kept[index(Recompute::none)] += cross;
    table.kept[index(Recompute::selective)] += cross;
    table.live[index(Recompute::full)] += cross;
  }
}

void fill_largest(Prepared& prepared) {
  const Architecture& m = prepared.architecture;
  const double h = m.hidden;
  prepared.largest_matrix = std::max(h * std::max(m.ffn, m.expert_ffn), h * m.q_width());
  for (const auto& table : prepared.layer)
    prepared.largest_layer =
        std::max(prepared.largest_layer,
                 table.tensor_parameters + table.whole_parameters + table.expert_parameters);
}

// One cached dummy a distinct weight shape, 16 bits: qkv, proj, fc1, fc2 (latent attention
// has five), of experts and of shared experts.
TokenBytes dummy_gradients(const Prepared& prepared) {
  const Architecture& m = prepared.architecture;
  const double h = m.hidden, branches = m.gated ? 2 : 1;
  TokenBytes elements;
  bool dense = false, moe = false;
  for (int k = 0; k < m.kind_count; ++k) {
    const auto& kind = m.kinds[static_cast<std::size_t>(k)];
    dense = dense || !kind.moe;
    moe = moe || kind.moe;
  }
  if (m.is_mla()) {
    const double a = m.heads, qk = m.qk_nope_dim + m.qk_rope_dim, r = m.kv_lora_rank;
    elements.whole += h * (m.q_lora_rank + r + m.qk_rope_dim);
    elements.tensor += (m.q_lora_rank > 0 ? m.q_lora_rank : h) * a * qk;
    elements.tensor += r * a * (m.qk_nope_dim + m.v_head_dim) + a * m.v_head_dim * h;
  } else {
    elements.tensor += h * (m.q_width() + 2 * m.kv_width()) + m.out_width() * h;
  }
  if (dense) elements.tensor += (branches + 1) * h * m.ffn;
  if (moe) {
    elements.whole += (branches + 1) * h * m.expert_ffn;
    elements.tensor += (branches + 1) * h * m.shared_ffn;
  }
  return 2.0 * elements;
}

double remainder(const model::ParameterCounts& c, const Architecture& m) {
  double layers = 0;
  for (int k = 0; k < m.kind_count; ++k) {
    const auto i = static_cast<std::size_t>(k);
    layers += m.kinds[i].count * c.layer[i].total();
  }
  const double known = layers + c.embedding + c.positions + c.head + c.final_norm;
  return std::max(0.0, c.total - known);
}

}  // namespace

void fill_layer_tables(Prepared& prepared) {
  const Architecture& m = prepared.architecture;
  const double tokens = prepared.training.mode == workload::Mode::dpo ? 2 : 1;
  const double width = prepared.training.precision == workload::Precision::fp32 ? 2 : 1;
  for (int k = 0; k < m.kind_count; ++k) {
    const auto i = static_cast<std::size_t>(k);
    LayerTable& table = prepared.layer[i];
    fill_parameters(table, prepared.counts.layer[i]);
    fill_recompute(table, layer_shape(m, prepared.training, m.kinds[i]));
  }
  fill_encoder(prepared);
  // A preference pair is two sequences; fp32 elements are twice as wide.
  for (auto& table : prepared.layer) scale(table, tokens * width);
  scale(prepared.encoder, tokens * width);
}

Prepared prepare(const Architecture& architecture, const Training& training) {
  Prepared prepared;
  prepared.architecture = architecture;
  model::fill_uniform_layers(prepared.architecture);
  prepared.counts = model::count_parameters(prepared.architecture);
  prepared.training = training;
  prepared.remainder_parameters = remainder(prepared.counts, prepared.architecture);
  count_layers(prepared);
  fill_layer_tables(prepared);
  fill_largest(prepared);
  fill_state_bytes(prepared);
  fill_logit_bytes(prepared);
  if (training.framework.memory.dummy_weight_gradients)
    prepared.dummy_gradients = dummy_gradients(prepared);
  return prepared;
}

}  // namespace gpuadvisor::memory
