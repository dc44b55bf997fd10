#include "accuracy/row_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpuadvisor::accuracy {
namespace {

using model::Architecture;

constexpr std::int32_t kUsualVocabulary = 50257;  // GPT-2
constexpr std::int64_t kLargestWidth = 1 << 24;
constexpr std::int32_t kUsualHeadDim = 128;
constexpr std::int32_t kGatedRounding = 256;

using Width = std::pair<const char*, std::int32_t Architecture::*>;
constexpr std::array kWidths = {
    Width{"layers", &Architecture::layers},
    Width{"hidden", &Architecture::hidden},
    Width{"heads", &Architecture::heads},
    Width{"kv_heads", &Architecture::kv_heads},
    Width{"head_dim", &Architecture::head_dim},
    Width{"ffn", &Architecture::ffn},
    Width{"vocab", &Architecture::vocab},
    Width{"experts", &Architecture::experts},
    Width{"experts_per_token", &Architecture::experts_per_token},
    Width{"moe_ffn", &Architecture::expert_ffn},
    Width{"shared_expert_ffn", &Architecture::shared_ffn},
    Width{"mtp_layers", &Architecture::mtp_layers},
    Width{"q_lora_rank", &Architecture::q_lora_rank},
    Width{"kv_lora_rank", &Architecture::kv_lora_rank},
    Width{"qk_nope_head_dim", &Architecture::qk_nope_dim},
    Width{"qk_rope_head_dim", &Architecture::qk_rope_dim},
    Width{"v_head_dim", &Architecture::v_head_dim},
};

Result<bool> read_widths(const Json& model, Architecture& a) {
  bool changed = false;
  for (const auto& [key, member] : kWidths) {
    const auto value = integer(model, key);
    if (!value) continue;
    if (*value < 0 || *value > kLargestWidth)
      return fail(ErrorCode::input, fmt::format("{} of {} is out of range", key, *value));
    const auto width = static_cast<std::int32_t>(*value);
    changed = changed || a.*member != width;
    a.*member = width;
  }
  if (a.layers > model::kMaxLayers)
    return fail(ErrorCode::input, fmt::format("more than {} layers", model::kMaxLayers));
  return changed;
}

/// norm, positions, biases, tied, gated and causal, with the value usual beside a gated
/// (Llama-like) or plain (GPT-like) MLP where the row does not say.
bool read_style(const Json& model, std::int64_t seq_len, Architecture& a) {
  const Architecture before = a;
  if (const auto value = flag(model, "gated")) a.gated = *value;
  if (const auto value = flag(model, "tied")) a.tied = *value;
  if (const auto value = flag(model, "bias")) a.qkv_bias = a.out_bias = a.mlp_bias = *value;
  if (const std::string norm = text(model, "norm"); !norm.empty()) {
    a.norm = norm == "layer" ? model::Norm::layer : model::Norm::rms;
    a.norm_bias = a.norm == model::Norm::layer && (a.norm_bias || a.mlp_bias);
  }
  const std::string positions = text(model, "positions");
  if (positions == "learned") {
    a.positions = model::Positions::learned;
    if (a.learned_positions == 0)
      a.learned_positions =
          static_cast<std::int32_t>(std::min<std::int64_t>(seq_len, kLargestWidth));
  } else if (!positions.empty()) {
    a.learned_positions = 0;
    a.positions = positions == "alibi"  ? model::Positions::alibi
                  : positions == "rope" ? model::Positions::rope
                                        : model::Positions::none;
  }
  if (flag(model, "causal") == false) {
    a.causal = false;
    a.topology = model::Topology::encoder;
  }
  return before.gated != a.gated || before.tied != a.tied || before.norm != a.norm ||
         before.mlp_bias != a.mlp_bias || before.learned_positions != a.learned_positions;
}

void fill_usual_widths(Architecture& a) {
  if (a.heads == 0) a.heads = std::max(1, a.hidden / (a.head_dim > 0 ? a.head_dim : kUsualHeadDim));
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  if (a.head_dim == 0) a.head_dim = std::max(1, a.hidden / a.heads);
  if (a.vocab == 0) a.vocab = kUsualVocabulary;
  if (a.ffn == 0 && a.expert_ffn > 0) a.ffn = a.expert_ffn;
  if (a.ffn == 0) {
    const std::int32_t gated =
        (8 * a.hidden / 3 + kGatedRounding - 1) / kGatedRounding * kGatedRounding;
    a.ffn = a.gated ? gated : 4 * a.hidden;
  }
  if (a.experts > 0) {
    if (a.experts_per_token == 0) a.experts_per_token = 2;
    if (a.expert_ffn == 0) a.expert_ffn = a.ffn;
  }
  if (a.kv_lora_rank > 0) {
    if (a.qk_nope_dim == 0) a.qk_nope_dim = a.head_dim;
    if (a.qk_rope_dim == 0) a.qk_rope_dim = a.head_dim / 2;
    if (a.v_head_dim == 0) a.v_head_dim = a.head_dim;
    // Everywhere else head_dim is the whole width of q and k.
    a.head_dim = a.qk_nope_dim + a.qk_rope_dim;
  }
}

/// Which layers have experts: the 0/1 list, else all but the first `dense_layers`.
bool is_moe_layer(const Json& model, const Architecture& a, std::int32_t layer) {
  if (a.experts == 0) return false;
  const Json* list = find(model, "moe_layers");
  if (list != nullptr && list->is_array() && static_cast<std::size_t>(layer) < list->size()) {
    const Json& entry = (*list)[static_cast<std::size_t>(layer)];
    return entry.is_number() ? entry.get<double>() != 0 : entry.is_boolean() && entry.get<bool>();
  }
  return layer >= integer(model, "dense_layers").value_or(0);
}

/// Layer kinds from the row: a dense one and one with experts, as far as they occur.
void build_layers(const Json& model, Architecture& a) {
  a.kinds = {};
  a.kind_count = 0;
  const model::Mixer mixer = a.is_mla() ? model::Mixer::mla : model::Mixer::full;
  std::array<int, 2> kind_of{-1, -1};
  for (std::int32_t layer = 0; layer < a.layers; ++layer) {
    const bool moe = is_moe_layer(model, a, layer);
    int& kind = kind_of[moe ? 1 : 0];
    if (kind < 0) {
      kind = a.kind_count++;
      a.kinds[static_cast<std::size_t>(kind)] = {0, mixer, 0, moe, moe ? 0 : a.ffn};
    }
    ++a.kinds[static_cast<std::size_t>(kind)].count;
    a.kind_of_layer[static_cast<std::size_t>(layer)] = static_cast<std::uint8_t>(kind);
  }
}

/// A preset cut or grown to `a.layers`: the first layers stay, further ones are like the
/// last; a changed width of the MLP goes to all dense kinds.
void resize_layers(const Architecture& preset, Architecture& a) {
  for (auto& kind : a.kinds) {
    kind.count = 0;
    if (!kind.moe && kind.ffn == preset.ffn) kind.ffn = a.ffn;
  }
  for (std::int32_t layer = 0; layer < a.layers; ++layer) {
    const auto from = static_cast<std::size_t>(std::min(layer, preset.layers - 1));
    const std::uint8_t kind = preset.kind_of_layer[from];
    a.kind_of_layer[static_cast<std::size_t>(layer)] = kind;
    ++a.kinds[kind].count;
  }
}

Result<Architecture> overridden_preset(const Json& model, const std::string& id,
                                       std::int64_t seq_len) {
  const model::Preset* preset = model::find_preset(id);
  if (preset == nullptr) {
    auto resolved = model::resolve_preset(id, "model.preset");
    if (!resolved) return fail(ErrorCode::input, fmt::format("unknown preset '{}'", id));
    preset = *resolved;
  }
  Architecture a = preset->architecture;
  model::fill_uniform_layers(a);
  const Architecture original = a;
  auto widths = read_widths(model, a);
  if (!widths) return tl::unexpected(widths.error());
  // A row that changes the heads but not their size keeps the width of the model.
  if (!find(model, "head_dim") && a.heads != original.heads && !a.is_mla())
    a.head_dim = std::max(1, a.hidden / a.heads);
  const bool style = read_style(model, seq_len, a);
  if (!*widths && !style) return a;
  a.parameters_reported = 0;
  const bool layered =
      find(model, "moe_layers") != nullptr || find(model, "dense_layers") != nullptr;
  if (layered || original.kind_count == 0)
    build_layers(model, a);
  else
    resize_layers(original, a);
  return a;
}

}  // namespace

Result<Architecture> read_model(const Json& model, std::int64_t seq_len) {
  if (const std::string id = text(model, "preset"); !id.empty())
    return overridden_preset(model, id, seq_len);
  Architecture a;
  a.gated = flag(model, "gated").value_or(true);
  a.norm = a.gated ? model::Norm::rms : model::Norm::layer;
  auto widths = read_widths(model, a);
  if (!widths) return tl::unexpected(widths.error());
  if (a.layers == 0 || a.hidden == 0)
    return fail(ErrorCode::input, "the model has no preset, and layers or hidden is missing");
  read_style(model, seq_len, a);
  a.norm_bias = a.norm == model::Norm::layer && flag(model, "bias").value_or(false);
  fill_usual_widths(a);
  build_layers(model, a);
  if (const auto parameters = number(model, "params"); parameters && *parameters > 0)
    a.parameters_reported = *parameters;
  return a;
}

}  // namespace gpuadvisor::accuracy
