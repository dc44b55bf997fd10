// GGUF metadata and tensor names -> Architecture: sizes from the metadata, biases,
// norms and tying from the tensors that are there.
#include <algorithm>

#include "model/families.hpp"
#include "model/gguf_architecture.hpp"

namespace gpuadvisor::model {
namespace {

struct ArchitectureName {
  std::string_view gguf, family;
};
/// llama.cpp's names of architectures that are not the model_type without separators.
constexpr ArchitectureName kNames[] = {
    {"qwen2moe", "qwen2_moe"},
    {"qwen3moe", "qwen3_moe"},
    {"qwen3next", "qwen3_next"},
    {"deepseek2", "deepseek_v2"},
    {"gptneox", "gpt_neox"},
    {"starcoder", "gpt_bigcode"},
    {"phi2", "phi"},
    {"command-r", "cohere"},
    {"gpt-oss", "gpt_oss"},
    {"glm4moe", "glm4_moe"},
    {"gemma3", "gemma3_text"},
    {"olmo2", "olmo2"},
    {"minimax-m2", "minimax_m2"},
    {"llama4", "llama4_text"},
    {"seed_oss", "seed_oss"},
    {"grok", "grok-1"},
};

double number(const GgufMetadata& m, std::string_view key, double fallback = 0) {
  const auto found = m.numbers.find(key);
  if (found != m.numbers.end()) return found->second;
  const auto list = m.lists.find(key);
  return list != m.lists.end() && !list->second.empty()
             ? *std::max_element(list->second.begin(), list->second.end())
             : fallback;
}

/// A size; NaN and negative values of a hostile file are none.
std::int32_t whole(double value) {
  return value > 0 ? static_cast<std::int32_t>(std::min(value, 1073741823.0)) : 0;
}

std::int32_t integer(const GgufMetadata& m, std::string_view key, double fallback = 0) {
  return whole(number(m, key, fallback));
}

void set_latent(const GgufMetadata& m, Architecture& a) {
  a.kv_lora_rank = integer(m, "attention.kv_lora_rank");
  if (a.kv_lora_rank == 0) return;
  a.q_lora_rank = integer(m, "attention.q_lora_rank");
  a.qk_rope_dim = integer(m, "rope.dimension_count", 64);
  const auto key = integer(m, "attention.key_length_mla", number(m, "attention.key_length"));
  a.qk_nope_dim = std::max(0, key - a.qk_rope_dim);
  a.v_head_dim = integer(m, "attention.value_length_mla", number(m, "attention.value_length"));
  a.head_dim = a.qk_nope_dim + a.qk_rope_dim;
  a.kv_heads = a.heads;
}

void set_experts(const GgufMetadata& m, const TensorScan& scan, Architecture& a) {
  a.experts = integer(m, "expert_count");
  if (a.experts == 0) return;
  a.experts_per_token = std::clamp(integer(m, "expert_used_count", 1), 1, a.experts);
  a.expert_ffn = integer(m, "expert_feed_forward_length", a.ffn);
  const Shape* shared = scan.shape(Role::shared_up);
  if (shared != nullptr) a.shared_ffn = whole(shared->rows);
}

void set_layers_of(const GgufMetadata& m, Architecture& a) {
  const auto window = integer(m, "attention.sliding_window");
  const auto pattern = integer(m, "attention.sliding_window_pattern");
  const auto dense = integer(m, "leading_dense_block_count");
  std::vector<LayerKind> layers(static_cast<std::size_t>(a.layers));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    LayerKind& layer = layers[i];
    layer.mixer = a.is_mla() ? Mixer::mla : Mixer::full;
    if (window > 0 && pattern > 1 && (i + 1) % static_cast<std::size_t>(pattern) != 0) {
      layer.mixer = Mixer::sliding;
      layer.window = window;
    }
    layer.moe = a.experts > 0 && i >= static_cast<std::size_t>(dense);
    layer.ffn = layer.moe ? 0 : a.ffn;
  }
  (void)set_layer_kinds(a, layers);
}

}  // namespace

Result<Architecture> gguf_architecture(const GgufMetadata& m, const TensorScan& scan,
                                       std::string_view where, std::vector<std::string>& warnings) {
  std::string_view type = m.architecture;
  for (const ArchitectureName& entry : kNames)
    if (entry.gguf == m.architecture) type = entry.family;
  const Family* family = find_family(type);
  Architecture a;
  a.family = "unknown";
  if (family != nullptr) {
    a.family = family->name.empty() ? family->model_type : family->name;
    a.norm = family->norm;
    a.norm_bias = family->norm_bias;
    a.norms_per_layer = family->norms;
    a.parallel_block = family->parallel_block;
    a.positions = family->positions;
    a.qk_norm = family->qk_norm_key.empty() ? family->qk_norm : 0;
  } else {
    warnings.push_back("unknown GGUF architecture \"" + m.architecture.substr(0, 64) +
                       "\": shape from common metadata");
  }
  a.hidden = integer(m, "embedding_length");
  a.layers = std::max(0, integer(m, "block_count") - integer(m, "nextn_predict_layers"));
  a.mtp_layers = integer(m, "nextn_predict_layers");
  a.heads = integer(m, "attention.head_count");
  a.kv_heads = integer(m, "attention.head_count_kv", a.heads);
  a.ffn = integer(m, "feed_forward_length");
  a.max_positions = integer(m, "context_length");
  if (a.hidden <= 0 || a.layers <= 0 || a.layers > kMaxLayers || a.heads <= 0)
    return fail(ErrorCode::input,
                "metadata without embedding_length, block_count or attention.head_count",
                std::string(where));
  const int head_width = a.hidden / a.heads;
  a.head_dim = integer(m, "attention.key_length", head_width);
  const Shape* embedding = scan.shape(Role::embedding);
  a.vocab = embedding != nullptr ? whole(embedding->rows) : integer(m, "vocab_size", m.vocabulary);
  a.tied = scan.count(Role::head) == 0;
  a.gated = scan.count(Role::gate) + scan.count(Role::expert_gate) > 0 || family == nullptr ||
            family->gated;
  a.qkv_bias = scan.count(Role::q_bias) > 0;
  a.out_bias = scan.count(Role::output_bias) > 0;
  a.mlp_bias = scan.count(Role::mlp_bias) > 0;
  const Shape* positions = scan.shape(Role::positions);
  if (positions != nullptr) a.learned_positions = whole(positions->rows);
  set_latent(m, a);
  set_experts(m, scan, a);
  set_layers_of(m, a);
  return a;
}

}  // namespace gpuadvisor::model
