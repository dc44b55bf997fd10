#include <algorithm>

#include "gpuadvisor/serving.hpp"

namespace gpuadvisor::serving {
namespace {

bool attends(model::Mixer mixer) {
  return mixer == model::Mixer::full || mixer == model::Mixer::sliding ||
         mixer == model::Mixer::chunked || mixer == model::Mixer::mla;
}

/// Rows of the inputs of all matrices, 4 bytes each in a GPTQ file (g_idx).
double gptq_index_bytes(const model::Architecture& a, const Model& model) {
  const double h = a.hidden;
  const double attention = model.layers * (3 * h + a.q_width());
  const double dense = model.dense_layers * (2 * h + a.ffn);
  const double experts = model.moe_layers * a.experts * (2 * h + a.expert_ffn);
  const double shared = a.shared_ffn > 0 ? model.moe_layers * (2 * h + a.shared_ffn) : 0;
  return 4 * (attention + dense + experts + shared);
}

void add_kind(Model& model, const model::LayerKind& kind, const model::LayerParameters& p) {
  const double count = kind.count;
  model.layers += count;
  model.attention += count * (p.attention + p.attention_whole);
  model.attention_whole += count * p.attention_whole;
  model.dense += count * (p.mlp + p.shared);
  model.experts += count * p.experts;
  (kind.moe ? model.moe_layers : model.dense_layers) += count;
  if (attends(kind.mixer)) model.attention_layers += count;
}

}  // namespace

Model prepare(const model::Architecture& architecture) {
  Model model;
  model.architecture = architecture;
  model::fill_uniform_layers(model.architecture);
  const model::Architecture& a = model.architecture;
  model.counts = model::count_parameters(a);
  for (int i = 0; i < a.kind_count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    add_kind(model, a.kinds[index], model.counts.layer[index]);
  }
  model.layers += a.encoder_layers;
  model.dense += model.counts.encoder;
  model.embedding = model.counts.embedding;
  model.stored_head = model.counts.head;
  model.head = model.stored_head > 0 ? model.stored_head : model.embedding;
  model.rest = std::max(0.0, model.counts.total - model.attention - model.dense - model.experts -
                                 model.embedding - model.stored_head);
  model.dense_width = model.dense_layers > 0 ? a.ffn : a.shared_ffn;
  model.key_value = model.attention_layers * 2.0 * a.hidden * a.kv_width();
  model.g_idx = gptq_index_bytes(a, model);
  return model;
}

}  // namespace gpuadvisor::serving
