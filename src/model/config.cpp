// config.json -> Architecture: the family's record first, then the file's fields.
#include "model/config.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/families.hpp"
#include "model/fields.hpp"
#include "model/layouts.hpp"
#include "model/quantization.hpp"

namespace gpuadvisor::model {
namespace {

constexpr std::string_view kDtypes[] = {"bfloat16", "float16", "float32", "float8_e4m3fn",
                                        "float8_e5m2"};

Architecture from_family(const Family& family) {
  Architecture a;
  a.family = family.name.empty() ? family.model_type : family.name;
  a.topology = family.topology;
  a.causal = family.topology == Topology::decoder || family.topology == Topology::encoder_decoder;
  a.gated = family.gated;
  a.tied = family.tied;
  a.norm = family.norm;
  a.norm_bias = family.norm_bias;
  a.norms_per_layer = family.norms;
  a.final_norm = family.final_norm;
  a.qk_norm = family.qk_norm_key.empty() ? family.qk_norm : 0;
  a.qkv_bias = family.qkv_bias;
  a.out_bias = family.out_bias;
  a.mlp_bias = family.mlp_bias;
  a.head_bias = family.head_bias;
  a.positions = family.positions;
  a.parallel_block = family.parallel_block;
  a.attention_gate = family.attention_gate;
  a.attention_sinks = family.attention_sinks;
  a.router_bias = family.router_bias;
  a.torch_dtype = "bfloat16";
  return a;
}

void set_bias(Architecture& a, unsigned scope, bool on) {
  if ((scope & kBiasQkv) != 0) a.qkv_bias = on;
  if ((scope & kBiasOut) != 0) a.out_bias = on;
  if ((scope & kBiasMlp) != 0) a.mlp_bias = on;
  if ((scope & kBiasNorm) != 0) a.norm_bias = on;
  if ((scope & kBiasHead) != 0) a.head_bias = on;
}

struct BiasKey {
  std::string_view key;
  std::uint8_t scope;
  bool inverted;
};

void read_biases(Fields& f, const Family& family, Architecture& a) {
  const BiasKey keys[] = {
      {"bias", family.bias_scope, false},
      {"use_bias", family.bias_scope, false},
      {"add_bias_linear", family.bias_scope, false},
      {"enable_bias", family.bias_scope, false},
      {"no_bias", kBiasQkv | kBiasOut | kBiasMlp | kBiasNorm, true},
      {"attention_bias", family.attention_bias_scope, false},
      {"add_qkv_bias", kBiasQkv, false},
      {"qkv_bias", kBiasQkv, false},
      {"use_qkv_bias", kBiasQkv, false},
      {"attention_out_bias", kBiasOut, false},
      {"mlp_bias", kBiasMlp, false},
      {"lm_head_bias", kBiasHead, false},
  };
  if (family.fixed_bias) return;
  for (const BiasKey& key : keys)
    if (const auto on = f.maybe_boolean(key.key)) set_bias(a, key.scope, *on != key.inverted);
}

void read_attention(Fields& f, const Family& family, Architecture& a) {
  a.heads = f.integer(
      {"num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"},
      family.default_heads);
  a.kv_heads =
      f.integer({"num_key_value_heads", "n_head_kv", "num_kv_heads", "multi_query_group_num"},
                family.default_kv_heads);
  if (const auto attention = f.object("attn_config")) {
    Fields nested = *attention;
    a.kv_heads = nested.integer({"kv_n_heads"}, a.kv_heads);
    if (nested.error()) f.complain("attn_config", "valid values");
  }
  if (f.boolean({"multi_query"}, false) && !f.boolean({"new_decoder_architecture"}, false))
    a.kv_heads = 1;
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  const std::int32_t even = a.heads > 0 ? a.hidden / a.heads : 0;
  a.head_dim = f.integer({"head_dim", "kv_channels", "d_kv", "attention_head_dim"},
                         family.default_head_dim > 0 ? family.default_head_dim : even);
  if (!family.qk_norm_key.empty() && f.boolean({family.qk_norm_key}, false))
    a.qk_norm = family.qk_norm;
  a.attention_gate = f.boolean({"attn_output_gate"}, a.attention_gate);
}

void read_latent_attention(Fields& f, Architecture& a) {
  a.kv_lora_rank = f.integer({"kv_lora_rank"});
  if (a.kv_lora_rank == 0) return;
  a.q_lora_rank = f.integer({"q_lora_rank"});
  a.qk_nope_dim = f.integer({"qk_nope_head_dim"});
  a.qk_rope_dim = f.integer({"qk_rope_head_dim"});
  a.v_head_dim = f.integer({"v_head_dim"});
  a.head_dim = a.qk_nope_dim + a.qk_rope_dim;
  a.kv_heads = a.heads;
  a.index_heads = f.integer({"index_n_heads"});
  a.index_head_dim = f.integer({"index_head_dim"});
}

void read_linear_attention(Fields& f, Architecture& a) {
  a.linear_key_heads = f.integer({"linear_num_key_heads"});
  a.linear_key_dim = f.integer({"linear_key_head_dim"});
  a.linear_value_heads = f.integer({"linear_num_value_heads"});
  a.linear_value_dim = f.integer({"linear_value_head_dim"});
  a.linear_conv = f.integer({"linear_conv_kernel_dim"});
}

void read_mlp(Fields& f, const Family& family, Architecture& a) {
  a.ffn = f.integer(
      {"intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size", "decoder_ffn_dim"});
  if (f.has("expansion_ratio")) a.ffn = product(f.integer({"expansion_ratio"}), a.hidden);
  if (a.ffn == 0) a.ffn = product(family.ffn_factor, a.hidden);
  a.ffn /= family.ffn_divisor;
}

void read_experts(Fields& f, const Family& family, Architecture& a) {
  if (family.dense_all) return;
  a.experts = f.integer({"num_local_experts", "num_experts", "n_routed_experts"});
  a.experts_per_token = f.integer({"num_experts_per_tok", "experts_per_token"});
  a.expert_ffn = f.integer({"moe_intermediate_size"}, a.ffn);
  if (const auto ffn = f.object("ffn_config")) {
    Fields nested = *ffn;
    a.experts = nested.integer({"moe_num_experts"});
    a.experts_per_token = nested.integer({"moe_top_k"});
    a.expert_ffn = a.ffn = nested.integer({"ffn_hidden_size"});
    if (nested.error()) f.complain("ffn_config", "valid values");
  }
  if (a.experts == 0) {
    a.experts_per_token = a.expert_ffn = 0;
    a.router_bias = false;
    return;
  }
  a.shared_ffn = f.integer(
      {"shared_expert_intermediate_size", "shared_intermediate_size"},
      product(f.integer({"n_shared_experts", "num_shared_experts"}, family.shared_experts),
              a.expert_ffn));
  a.shared_gate = family.shared_gate && a.shared_ffn > 0;
  if (!family.router_bias_key.empty()) a.router_bias = f.boolean({family.router_bias_key}, false);
  const std::string method = f.text({"topk_method"});
  if (!method.empty()) a.router_bias = method == "noaux_tc";
}

void set_dtype(Fields& f, Architecture& a) {
  const std::string dtype = f.text({"torch_dtype", "dtype"});
  for (const std::string_view known : kDtypes)
    if (known == dtype) a.torch_dtype = known;
}

void read_sizes(Fields& f, const Family& family, Architecture& a) {
  a.hidden = f.integer({"hidden_size", "n_embd", "d_model", "n_embed"});
  a.layers = f.integer({"num_hidden_layers", "n_layer", "n_layers", "num_decoder_layers",
                        "decoder_layers", "num_layers"});
  a.vocab = f.integer({"vocab_size", "padded_vocab_size"}, family.default_vocab);
  a.max_positions =
      f.integer({"max_position_embeddings", "n_positions", "max_seq_len", "seq_length",
                 "max_sequence_length", "model_max_length", "max_target_positions"},
                family.default_positions);
  a.tied = f.boolean({"tie_word_embeddings"}, a.tied);
  a.mtp_layers = f.integer({"num_nextn_predict_layers", "mtp_num_hidden_layers"});
  if (f.has("num_mtp_modules") && f.boolean({"use_mtp"}, false))
    a.mtp_layers = f.integer({"num_mtp_modules"});
  set_dtype(f, a);
}

Result<void> check(const Fields& f, const Architecture& a) {
  if (f.error()) return tl::unexpected(*f.error());
  const auto missing = [&](std::string_view what) {
    return fail(ErrorCode::input, std::string("no ") + std::string(what) + " given", f.where());
  };
  if (a.hidden == 0) return missing("hidden size (hidden_size, n_embd, d_model)");
  if (a.layers == 0) return missing("number of layers (num_hidden_layers, n_layer, num_layers)");
  if (a.heads == 0) return missing("number of attention heads (num_attention_heads, n_head)");
  if (a.head_dim == 0) return missing("head size (head_dim)");
  if (a.vocab == 0 && a.topology != Topology::vision) return missing("vocabulary (vocab_size)");
  if (a.ffn == 0 && a.expert_ffn == 0 && a.ssm_inner == 0)
    return missing("MLP width (intermediate_size)");
  if (a.layers > kMaxLayers) return fail(ErrorCode::input, "more than 1024 layers", f.where());
  if (a.experts > 0 &&
      (a.experts_per_token == 0 || a.experts_per_token > a.experts || a.expert_ffn == 0))
    return fail(ErrorCode::input, "experts need a width and a top-k between 1 and their number",
                f.where());
  if (a.kv_heads > a.heads)
    return fail(ErrorCode::input, "more key-value heads than query heads", f.where());
  if (a.is_mla() && (a.qk_nope_dim + a.qk_rope_dim == 0 || a.v_head_dim == 0))
    return fail(ErrorCode::input,
                "latent attention without head sizes (qk_nope_head_dim, v_head_dim)", f.where());
  return {};
}

}  // namespace

Result<Architecture> read_text_architecture(Fields& f, const Family& family) {
  Architecture a = from_family(family);
  if (family.layout == Layout::reported) return a;  // no formula: sizes would not be used
  read_sizes(f, family, a);
  read_attention(f, family, a);
  read_latent_attention(f, a);
  read_linear_attention(f, a);
  read_mlp(f, family, a);
  read_experts(f, family, a);
  read_biases(f, family, a);
  if (auto applied = apply_layout(f, family, a); !applied) return tl::unexpected(applied.error());
  if (a.positions == Positions::learned && a.topology != Topology::vision &&
      a.learned_positions == 0)
    a.learned_positions = a.max_positions + family.position_offset;
  if (family.embedding_norm) a.extra_parameters += a.hidden * (a.norm_bias ? 2.0 : 1.0);
  if (a.topology == Topology::diffusion) return a;
  if (auto valid = check(f, a); !valid) return tl::unexpected(valid.error());
  if (auto layered = lay_out_layers(f, family, a); !layered) return tl::unexpected(layered.error());
  if (f.error()) return tl::unexpected(*f.error());
  return a;
}

namespace {

/// The object that holds the text model: nested for most vision-language models.
Fields text_part(const Fields& top) {
  for (const std::string_view key :
       {"text_config", "llm_config", "language_config", "thinker_config"})
    if (auto nested = top.object(key))
      return nested->has("text_config") ? *nested->object("text_config") : *nested;
  return top;
}

std::string model_type_of(Fields& f) {
  std::string type = f.text({"model_type"});
  return type.empty() ? f.text({"_class_name"}) : type;
}

/// Other towers (audio, speech, ...) that a wrapper nests: said, not counted.
void note_other_parts(const Fields& top, ConfigResult& out) {
  constexpr std::string_view kKnown[] = {
      "text_config",   "llm_config",          "language_config",    "thinker_config",
      "vision_config", "quantization_config", "compression_config", "attn_config",
      "ffn_config",    "init_config",         "generation_config",  "task_specific_params_config"};
  for (const std::string& key : top.keys()) {
    if (!std::string_view(key).ends_with("_config") || !top.object(key)) continue;
    if (std::find(std::begin(kKnown), std::end(kKnown), key) != std::end(kKnown)) continue;
    out.warnings.push_back("the part \"" + key.substr(0, 60) +
                           "\" is not known: it is not counted");
    out.partial = true;
  }
}

Result<void> add_vision(const Fields& top, std::string_view model_type, Architecture& a,
                        ConfigResult& out) {
  const auto vision = top.object("vision_config");
  if (!vision) return {};
  Fields fields = *vision;
  auto count = vision_parameters(fields, model_type, a);
  if (!count) return tl::unexpected(count.error());
  if (*count > 0) {
    a.vision_parameters = *count;
  } else {
    out.warnings.push_back("the vision tower of model_type \"" + std::string(model_type) +
                           "\" is not known: only the text part is counted");
    out.partial = true;
  }
  return {};
}

Result<const Family*> family_of(const std::string& text_type, const std::string& model_type,
                                std::string_view where) {
  if (const Family* own = find_family(text_type)) return own;
  if (const Family* outer = find_family(model_type)) return outer;
  return fail(
      ErrorCode::input,
      "unknown model_type \"" + (text_type.empty() ? model_type : text_type) + "\"",
      std::string(where),
      "give the weights too (a folder with safetensors, or a GGUF file): their tensors are counted "
      "exactly; or describe the size with --params");
}

Result<void> read_outer(Fields& top, const Fields& text, Architecture& a) {
  if (!text.has("tie_word_embeddings")) a.tied = top.boolean({"tie_word_embeddings"}, a.tied);
  if (!text.has("torch_dtype") && !text.has("dtype")) set_dtype(top, a);
  if (top.error()) return tl::unexpected(*top.error());
  return {};
}

Result<void> read_storage(const Fields& top, const Fields& text, std::string_view where,
                          Quantization& out) {
  for (const Fields* level : {&text, &top}) {
    const nlohmann::json* object = level->find("quantization_config");
    if (object == nullptr) continue;
    auto quantization = read_quantization(*object, where);
    if (!quantization) return tl::unexpected(quantization.error());
    out = std::move(*quantization);
    return {};
  }
  return {};
}

}  // namespace

Result<ConfigResult> read_config_json(const nlohmann::json& document, std::string_view where) {
  if (!document.is_object())
    return fail(ErrorCode::input, "expected a JSON object", std::string(where));
  Fields top(document, std::string(where));
  ConfigResult out;
  out.model_type = model_type_of(top);
  if (out.model_type.empty())
    return fail(ErrorCode::input, "no model_type: this is not a model configuration",
                std::string(where), "give the config.json that is published with the weights");
  Fields text = text_part(top);
  const std::string text_type = model_type_of(text);
  const auto family = family_of(text_type, out.model_type, where);
  if (!family) return tl::unexpected(family.error());
  if (auto problem = unsupported_structure(text); !problem) return tl::unexpected(problem.error());
  auto read = read_text_architecture(text, **family);
  if (!read) return tl::unexpected(read.error());
  out.architecture = *read;
  if (auto outer = read_outer(top, text, out.architecture); !outer)
    return tl::unexpected(outer.error());
  if (auto stored = read_storage(top, text, where, out.quantization); !stored)
    return tl::unexpected(stored.error());
  if (auto vision = add_vision(top, out.model_type, out.architecture, out); !vision)
    return tl::unexpected(vision.error());
  note_other_parts(top, out);
  return out;
}

}  // namespace gpuadvisor::model
