// What a model_type implies that its config.json does not say. Data, not code:
// one record a family; the reader applies the record, then the file's fields.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "gpuadvisor/model.hpp"

namespace gpuadvisor::model {

/// Linear modules that a bias key of the file switches.
enum BiasScope : std::uint8_t {
  kBiasQkv = 1,
  kBiasOut = 2,
  kBiasMlp = 4,
  kBiasNorm = 8,
  kBiasHead = 16
};

/// How the layers of a family are laid out beyond what common keys say.
enum class Layout : std::uint8_t {
  plain,
  falcon,    ///< norms and key-value heads depend on new_decoder_architecture
  opt,       ///< projections around the stack when word_embed_proj_dim differs
  bert,      ///< token types, embedding norm, pooler
  t5,        ///< gated by feed_forward_proj, relative tables
  whisper,   ///< audio encoder with convolutions
  vit,       ///< patch embedding, class token, classifier or pooler
  mamba,     ///< state-space layers only
  jamba,     ///< state-space layers with norms of their own, some attention
  pattern,   ///< one letter a layer: mamba, attention or MLP (Nemotron-H)
  flux,      ///< diffusion transformer of double and single blocks
  reported,  ///< no formula: the count must be reported
};

struct Family {
  std::string_view model_type;
  std::string_view name = {};  ///< canonical family; empty: model_type
  Topology topology = Topology::decoder;
  Layout layout = Layout::plain;
  bool tied = false;
  bool gated = true;
  Norm norm = Norm::rms;
  bool norm_bias = false;
  std::int32_t norms = 2;  ///< a layer
  bool final_norm = true;
  bool embedding_norm = false;
  std::int32_t qk_norm = 0;           ///< when on
  std::string_view qk_norm_key = {};  ///< boolean key that turns it on; empty: always
  bool qkv_bias = false, out_bias = false, mlp_bias = false, head_bias = false;
  std::uint8_t attention_bias_scope = kBiasQkv | kBiasOut;   ///< of attention_bias
  std::uint8_t bias_scope = kBiasQkv | kBiasOut | kBiasMlp;  ///< of bias, use_bias, add_bias_linear
  bool fixed_bias = false;                                   ///< bias keys of the file say nothing
  Positions positions = Positions::rope;
  std::int32_t position_offset = 0;  ///< extra rows of a learned position table
  double ffn_factor = 0;         ///< MLP width / hidden where the file leaves it out; 0 required
  std::int32_t ffn_divisor = 1;  ///< the file's width is this many times the real one
  bool parallel_block = false;
  bool attention_gate = false, attention_sinks = false;
  bool router_bias = false;
  std::string_view router_bias_key = {};  ///< boolean key that turns the router bias on
  bool shared_gate = false;
  std::int32_t shared_experts = 0;        ///< of expert width, where no key says so
  Mixer linear_mixer = Mixer::delta_net;  ///< of "linear_attention" layers
  std::int32_t full_interval = 0;         ///< default full_attention_interval
  std::int32_t window_pattern = 0;  ///< every n-th layer full, the others windowed; 1 all full
  bool window_needs_flag = false;   ///< use_sliding_window must be true
  bool window_all = false;          ///< a window applies to all layers
  bool window_ignored = false;      ///< the family has no windows
  Mixer window_mixer = Mixer::sliding;
  std::int32_t default_window = 0;
  std::int32_t moe_step = 1;          ///< every n-th layer has experts
  bool dense_all = false;             ///< expert fields of the file are not used
  std::string_view refused_key = {};  ///< boolean key whose true is a structure not described here
  std::int32_t default_vocab = 0, default_heads = 0, default_kv_heads = 0, default_head_dim = 0;
  std::int32_t default_positions = 0;
};

/// The record of a model_type (or an alias of it), or null.
[[nodiscard]] const Family* find_family(std::string_view model_type);
[[nodiscard]] std::span<const Family> families();

}  // namespace gpuadvisor::model
