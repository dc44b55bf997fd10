// A plausible shape for a size: a published shape near it, scaled.
#include <algorithm>
#include <cmath>

#include "gpuadvisor/model.hpp"

namespace gpuadvisor::model {
namespace {

/// Published dense shapes, by size. Between two the nearer one (by ratio) is taken.
constexpr std::string_view kDenseShapes[] = {
    "smollm2-135m",       "smollm2-360m", "llama-3.2-1b",           "llama-3.2-3b", "llama-2-7b",
    "llama-3-8b",         "llama-2-13b",  "mistral-small-24b-2501", "yi-34b",       "llama-3-70b",
    "mistral-large-2407", "gpt3-175b",    "llama-3.1-405b",         "mt-nlg-530b",  "gpt-1t",
};
constexpr std::string_view kMoeShapes[] = {
    "olmoe-1b-7b",           "qwen1.5-moe-a2.7b", "deepseek-moe-16b", "qwen3-30b-a3b",
    "mixtral-8x7b",          "qwen2-57b-a14b",    "glm-4.5-air",      "gpt-oss-120b",
    "mixtral-8x22b",         "qwen3-235b-a22b",   "deepseek-v2",      "glm-4.5",
    "qwen3-coder-480b-a35b", "deepseek-v3",       "kimi-k2",
};
constexpr double kTolerance = 0.01;
constexpr double kSmallest = 1e6;
constexpr std::int32_t kLongestContext = 131072;

double size_of(const Architecture& a) { return count_parameters(a).total; }

void resize(Architecture& a, std::int32_t layers) {
  a.kind_count = 0;
  a.kinds = {};
  a.kind_of_layer = {};
  a.layers = layers;
  fill_uniform_layers(a);
}

/// The largest number of key-value heads up to `wanted` that divides `heads`.
std::int32_t dividing(std::int32_t heads, std::int32_t wanted) {
  while (wanted > 1 && heads % wanted != 0) --wanted;
  return std::max(1, wanted);
}

/// Width near `width` of whole heads; a multiple of 8 heads where there are many, so
/// that tensor parallelism can divide them.
void set_width(Architecture& a, const Architecture& base, double width) {
  const std::int32_t dim = width < 2.0 * base.head_dim ? 32 : base.head_dim;
  const double heads = width / dim;
  const double unit = heads >= 20 ? 8.0 : heads >= 6 ? 4.0 : 1.0;
  a.head_dim = dim;
  a.heads = static_cast<std::int32_t>(std::max(1.0, std::round(heads / unit)) * unit);
  a.kv_heads =
      base.kv_heads == base.heads ? a.heads : dividing(a.heads, std::min(base.kv_heads, a.heads));
  a.hidden = a.heads * dim;
  const double ratio = 1.0 * base.ffn / base.hidden;
  a.ffn = static_cast<std::int32_t>(std::max(1.0, std::round(ratio * a.hidden / 64.0)) * 64.0);
}

/// Depths that pipelines divide well: even, multiples of 4 from 16, of 8 from 48.
double even_depth(double layers) {
  const double unit = layers >= 48 ? 8.0 : layers >= 16 ? 4.0 : layers >= 4 ? 2.0 : 1.0;
  return std::clamp(std::round(layers / unit) * unit, 1.0, double{kMaxLayers});
}

double per_layer(const Architecture& a) {
  const ParameterCounts counts = count_parameters(a);
  return counts.layer[0].total();
}

/// An even number of layers that brings the total near `total`, then the MLP width
/// that closes the rest.
void fit(Architecture& a, double total) {
  resize(a, 1);
  const double outside = size_of(a) - per_layer(a);
  const double layers = even_depth((total - outside) / per_layer(a));
  resize(a, static_cast<std::int32_t>(layers));
  const double slope = (a.gated ? 3.0 : 2.0) * a.hidden * a.layers;
  const double wanted = a.ffn + (total - size_of(a)) / slope;
  const double step = wanted > 4096 ? 128.0 : wanted > 512 ? 16.0 : 1.0;
  a.ffn = static_cast<std::int32_t>(std::max(1.0, std::round(wanted / step) * step));
  resize(a, a.layers);
}

bool near(const Architecture& a, double total) {
  return std::abs(size_of(a) - total) <= kTolerance * total;
}

const Preset* nearest(std::span<const std::string_view> ids, double total, double active) {
  const Preset* best = nullptr;
  double distance = 0;
  for (const std::string_view id : ids) {
    const Preset* preset = find_preset(id);
    if (preset == nullptr) continue;
    double d = std::abs(std::log(preset->parameters_total / total));
    if (active > 0)
      d +=
          2.0 *
          std::abs(std::log(preset->parameters_active / preset->parameters_total * total / active));
    if (best == nullptr || d < distance) {
      best = preset;
      distance = d;
    }
  }
  return best;
}

Architecture scaled_dense(const Architecture& base, double total) {
  Architecture a = base;
  // Depth and width grow together (h^3 in all); the depth stops at kMaxLayers.
  double width = base.hidden * std::cbrt(total / size_of(base));
  for (int attempt = 0; attempt < 64; ++attempt) {
    a.vocab = total < 5e7
                  ? static_cast<std::int32_t>(std::clamp(total / (4.0 * width), 256.0, 32000.0))
                  : base.vocab;
    a.tied = total < 5e7 || base.tied;
    set_width(a, base, width);
    fit(a, total);
    if (near(a, total)) return a;
    width *= size_of(a) > total ? 0.9 : 1.12;
  }
  return a;
}

std::string note_of(const Preset& preset, const Architecture& a, bool same) {
  std::string text = same ? "shape of " + std::string(preset.id)
                          : "shape of " + std::string(preset.id) + ", scaled";
  text += ": " + std::to_string(a.layers) + " layers, hidden " + std::to_string(a.hidden) + ", " +
          std::to_string(a.heads) + " heads";
  if (a.kv_heads != a.heads) text += " (" + std::to_string(a.kv_heads) + " key-value)";
  if (a.experts > 0)
    text += ", " + std::to_string(a.experts) + " experts of " + std::to_string(a.expert_ffn) +
            ", " + std::to_string(a.experts_per_token) + " a token";
  else
    text += ", MLP " + std::to_string(a.ffn);
  return text + ", vocabulary " + std::to_string(a.vocab);
}

void make_anonymous(Architecture& a) {
  a.name = {};
  a.parameters_reported = 0;
  // No position table limits the length of a model that is only a size.
  if (a.positions == Positions::learned) a.positions = Positions::rope;
  a.learned_positions = 0;
  a.max_positions = kLongestContext;
}

Result<SyntheticModel> synthesize_dense(double total) {
  const Preset* preset = nearest(kDenseShapes, total, 0);
  if (preset == nullptr) return fail(ErrorCode::internal, "no preset shapes");
  SyntheticModel out{preset->architecture, {}};
  const bool same = near(out.architecture, total);
  // "70B" and "7B" are names of a size: a shape that people call so is kept as it is.
  const bool called = std::abs(preset->parameters_total / total - 1.0) <= 0.04;
  if (!same && !called) {
    out.architecture = scaled_dense(preset->architecture, total);
    if (!near(out.architecture, total))
      return fail(ErrorCode::usage, "no shape of this size", "--params");
  } else if (!same) {
    fit(out.architecture, total);
  }
  make_anonymous(out.architecture);
  out.note = note_of(*preset, out.architecture, same);
  return out;
}

/// Experts and experts a token whose ratio is near `ratio` and whose count expert
/// parallelism can divide: the preset's own number a token if that comes within 3%,
/// else the nearest of 1 to 16.
void choose_experts(Architecture& a, double ratio) {
  constexpr double kExact = 0.03;
  const auto count = [ratio](int per_token) {
    const double wanted = ratio * per_token;
    const double unit = wanted >= 48 ? 16 : wanted >= 12 ? 8 : 1;
    return std::max<double>(per_token, std::round(wanted / unit) * unit);
  };
  const auto miss = [&](int per_token) {
    return std::abs(ratio * per_token / count(per_token) - 1);
  };
  int best = a.experts_per_token;
  if (miss(best) > kExact)
    for (int per_token = std::max(1, a.experts_per_token / 2); per_token <= 16; ++per_token)
      if (miss(per_token) < miss(best)) best = per_token;
  a.experts_per_token = best;
  a.experts = static_cast<std::int32_t>(count(best));
}

/// Sets the expert width that brings the total to `total`, a multiple of eight where the
/// tolerance allows.
void close_total(Architecture& a, double total) {
  const double column = 3.0 * a.hidden * a.layers * a.experts;
  const double exact = a.expert_ffn + (total - size_of(a)) / column;
  for (const double unit : {8.0, 1.0}) {
    a.expert_ffn = static_cast<std::int32_t>(std::max(1.0, std::round(exact / unit) * unit));
    resize(a, a.layers);
    if (near(a, total)) return;
  }
}

/// Width of the experts that closes the total, once their number is chosen. False when
/// the attention alone is larger than the active part.
bool fit_experts(Architecture& a, double total, double active) {
  a.expert_ffn = 1;
  resize(a, a.layers);
  const double column = 3.0 * a.hidden * a.layers;  // one column of one expert in every layer
  const double rest = size_of(a) - column * a.experts;
  if (active <= rest || total <= active) return false;
  choose_experts(a, (total - rest) / (active - rest));
  resize(a, a.layers);
  close_total(a, total);
  return near(a, total);
}

/// Attention of a published shape near the two sizes, experts for the rest.
Result<SyntheticModel> synthesize_moe(double total, double active) {
  const Preset* preset = nearest(kMoeShapes, total, active);
  if (preset == nullptr) return fail(ErrorCode::internal, "no preset shapes");
  SyntheticModel out{preset->architecture, {}};
  Architecture& a = out.architecture;
  if (near(a, total) && std::abs(preset->parameters_active / active - 1.0) <= 0.05) {
    make_anonymous(a);
    out.note = note_of(*preset, a, true);
    return out;
  }
  // "30B with 3B active" is a name of a size: a shape that people call so is kept.
  const bool called = std::abs(preset->parameters_total / total - 1.0) <= 0.04 &&
                      std::abs(preset->parameters_active / active - 1.0) <= 0.12;
  if (called && a.kind_count == 1) {
    close_total(a, total);
    make_anonymous(a);
    out.note = note_of(*preset, a, false);
    return out;
  }
  // Latent attention and leading dense layers belong to one published size: a scaled
  // shape has plain grouped attention.
  const Preset* plain = preset;
  if (a.is_mla() || a.kind_count != 1) plain = find_preset("qwen3-235b-a22b");
  if (plain == nullptr) return fail(ErrorCode::internal, "no preset shapes");
  Architecture base = plain->architecture;
  base.shared_ffn = 0;
  base.shared_gate = false;
  base.mtp_layers = 0;
  base.ffn = 0;
  double width = base.hidden * std::cbrt(active / plain->parameters_active);
  bool found = false;
  for (int attempt = 0; attempt < 64 && !found; ++attempt, width *= 0.93) {
    a = base;
    set_width(a, base, width);
    a.ffn = 0;
    a.layers = static_cast<std::int32_t>(even_depth(base.layers * width / base.hidden));
    found = fit_experts(a, total, active);
  }
  if (!found)
    return fail(ErrorCode::usage, "no expert shape has these total and active sizes", "--active",
                "give a --model preset or a --model-file");
  make_anonymous(a);
  out.note = note_of(*plain, a, false);
  return out;
}

}  // namespace

Result<SyntheticModel> synthesize(double total, std::optional<double> active) {
  if (!(total >= kSmallest && total <= 1e16))
    return fail(ErrorCode::usage, "expected between 1M and 1e16 parameters", "--params");
  if (!active) return synthesize_dense(total);
  if (!(*active > 0 && *active <= total))
    return fail(ErrorCode::usage, "expected more than 0 and at most the total", "--active");
  if (*active > 0.95 * total) return synthesize_dense(total);
  return synthesize_moe(total, *active);
}

}  // namespace gpuadvisor::model
