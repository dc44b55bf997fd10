// Vision towers of vision-language models: what stands before the text model.
#include <algorithm>

#include "model/layouts.hpp"

namespace gpuadvisor::model {
namespace {

/// One block of a plain ViT with biases and LayerNorms.
double vit_block(double d, double f) {
  return 4.0 * d * d + 4.0 * d + 2.0 * d * f + f + d + 4.0 * d;
}

struct Tower {
  double depth, d, f, patch, channels, temporal, merge;
};

Tower read_tower(Fields& v) {
  Tower t{};
  t.depth = v.integer({"depth", "num_hidden_layers"});
  t.d = v.integer({"embed_dim", "hidden_size"});
  t.f = v.integer({"intermediate_size"}, product(v.integer({"mlp_ratio"}, 4), t.d));
  t.patch = v.integer({"patch_size"});
  t.channels = v.integer({"in_channels", "in_chans", "num_channels"}, 3);
  t.temporal = v.integer({"temporal_patch_size"}, 2);
  t.merge = v.integer({"spatial_merge_size"}, 2);
  return t;
}

/// Qwen2-VL: patches without bias, blocks, and a merger of merge² patches into h.
double qwen2_vl(Fields& v, double h) {
  const Tower t = read_tower(v);
  const double merged = t.d * t.merge * t.merge;
  const double patches = t.channels * t.temporal * t.patch * t.patch * t.d;
  return patches + t.depth * vit_block(t.d, t.f) + 2.0 * t.d + merged * merged + merged +
         merged * h + h;
}

/// Qwen2.5-VL: RMS norms and a gated MLP with biases.
double qwen2_5_vl(Fields& v, double h) {
  const Tower t = read_tower(v);
  const double merged = t.d * t.merge * t.merge;
  const double patches = t.channels * t.temporal * t.patch * t.patch * t.d;
  const double block = 4.0 * t.d * t.d + 4.0 * t.d + 3.0 * t.d * t.f + 2.0 * t.f + t.d + 2.0 * t.d;
  return patches + t.depth * block + t.d + merged * merged + merged + merged * h + h;
}

/// Qwen3-VL and Qwen3.5: learned positions, and one merger more for each deepstack layer.
double qwen3_vl(Fields& v, double text_hidden) {
  const Tower t = read_tower(v);
  const double h = v.integer({"out_hidden_size"}, static_cast<std::int32_t>(text_hidden));
  const double merged = t.d * t.merge * t.merge;
  const double patches = t.channels * t.temporal * t.patch * t.patch * t.d + t.d;
  const double projection = merged * merged + merged + merged * h + h;
  const double deepstack = static_cast<double>(v.integers("deepstack_visual_indexes").size());
  return patches + v.integer({"num_position_embeddings"}, 2304) * t.d +
         t.depth * vit_block(t.d, t.f) + (2.0 * t.d + projection) +
         deepstack * (2.0 * merged + projection);
}

/// Gemma 3: SigLIP without head, then a norm and one projection without bias.
double siglip_gemma(Fields& v, double h) {
  const Tower t = read_tower(v);
  const double side =
      t.patch > 0
          ? static_cast<double>(v.integer({"image_size"}) / static_cast<std::int32_t>(t.patch))
          : 0.0;
  return 3.0 * t.patch * t.patch * t.d + t.d + side * side * t.d + t.depth * vit_block(t.d, t.f) +
         2.0 * t.d + t.d * h + t.d;
}

/// Llama 4: ViT with class token and outer norms, pixel shuffle, adapter, projector.
double llama4_vision(Fields& v, double h) {
  const Tower t = read_tower(v);
  const double side =
      t.patch > 0
          ? static_cast<double>(v.integer({"image_size"}) / static_cast<std::int32_t>(t.patch))
          : 0.0;
  const double middle = v.integer({"projector_input_dim"}),
               out = v.integer({"projector_output_dim"});
  const double patches =
      t.channels * t.patch * t.patch * t.d + t.d + (side * side + 1.0) * t.d + 4.0 * t.d;
  const double shuffled = t.d * 4.0;  // pixel_shuffle_ratio 0.5 in both directions
  return patches + t.depth * vit_block(t.d, t.f) + shuffled * middle + middle * out +
         v.integer({"vision_output_dim"}, 4096) * h;
}

struct TowerFormula {
  std::string_view model_type;
  double (*count)(Fields&, double hidden);
};
constexpr TowerFormula kTowers[] = {
    {"qwen2_vl", qwen2_vl},     {"qwen2_5_vl", qwen2_5_vl}, {"qwen3_vl", qwen3_vl},
    {"qwen3_vl_moe", qwen3_vl}, {"qwen3_5", qwen3_vl},      {"qwen3_5_moe", qwen3_vl},
    {"gemma3", siglip_gemma},   {"llama4", llama4_vision},
};

}  // namespace

Result<double> vision_parameters(Fields& vision, std::string_view model_type,
                                 const Architecture& text) {
  const auto* found =
      std::find_if(std::begin(kTowers), std::end(kTowers),
                   [&](const TowerFormula& t) { return t.model_type == model_type; });
  if (found == std::end(kTowers)) return 0.0;
  const Tower sizes = read_tower(vision);
  const double count = found->count(vision, text.hidden);
  if (vision.error()) return tl::unexpected(*vision.error());
  const bool complete = sizes.depth > 0 && sizes.d > 0 && sizes.patch > 0;
  return complete ? count : 0.0;
}

Result<void> unsupported_structure(const Fields& f) {
  // Keys of models whose layers differ in ways the counts do not describe.
  for (const std::string_view key :
       {"block_configs", "num_query_heads_per_layer", "num_kv_heads_per_layer", "ffn_multipliers",
        "attention_window_list", "moe_layer_ffn_list"})
    if (f.has(key))
      return fail(
          ErrorCode::input,
          std::string(key) + ": layers of different widths cannot be counted from this file",
          f.where(), "give the weights too: their tensors are counted exactly");
  return {};
}

}  // namespace gpuadvisor::model
