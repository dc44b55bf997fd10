// Encoders, encoder-decoders, vision transformers, diffusion transformers, and
// decoders with something around the stack.
#include "model/layouts.hpp"

#include <algorithm>

namespace gpuadvisor::model {
namespace {

void apply_falcon(Fields& f, Architecture& a) {
  const bool grouped = f.boolean({"new_decoder_architecture"}, f.has("n_head_kv"));
  if (!grouped) a.kv_heads = f.boolean({"multi_query"}, true) ? 1 : a.heads;
  const bool parallel = f.boolean({"parallel_attn"}, true);
  a.parallel_block = parallel || grouped;
  a.norms_per_layer = grouped || !parallel ? 2 : 1;
  if (f.has("num_ln_in_parallel_attn")) a.norms_per_layer = f.integer({"num_ln_in_parallel_attn"});
  if (f.boolean({"alibi"}, false)) a.positions = Positions::alibi;
}

void apply_opt(Fields& f, Architecture& a) {
  const auto width = f.integer({"word_embed_proj_dim"}, a.hidden);
  if (width != a.hidden) {
    a.embedding_dim = width;
    a.extra_parameters += 2.0 * a.hidden * width;  // project_in and project_out
  }
  a.final_norm =
      f.boolean({"do_layer_norm_before"}, true) && !f.boolean({"_remove_final_layer_norm"}, false);
}

void apply_bert(Fields& f, Architecture& a) {
  a.extra_parameters += 1.0 * f.integer({"type_vocab_size"}, 2) * a.hidden;
  a.pooler_parameters = 1.0 * a.hidden * a.hidden + a.hidden;
}

void apply_t5(Fields& f, Architecture& a) {
  const std::string activation = f.text({"feed_forward_proj"});
  a.gated = f.boolean({"is_gated_act"}, activation.rfind("gated", 0) == 0);
  a.encoder_layers = f.integer({"num_layers"});
  a.encoder_ffn = a.ffn;
  a.cross_attention = true;
  // One table of relative positions in each stack; the other layers share it.
  a.extra_parameters += 2.0 * f.integer({"relative_attention_num_buckets"}, 32) * a.heads;
}

void apply_whisper(Fields& f, Architecture& a) {
  const double h = a.hidden;
  a.key_bias = false;
  a.encoder_layers = f.integer({"encoder_layers"});
  a.encoder_ffn = f.integer({"encoder_ffn_dim"});
  a.cross_attention = true;
  a.learned_positions = a.max_positions = f.integer({"max_target_positions"}, 448);
  // Two convolutions of width 3 over the mel bins, then a position table.
  a.extra_parameters += 3.0 * f.integer({"num_mel_bins"}, 80) * h + h + 3.0 * h * h + h;
  a.extra_parameters += 1.0 * f.integer({"max_source_positions"}, 1500) * h;
}

void apply_vit(Fields& f, Architecture& a) {
  const double h = a.hidden;
  const auto patch = f.integer({"patch_size"}, 16);
  const auto channels = f.integer({"num_channels"}, 3);
  const auto side = patch > 0 ? f.integer({"image_size"}, 224) / patch : 0;
  a.vocab = 0;
  a.learned_positions = a.max_positions = product(side, side) + 1;
  a.qkv_bias = f.boolean({"qkv_bias"}, true);
  a.extra_parameters += 1.0 * patch * patch * channels * h + h + h;  // patches and class token
  const auto kinds = f.texts("architectures");
  const bool classifier = std::any_of(kinds.begin(), kinds.end(), [](const std::string& name) {
    return name.find("ImageClassification") != std::string::npos;
  });
  if (classifier) {
    const auto labels = static_cast<double>(f.size_of("id2label", 1000));  // ImageNet where unsaid
    a.extra_parameters += labels * h + labels;
  } else {
    a.extra_parameters += h * h + h;  // pooler
  }
}

/// Sizes of Mamba layers under the names of Mamba, Mamba-2, Jamba and Nemotron-H.
void read_state_space(Fields& f, Architecture& a) {
  const double expand = f.integer({"mamba_expand", "expand"}, 2);
  a.ssm_state = f.integer({"state_size", "mamba_d_state", "ssm_state_size"}, 16);
  a.ssm_conv = f.integer({"conv_kernel", "mamba_d_conv"}, 4);
  a.ssm_heads = f.integer({"mamba_num_heads"}, a.family == "mamba2" ? f.integer({"num_heads"}) : 0);
  a.ssm_groups = a.ssm_heads > 0 ? f.integer({"n_groups"}, 8) : 0;
  const auto dim = f.integer({"mamba_head_dim"}, f.integer({"head_dim"}, 64));
  a.ssm_inner = a.ssm_heads > 0 ? product(a.ssm_heads, dim) : product(expand, a.hidden);
  a.ssm_dt_rank = f.integer_or({"time_step_rank", "mamba_dt_rank"}, (a.hidden + 15) / 16);
  a.ssm_conv_bias = f.boolean({"use_conv_bias", "mamba_conv_bias"}, true);
  a.ssm_bias = f.boolean({"mamba_proj_bias"}, f.boolean({"use_bias"}, false));
}

/// Layers of state-space mixers without MLP; attention fields do not exist.
void apply_mamba(Fields& f, Architecture& a) {
  read_state_space(f, a);
  a.heads = a.kv_heads = 1;
  a.head_dim = a.hidden;
  a.ffn = 0;
}

void apply_jamba(Fields& f, Architecture& a) {
  read_state_space(f, a);
  a.ssm_inner_norms = true;
}

/// FLUX: `num_layers` double blocks (image and text streams) and `num_single_layers`
/// single blocks, embedders for time, guidance and pooled text, and the output.
void apply_flux(Fields& f, Architecture& a) {
  const double d = f.integer({"attention_head_dim"}, 128);
  const double h = d * f.integer({"num_attention_heads"}, 24);
  const double in = f.integer({"in_channels"}, 64);
  const double joint = f.integer({"joint_attention_dim"}, 4096);
  const double pooled = f.integer({"pooled_projection_dim"}, 768);
  const double two = f.integer({"num_layers"}, 19), one = f.integer({"num_single_layers"}, 38);
  const double modulation = 6.0 * h * h + 6.0 * h;
  const double attention = 4.0 * h * h + 4.0 * h + 2.0 * d;
  const double mlp = 8.0 * h * h + 5.0 * h;
  const double double_block = 2.0 * (modulation + attention + mlp);
  const double single_block =
      3.0 * h * h + 3.0 * h + 7.0 * h * h + 7.0 * h + 5.0 * h * h + h + 2.0 * d;
  const double time = 256.0 * h + h + h * h + h;
  const double embedders = in * h + h + joint * h + h + pooled * h + h + h * h + h + time +
                           (f.boolean({"guidance_embeds"}, false) ? time : 0.0);
  const double output = 2.0 * h * h + 2.0 * h + h * in + in;
  a.parameters_reported = two * double_block + one * single_block + embedders + output;
  a.layers = product(two + one, 1);
  a.hidden = product(h, 1);
  a.heads = a.kv_heads = f.integer({"num_attention_heads"}, 24);
  a.head_dim = static_cast<std::int32_t>(d);
}

}  // namespace

Result<void> apply_layout(Fields& f, const Family& family, Architecture& a) {
  if (!family.refused_key.empty() && f.boolean({family.refused_key}, false))
    return fail(ErrorCode::input,
                std::string(family.refused_key) + ": true is a structure that is not counted here",
                f.where(), "give the weights too: their tensors are counted exactly");
  switch (family.layout) {
    case Layout::plain:
      break;
    case Layout::falcon:
      apply_falcon(f, a);
      break;
    case Layout::opt:
      apply_opt(f, a);
      break;
    case Layout::bert:
      apply_bert(f, a);
      break;
    case Layout::t5:
      apply_t5(f, a);
      break;
    case Layout::whisper:
      apply_whisper(f, a);
      break;
    case Layout::vit:
      apply_vit(f, a);
      break;
    case Layout::mamba:
      apply_mamba(f, a);
      break;
    case Layout::jamba:
      apply_jamba(f, a);
      break;
    case Layout::pattern:
      read_state_space(f, a);
      break;
    case Layout::flux:
      apply_flux(f, a);
      break;
    case Layout::reported:
      break;
  }
  if (f.error()) return tl::unexpected(*f.error());
  return {};
}

}  // namespace gpuadvisor::model
