// Which layers attend how, and which have experts.
#include <algorithm>

#include "model/layouts.hpp"

namespace gpuadvisor::model {
namespace {

struct LayerType {
  std::string_view name;
  Mixer mixer;
};
constexpr LayerType kLayerTypes[] = {
    {"full_attention", Mixer::full},       {"attention", Mixer::full},
    {"sliding_attention", Mixer::sliding}, {"chunked_attention", Mixer::chunked},
    {"mamba", Mixer::state_space},
};

std::int32_t window_of(Fields& f, const Family& family, const Architecture& a) {
  if (family.window_ignored) return 0;
  if (family.window_needs_flag && !f.boolean({"use_sliding_window"}, false)) return 0;
  const auto window = f.integer({"attention_chunk_size", "sliding_window", "sliding_window_size"},
                                family.default_window);
  return a.max_positions > 0 && window >= a.max_positions ? 0 : window;
}

/// One mixer a layer from an explicit list of names.
Result<void> from_layer_types(const std::vector<std::string>& types, const Fields& f,
                              const Family& family, std::int32_t window,
                              std::vector<LayerKind>& layers) {
  if (types.size() != layers.size())
    return fail(ErrorCode::input, "layer_types: expected one entry a layer", f.where());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto* found = std::find_if(std::begin(kLayerTypes), std::end(kLayerTypes),
                                     [&](const LayerType& t) { return t.name == types[i]; });
    if (types[i] == "linear_attention") {
      layers[i].mixer = family.linear_mixer;
    } else if (found != std::end(kLayerTypes)) {
      layers[i].mixer = found->mixer;
    } else {
      return fail(ErrorCode::input, "layer_types: unknown kind \"" + types[i] + "\"", f.where());
    }
    const bool windowed = layers[i].mixer == Mixer::sliding || layers[i].mixer == Mixer::chunked;
    if (windowed && window == 0) layers[i].mixer = Mixer::full;
    if (windowed) layers[i].window = window;
  }
  return {};
}

void from_pattern(std::int32_t period, Mixer mixer, std::int32_t window,
                  std::vector<LayerKind>& layers) {
  if (window == 0 || period == 1) return;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (period > 0 && (i + 1) % static_cast<std::size_t>(period) == 0) continue;
    layers[i].mixer = mixer;
    layers[i].window = window;
  }
}

/// "M-M*": mamba, MLP, attention; one block a layer.
Result<void> from_letters(const std::string& letters, const Fields& f, Architecture& a,
                          std::vector<LayerKind>& layers) {
  if (letters.size() != layers.size())
    return fail(ErrorCode::input, "hybrid_override_pattern: expected one letter a layer",
                f.where());
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] != 'M' && letters[i] != '*' && letters[i] != '-')
      return fail(ErrorCode::input,
                  std::string("hybrid_override_pattern: layers of kind '") + letters[i] +
                      "' are not counted here",
                  f.where(), "give the weights too: their tensors are counted exactly");
    layers[i].mixer = letters[i] == 'M'   ? Mixer::state_space
                      : letters[i] == '*' ? Mixer::full
                                          : Mixer::none;
    layers[i].ffn = letters[i] == '-' ? a.ffn : 0;
  }
  return {};
}

/// Every `period`-th layer from `offset` attends; the others are state-space.
void from_period(Fields& f, std::vector<LayerKind>& layers) {
  const auto period = static_cast<std::size_t>(std::max(f.integer({"attn_layer_period"}, 8), 1));
  const auto offset = static_cast<std::size_t>(f.integer({"attn_layer_offset"}, 4));
  for (std::size_t i = 0; i < layers.size(); ++i)
    layers[i].mixer = i % period == offset ? Mixer::full : Mixer::state_space;
}

Result<void> set_mixers(Fields& f, const Family& family, const Architecture& a,
                        std::vector<LayerKind>& layers) {
  if (a.is_mla()) {
    for (LayerKind& layer : layers) layer.mixer = Mixer::mla;
    return {};
  }
  if (family.layout == Layout::mamba) {
    for (LayerKind& layer : layers) layer.mixer = Mixer::state_space;
    return {};
  }
  if (family.layout == Layout::jamba) {
    from_period(f, layers);
    return {};
  }
  const auto types = f.texts("layer_types");
  if (!types.empty()) {
    const auto window = f.integer({"sliding_window", "attention_chunk_size", "sliding_window_size"},
                                  family.default_window);
    return from_layer_types(types, f, family, window, layers);
  }
  const std::int32_t window = window_of(f, family, a);
  const auto kinds = f.integers("attn_type_list");
  if (!kinds.empty()) {
    if (kinds.size() != layers.size())
      return fail(ErrorCode::input, "attn_type_list: expected one entry a layer", f.where());
    for (std::size_t i = 0; i < kinds.size(); ++i)
      layers[i].mixer = kinds[i] == 1 ? Mixer::full : family.linear_mixer;
    return {};
  }
  const auto interval = f.integer({"full_attention_interval"}, family.full_interval);
  if (interval > 0) {
    for (std::size_t i = 0; i < layers.size(); ++i)
      if ((i + 1) % static_cast<std::size_t>(interval) != 0) layers[i].mixer = family.linear_mixer;
    return {};
  }
  if (family.window_pattern > 0) {
    // "LLLG" counts like 4.
    const auto letters = static_cast<std::int32_t>(f.length_if_text("sliding_window_pattern"));
    from_pattern(letters > 0 ? letters
                             : f.integer({"sliding_window_pattern", "_sliding_window_pattern",
                                          "no_rope_layer_interval"},
                                         family.window_pattern),
                 family.window_mixer, window, layers);
  } else if (family.window_all) {
    from_pattern(0, Mixer::sliding, window, layers);
  } else if (family.window_needs_flag && window > 0) {
    const auto first = f.integer({"max_window_layers"}, 0);
    for (std::size_t i = static_cast<std::size_t>(first); i < layers.size(); ++i) {
      layers[i].mixer = Mixer::sliding;
      layers[i].window = window;
    }
  }
  return {};
}

bool contains(const std::vector<std::int32_t>& list, std::size_t index) {
  return std::find(list.begin(), list.end(), static_cast<std::int32_t>(index)) != list.end();
}

Result<void> set_experts(Fields& f, const Family& family, const Architecture& a,
                         std::vector<LayerKind>& layers) {
  const auto dense_width = f.integer({"intermediate_size_mlp"}, a.ffn);
  const auto dense_first = static_cast<std::size_t>(f.integer({"first_k_dense_replace"}));
  const auto step = static_cast<std::size_t>(std::max(
      f.integer({"decoder_sparse_step", "interleave_moe_layer_step"}, family.moe_step), 0));
  const auto dense_layers = f.integers("mlp_only_layers");
  const auto moe_layers = f.integers("moe_layers");
  const auto flags = f.integers_if_array("moe_layer_freq");
  const bool listed = !flags.empty();
  const auto frequency =
      listed ? std::size_t{1}
             : static_cast<std::size_t>(std::max(f.integer({"moe_layer_freq"}, 1), 1));
  if (listed && flags.size() != layers.size())
    return fail(ErrorCode::input, "moe_layer_freq: expected one entry a layer", f.where());
  const auto period = static_cast<std::size_t>(std::max(f.integer({"expert_layer_period"}, 1), 1));
  const auto offset =
      static_cast<std::size_t>(f.integer({"expert_layer_offset"}, period > 1 ? 1 : 0));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    bool moe =
        a.experts > 0 && i % period == offset % period && i >= dense_first && i % frequency == 0;
    if (step > 1) moe = moe && (i + 1) % step == 0;
    if (step == 0) moe = false;
    if (listed) moe = flags[i] != 0;
    if (!moe_layers.empty()) moe = a.experts > 0 && contains(moe_layers, i);
    if (contains(dense_layers, i)) moe = false;
    layers[i].moe = moe;
    layers[i].ffn = moe ? 0 : (a.experts > 0 ? dense_width : a.ffn);
    if (!moe && layers[i].ffn == 0 && family.layout != Layout::mamba)
      return fail(ErrorCode::input, "a dense layer has no width (intermediate_size)", f.where());
  }
  return {};
}

}  // namespace

Result<void> lay_out_layers(Fields& f, const Family& family, Architecture& a) {
  std::vector<LayerKind> layers(static_cast<std::size_t>(a.layers));
  if (family.layout == Layout::pattern) {
    if (auto read = from_letters(f.text({"hybrid_override_pattern"}), f, a, layers); !read)
      return read;
    if (!set_layer_kinds(a, layers))
      return fail(ErrorCode::input, "more than 8 kinds of layers", f.where());
    return {};
  }
  if (auto mixers = set_mixers(f, family, a, layers); !mixers) return mixers;
  if (auto experts = set_experts(f, family, a, layers); !experts) return experts;
  if (!set_layer_kinds(a, layers))
    return fail(ErrorCode::input, "more than 8 kinds of layers", f.where());
  return {};
}

}  // namespace gpuadvisor::model
