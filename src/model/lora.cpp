// Adapter sizes (LoRA, 2106.09685; DoRA, 2402.09353) and the names of target modules.
#include <algorithm>
#include <bit>

#include "gpuadvisor/model.hpp"
#include "model/layer_math.hpp"

namespace gpuadvisor::model {
namespace {

constexpr std::uint32_t kQkv = kTargetQ | kTargetK | kTargetV;
constexpr std::uint32_t kGateUp = kTargetGate | kTargetUp;

struct ModuleName {
  std::string_view family;  ///< empty: every family without an entry of its own
  std::string_view module;
  std::uint32_t bits;
};

/// Names of linear modules in published implementations (Hugging Face, LitGPT,
/// remote code). A bare name matches every module that ends in it, as in PEFT.
// clang-format off
constexpr ModuleName kModules[] = {
    {"qwen", "c_attn", kQkv}, {"qwen", "c_proj", kTargetO | kTargetDown}, {"qwen", "w1", kTargetUp},
    {"qwen", "w2", kTargetGate}, {"gpt2", "c_proj", kTargetO | kTargetDown},
    {"gpt_bigcode", "c_proj", kTargetO | kTargetDown}, {"starcoder2", "c_proj", kTargetDown},
    {"exaone", "c_proj", kTargetDown}, {"exaone", "c_fc_0", kTargetGate}, {"exaone", "c_fc_1", kTargetUp},
    {"internlm2", "wo", kTargetO}, {"t5", "wo", kTargetDown}, {"t5", "o", kTargetO},
    {"dbrx", "w1", kTargetGate}, {"dbrx", "v1", kTargetUp}, {"dbrx", "w2", kTargetDown},
    {"bert", "dense", kTargetO | kTargetUp | kTargetDown},
    {"roberta", "dense", kTargetO | kTargetUp | kTargetDown},
    {"chatglm", "dense_h_to_4h", kGateUp}, {"mixtral", "gate", kTargetRouter},
    {"", "q_proj", kTargetQ}, {"", "k_proj", kTargetK}, {"", "v_proj", kTargetV}, {"", "o_proj", kTargetO},
    {"", "out_proj", kTargetO}, {"", "qkv_proj", kQkv}, {"", "query_key_value", kQkv}, {"", "c_attn", kQkv},
    {"", "W_pack", kQkv}, {"", "Wqkv", kQkv}, {"", "wqkv", kQkv}, {"", "qkv", kQkv}, {"", "wq", kTargetQ},
    {"", "wk", kTargetK}, {"", "wv", kTargetV}, {"", "wo", kTargetO}, {"", "q", kTargetQ}, {"", "k", kTargetK},
    {"", "v", kTargetV}, {"", "o", kTargetO}, {"", "query", kTargetQ}, {"", "key", kTargetK},
    {"", "value", kTargetV}, {"", "projection", kTargetO}, {"", "output_proj", kTargetO}, {"", "dense", kTargetO}, {"", "proj", kTargetO},
    {"", "c_proj", kTargetO | kTargetDown}, {"", "attention", kTargetAttention},
    {"", "q_a_proj", kTargetQ}, {"", "q_b_proj", kTargetQ}, {"", "kv_a_proj_with_mqa", kTargetK | kTargetV},
    {"", "kv_b_proj", kTargetK | kTargetV},
    {"", "gate_proj", kTargetGate}, {"", "up_proj", kTargetUp}, {"", "down_proj", kTargetDown},
    {"", "gate_up_proj", kGateUp}, {"", "w1", kTargetGate}, {"", "w3", kTargetUp}, {"", "w2", kTargetDown},
    {"", "fc1", kTargetUp}, {"", "fc2", kTargetDown}, {"", "fc_1", kTargetGate}, {"", "fc_2", kTargetUp},
    {"", "fc_in", kTargetUp}, {"", "fc_out", kTargetDown}, {"", "c_fc", kTargetUp}, {"", "wi", kTargetUp},
    {"", "wi_0", kTargetGate}, {"", "wi_1", kTargetUp}, {"", "dense_h_to_4h", kTargetUp},
    {"", "dense_4h_to_h", kTargetDown}, {"", "mlp", kTargetMlp}, {"", "all-linear", kTargetAllLinear},
    {"", "all_linear", kTargetAllLinear}, {"", "all", kTargetAllLinear}, {"", "linear", kTargetAllLinear}, {"", "head", kTargetHead}, {"", "lm_head", kTargetHead},
    {"", "embed_out", kTargetHead}, {"", "embed_tokens", kTargetEmbedding}, {"", "wte", kTargetEmbedding},
    {"", "router", kTargetRouter},
};
// clang-format on

/// Adds matrices of shape in x out that one adapter each adapts.
struct AdapterSum {
  bool dora = false;
  double total = 0.0;
  void add(double rank, double in, double out, double copies = 1.0) {
    total += copies * (rank * (in + out) + (dora ? out : 0.0));
  }
};

class LoraCount {
 public:
  LoraCount(const Architecture& a, const LoraSpec& lora) : a_(a), lora_(lora), sum_{lora.dora} {}

  double run() {
    for (int kind = 0; kind < a_.kind_count; ++kind) {
      const LayerKind& k = a_.kinds[static_cast<std::size_t>(kind)];
      copies_ = k.count;
      add_mixer(k.mixer);
      add_mlp(k);
    }
    copies_ = a_.encoder_layers;
    if (a_.encoder_layers > 0) {
      add_attention();
      add_dense(a_.encoder_ffn);
    }
    copies_ = 1;
    add(kTargetHead, a_.hidden, a_.vocab);
    add(kTargetEmbedding, a_.vocab, a_.hidden);
    return sum_.total;
  }

 private:
  double rank(std::uint32_t bit) const {
    const auto own = lora_.rank_of[static_cast<std::size_t>(std::countr_zero(bit))];
    return own > 0 ? own : lora_.rank;
  }
  void add(std::uint32_t bit, double in, double out, double copies = 1.0) {
    if ((lora_.targets & bit) != 0 && copies_ > 0) sum_.add(rank(bit), in, out, copies_ * copies);
  }
  void add_attention() {
    const double h = a_.hidden, q = a_.q_width() * (a_.attention_gate ? 2.0 : 1.0);
    if (lora_.fused_qkv && (lora_.targets & kQkv) == kQkv) {
      add(kTargetQ, h, q + 2.0 * a_.kv_width());
    } else {
      add(kTargetQ, h, q);
      add(kTargetK, h, a_.kv_width());
      add(kTargetV, h, a_.kv_width());
    }
    add(kTargetO, a_.out_width(), h);
  }
  void add_latent() {
    const double h = a_.hidden, q = 1.0 * a_.heads * (a_.qk_nope_dim + a_.qk_rope_dim);
    if (a_.q_lora_rank > 0) {
      add(kTargetQ, h, a_.q_lora_rank);
      add(kTargetQ, a_.q_lora_rank, q);
    } else {
      add(kTargetQ, h, q);
    }
    const std::uint32_t kv = (lora_.targets & kTargetK) != 0 ? kTargetK : kTargetV;
    add(kv, h, 1.0 * a_.kv_lora_rank + a_.qk_rope_dim);
    add(kv, a_.kv_lora_rank, 1.0 * a_.heads * (a_.qk_nope_dim + a_.v_head_dim));
    add(kTargetO, 1.0 * a_.heads * a_.v_head_dim, h);
  }
  /// Projections that only "all-linear" reaches; the names of attention differ.
  void add_linear(Mixer mixer) {
    if ((lora_.targets & kTargetAllLinear) != kTargetAllLinear) return;
    const double h = a_.hidden;
    if (mixer == Mixer::delta_net) {
      add(kTargetQ, h, 2.0 * linear_key_width(a_) + 2.0 * linear_value_width(a_));
      add(kTargetQ, h, 2.0 * a_.linear_value_heads);
      add(kTargetO, linear_value_width(a_), h);
    } else if (mixer == Mixer::lightning) {
      add(kTargetQ, h, 3.0 * a_.q_width());
      add(kTargetQ, h, a_.q_width());
      add(kTargetO, a_.q_width(), h);
    } else if (mixer == Mixer::state_space) {
      const double convolved = a_.ssm_inner + 2.0 * a_.ssm_groups * a_.ssm_state;
      add(kTargetQ, h,
          a_.ssm_heads > 0 ? a_.ssm_inner + convolved + a_.ssm_heads : 2.0 * a_.ssm_inner);
      add(kTargetO, a_.ssm_inner, h);
    }
  }
  void add_mixer(Mixer mixer) {
    if (mixer == Mixer::mla) return add_latent();
    if (mixer == Mixer::full || mixer == Mixer::sliding || mixer == Mixer::chunked) {
      add_attention();
      if (a_.cross_attention) add_attention();
      return;
    }
    add_linear(mixer);
  }
  void add_dense(double width, double copies = 1.0) {
    if (width <= 0) return;
    const double h = a_.hidden;
    if (a_.gated && lora_.fused_gate_up && (lora_.targets & kGateUp) == kGateUp) {
      add(kTargetUp, h, 2.0 * width, copies);
    } else {
      if (a_.gated) add(kTargetGate, h, width, copies);
      add(kTargetUp, h, width, copies);
    }
    add(kTargetDown, width, h, copies);
  }
  void add_mlp(const LayerKind& kind) {
    if (!kind.moe) return add_dense(kind.ffn);
    add_dense(a_.expert_ffn, a_.experts);
    add_dense(a_.shared_ffn);
    add(kTargetRouter, a_.hidden, a_.experts);
  }

  const Architecture& a_;
  const LoraSpec& lora_;
  AdapterSum sum_;
  double copies_ = 0.0;
};

std::uint32_t lookup(std::string_view family, std::string_view module) {
  for (const ModuleName& entry : kModules)
    if (entry.family == family && entry.module == module) return entry.bits;
  return 0;
}

}  // namespace

std::uint32_t target_bits(std::string_view module, const Architecture& architecture) {
  // "mlp.c_proj" names the block too: only the last part is a module of ours.
  const auto dot = module.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? module : module.substr(dot + 1);
  std::uint32_t bits = lookup(architecture.family, last);
  if (bits == 0) bits = lookup("", last);
  if (dot == std::string_view::npos) return bits;
  const std::string_view parent = module.substr(0, dot);
  if (parent.ends_with("attn") || parent.ends_with("attention")) return bits & kTargetAttention;
  if (parent.ends_with("mlp") || parent.ends_with("ffn"))
    return bits & ~std::uint32_t{kTargetAttention};
  return bits;
}

double lora_parameters(const Architecture& architecture, const LoraSpec& lora) {
  if (architecture.kind_count > 0) return LoraCount(architecture, lora).run();
  Architecture filled = architecture;
  fill_uniform_layers(filled);
  return LoraCount(filled, lora).run();
}

}  // namespace gpuadvisor::model
