#include "model/families.hpp"

#include <algorithm>

namespace gpuadvisor::model {
namespace {

constexpr std::uint8_t kAllLinear = kBiasQkv | kBiasOut | kBiasMlp;

// clang-format off
constexpr Family kFamilies[] = {
    // Gated RMS-norm decoders.
    {.model_type = "llama", .window_ignored = true},
    {.model_type = "llama4_text", .name = "llama4", .qk_norm = 3, .shared_experts = 1, .window_pattern = 4,
     .window_mixer = Mixer::chunked, .default_window = 8192},
    {.model_type = "mistral", .window_all = true},
    {.model_type = "ministral", .name = "mistral", .window_all = true},
    {.model_type = "mixtral", .window_all = true},
    {.model_type = "smollm3", .tied = true, .window_needs_flag = true},
    {.model_type = "internlm", .bias_scope = kBiasQkv | kBiasOut, .window_ignored = true},
    {.model_type = "internlm2", .bias_scope = kBiasQkv | kBiasOut, .window_ignored = true},
    {.model_type = "internlm3", .bias_scope = kBiasOut | kBiasMlp, .window_ignored = true},
    {.model_type = "baichuan", .fixed_bias = true, .window_ignored = true},
    {.model_type = "yi", .name = "llama", .window_ignored = true},
    {.model_type = "seed_oss", .qkv_bias = true, .attention_bias_scope = kBiasQkv, .window_ignored = true},
    {.model_type = "granite", .window_ignored = true},
    {.model_type = "granitemoe", .window_ignored = true},
    {.model_type = "minicpm", .tied = true, .window_ignored = true},
    {.model_type = "arcee", .gated = false, .window_ignored = true},
    {.model_type = "mimo", .qkv_bias = true, .fixed_bias = true, .window_needs_flag = true},
    {.model_type = "qwen", .qkv_bias = true, .fixed_bias = true, .ffn_divisor = 2, .window_ignored = true},
    {.model_type = "qwen2", .qkv_bias = true, .fixed_bias = true, .window_needs_flag = true},
    {.model_type = "qwen2_moe", .qkv_bias = true, .fixed_bias = true, .shared_gate = true,
     .window_needs_flag = true},
    {.model_type = "qwen3", .qk_norm = 1, .window_needs_flag = true},
    {.model_type = "qwen3_moe", .qk_norm = 1, .window_needs_flag = true},
    {.model_type = "qwen3_next", .qk_norm = 1, .attention_gate = true, .shared_gate = true,
     .full_interval = 4, .window_ignored = true},
    {.model_type = "qwen3_5_text", .name = "qwen3_5", .qk_norm = 1, .attention_gate = true,
     .shared_gate = true, .full_interval = 4, .window_ignored = true},
    {.model_type = "qwen3_5_moe_text", .name = "qwen3_5", .qk_norm = 1, .attention_gate = true,
     .shared_gate = true, .full_interval = 4, .window_ignored = true},
    {.model_type = "qwen2_vl_text", .name = "qwen2", .qkv_bias = true, .fixed_bias = true,
     .window_needs_flag = true},
    {.model_type = "qwen2_5_vl_text", .name = "qwen2", .qkv_bias = true, .fixed_bias = true,
     .window_needs_flag = true},
    {.model_type = "qwen3_vl_text", .name = "qwen3", .qk_norm = 1, .window_ignored = true},
    {.model_type = "qwen3_vl_moe_text", .name = "qwen3_moe", .qk_norm = 1, .window_ignored = true},
    {.model_type = "chatglm", .qkv_bias = true, .bias_scope = kBiasOut | kBiasMlp, .window_ignored = true},
    {.model_type = "glm", .attention_bias_scope = kBiasQkv, .window_ignored = true},
    {.model_type = "glm4", .norms = 4, .attention_bias_scope = kBiasQkv, .window_ignored = true},
    {.model_type = "glm4_moe", .qk_norm = 1, .qk_norm_key = "use_qk_norm", .attention_bias_scope = kBiasQkv,
     .router_bias = true, .window_ignored = true},
    {.model_type = "phi3", .window_all = true},
    {.model_type = "gemma", .tied = true, .window_ignored = true, .default_head_dim = 256},
    {.model_type = "gemma2", .tied = true, .norms = 4, .window_pattern = 2, .default_window = 4096,
     .default_head_dim = 256},
    {.model_type = "gemma3_text", .tied = true, .norms = 4, .qk_norm = 1, .window_pattern = 6,
     .default_window = 4096, .default_vocab = 262208, .default_heads = 8, .default_kv_heads = 4,
     .default_head_dim = 256, .default_positions = 131072},
    {.model_type = "gpt_oss", .qkv_bias = true, .out_bias = true, .mlp_bias = true, .attention_sinks = true,
     .router_bias = true, .window_pattern = 2, .default_window = 128},
    {.model_type = "olmo2", .qk_norm = 2, .window_ignored = true},
    {.model_type = "olmo3", .qk_norm = 2, .window_pattern = 4, .default_window = 4096},
    {.model_type = "olmoe", .qk_norm = 2, .window_ignored = true},
    {.model_type = "grok-1", .tied = true, .norms = 4, .window_ignored = true},
    {.model_type = "hunyuan_v1_dense", .qk_norm = 1, .qk_norm_key = "use_qk_norm", .window_ignored = true},
    {.model_type = "ernie4_5", .tied = true, .bias_scope = kAllLinear, .window_ignored = true},
    {.model_type = "exaone", .window_ignored = true},
    {.model_type = "exaone4", .qk_norm = 1, .window_pattern = 4},
    // Latent attention and DeepSeek-style experts.
    {.model_type = "deepseek", .window_ignored = true},
    {.model_type = "deepseek_v2", .window_ignored = true},
    {.model_type = "deepseek_v3", .window_ignored = true},
    {.model_type = "deepseek_v32", .window_ignored = true},
    {.model_type = "kimi_k2", .name = "deepseek_v3", .window_ignored = true},
    {.model_type = "glm_moe_dsa", .window_ignored = true},
    {.model_type = "dots1", .qk_norm = 1, .router_bias = true, .window_needs_flag = true},
    // Linear attention.
    {.model_type = "minimax_text_01", .name = "minimax", .linear_mixer = Mixer::lightning, .window_ignored = true},
    {.model_type = "minimax", .linear_mixer = Mixer::lightning, .window_ignored = true},
    {.model_type = "minimax_m2", .qk_norm = 2, .qk_norm_key = "use_qk_norm", .router_bias_key = "use_routing_bias",
     .window_ignored = true},
    // LayerNorm decoders.
    {.model_type = "gpt2", .tied = true, .gated = false, .norm = Norm::layer, .norm_bias = true, .qkv_bias = true,
     .out_bias = true, .mlp_bias = true, .fixed_bias = true, .positions = Positions::learned, .ffn_factor = 4},
    {.model_type = "megatron-gpt", .tied = true, .gated = false, .norm = Norm::layer, .norm_bias = true,
     .qkv_bias = true, .out_bias = true, .mlp_bias = true, .fixed_bias = true, .positions = Positions::learned,
     .ffn_factor = 4},
    {.model_type = "gpt_bigcode", .tied = true, .gated = false, .norm = Norm::layer, .norm_bias = true,
     .qkv_bias = true, .out_bias = true, .mlp_bias = true, .fixed_bias = true, .positions = Positions::learned,
     .ffn_factor = 4},
    {.model_type = "gpt_neox", .gated = false, .norm = Norm::layer, .norm_bias = true, .qkv_bias = true,
     .out_bias = true, .mlp_bias = true, .parallel_block = true},
    {.model_type = "gptj", .gated = false, .norm = Norm::layer, .norm_bias = true, .norms = 1, .mlp_bias = true,
     .head_bias = true, .fixed_bias = true, .ffn_factor = 4, .parallel_block = true},
    {.model_type = "opt", .layout = Layout::opt, .tied = true, .gated = false, .norm = Norm::layer,
     .norm_bias = true, .qkv_bias = true, .out_bias = true, .mlp_bias = true, .positions = Positions::learned,
     .position_offset = 2},
    {.model_type = "bloom", .tied = true, .gated = false, .norm = Norm::layer, .norm_bias = true,
     .embedding_norm = true, .qkv_bias = true, .out_bias = true, .mlp_bias = true, .positions = Positions::alibi,
     .ffn_factor = 4},
    {.model_type = "falcon", .layout = Layout::falcon, .tied = true, .gated = false, .norm = Norm::layer,
     .norm_bias = true, .ffn_factor = 4, .parallel_block = true},
    {.model_type = "mpt", .tied = true, .gated = false, .norm = Norm::layer, .norm_bias = true, .qkv_bias = true,
     .out_bias = true, .mlp_bias = true, .positions = Positions::alibi, .ffn_factor = 4},
    {.model_type = "phi", .gated = false, .norm = Norm::layer, .norm_bias = true, .norms = 1, .qkv_bias = true,
     .out_bias = true, .mlp_bias = true, .head_bias = true, .fixed_bias = true, .parallel_block = true},
    {.model_type = "phimoe", .norm = Norm::layer, .norm_bias = true, .window_all = true},
    {.model_type = "starcoder2", .tied = true, .gated = false, .norm = Norm::layer, .norm_bias = true,
     .qkv_bias = true, .out_bias = true, .mlp_bias = true, .window_all = true},
    {.model_type = "gpt_neo", .tied = true, .gated = false, .norm = Norm::layer, .norm_bias = true,
     .out_bias = true, .mlp_bias = true, .fixed_bias = true, .positions = Positions::learned, .ffn_factor = 4,
     .window_ignored = true},
    {.model_type = "stablelm", .norm = Norm::layer, .norm_bias = true, .window_ignored = true,
     .refused_key = "use_parallel_residual"},
    {.model_type = "cohere", .tied = true, .norm = Norm::layer, .norms = 1, .qk_norm = 2,
     .qk_norm_key = "use_qk_norm", .parallel_block = true, .window_ignored = true},
    {.model_type = "cohere2", .tied = true, .norm = Norm::layer, .norms = 1, .parallel_block = true,
     .window_pattern = 4, .default_window = 4096},
    {.model_type = "olmo", .norm = Norm::layer, .norms = 0, .final_norm = false, .window_ignored = true},
    {.model_type = "dbrx", .norm = Norm::layer, .window_ignored = true},
    {.model_type = "nemotron", .gated = false, .norm = Norm::layer, .norm_bias = true, .window_ignored = true},
    // State-space layers.
    {.model_type = "mamba", .layout = Layout::mamba, .tied = true, .norms = 1, .fixed_bias = true,
     .positions = Positions::none},
    {.model_type = "falcon_mamba", .layout = Layout::mamba, .norms = 1, .fixed_bias = true,
     .positions = Positions::none},
    {.model_type = "mamba2", .layout = Layout::mamba, .norms = 1, .fixed_bias = true,
     .positions = Positions::none},
    {.model_type = "jamba", .layout = Layout::jamba, .positions = Positions::none, .window_ignored = true},
    {.model_type = "nemotron_h", .layout = Layout::pattern, .gated = false, .norms = 1,
     .positions = Positions::none, .window_ignored = true},
    // Encoders, encoder-decoders, vision, diffusion.
    {.model_type = "bert", .topology = Topology::encoder, .layout = Layout::bert, .gated = false,
     .norm = Norm::layer, .norm_bias = true, .final_norm = false, .embedding_norm = true, .qkv_bias = true,
     .out_bias = true, .mlp_bias = true, .fixed_bias = true, .positions = Positions::learned},
    {.model_type = "roberta", .topology = Topology::encoder, .layout = Layout::bert, .gated = false,
     .norm = Norm::layer, .norm_bias = true, .final_norm = false, .embedding_norm = true, .qkv_bias = true,
     .out_bias = true, .mlp_bias = true, .fixed_bias = true, .positions = Positions::learned},
    {.model_type = "xlm-roberta", .name = "roberta", .topology = Topology::encoder, .layout = Layout::bert,
     .gated = false, .norm = Norm::layer, .norm_bias = true, .final_norm = false, .embedding_norm = true,
     .qkv_bias = true, .out_bias = true, .mlp_bias = true, .fixed_bias = true,
     .positions = Positions::learned},
    {.model_type = "t5", .topology = Topology::encoder_decoder, .layout = Layout::t5, .tied = true,
     .norms = 3, .fixed_bias = true, .positions = Positions::relative},
    {.model_type = "mt5", .name = "t5", .topology = Topology::encoder_decoder, .layout = Layout::t5,
     .norms = 3, .fixed_bias = true, .positions = Positions::relative},
    {.model_type = "whisper", .topology = Topology::encoder_decoder, .layout = Layout::whisper, .tied = true,
     .gated = false, .norm = Norm::layer, .norm_bias = true, .norms = 3, .qkv_bias = true, .out_bias = true,
     .mlp_bias = true, .fixed_bias = true, .positions = Positions::learned},
    {.model_type = "vit", .topology = Topology::vision, .layout = Layout::vit, .tied = true, .gated = false,
     .norm = Norm::layer, .norm_bias = true, .qkv_bias = true, .out_bias = true, .mlp_bias = true,
     .fixed_bias = true, .positions = Positions::learned},
    {.model_type = "flux", .topology = Topology::diffusion, .layout = Layout::flux, .tied = true},
    {.model_type = "sdxl-unet", .topology = Topology::diffusion, .layout = Layout::reported, .tied = true},
};
// clang-format on

struct Alias {
  std::string_view from, to;
};
/// Older or renamed model types, and wrappers whose text part is flat.
// clang-format off
constexpr Alias kAliases[] = {
    {"Yi", "yi"}, {"RefinedWeb", "falcon"}, {"RefinedWebModel", "falcon"}, {"qwen2_vl", "qwen2_vl_text"},
    {"qwen2_5_vl", "qwen2_5_vl_text"}, {"qwen3_vl", "qwen3_vl_text"}, {"qwen3_vl_moe", "qwen3_vl_moe_text"},
    {"qwen3_5", "qwen3_5_text"}, {"qwen3_5_moe", "qwen3_5_moe_text"}, {"gemma3", "gemma3_text"},
    {"llama4", "llama4_text"}, {"FluxTransformer2DModel", "flux"}, {"UNet2DConditionModel", "sdxl-unet"},
    {"ministral3", "mistral"}, {"phi-msft", "phi"}, {"grok", "grok-1"},
};
// clang-format on

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family* find_family(std::string_view model_type) {
  for (const Alias& alias : kAliases)
    if (alias.from == model_type) model_type = alias.to;
  const auto* found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& f) { return f.model_type == model_type; });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace gpuadvisor::model
