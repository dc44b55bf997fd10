// A plausible shape for a size: a published shape near it, scaled.
#include <algorithm>
#include <cmath>

#include "gpuadvisor/model.hpp"

namespace gpuadvisor::model {
namespace {

/// Published dense shapes, by size. Between two the nearer one (by ratio) is taken.
constexpr std::string_view kDenseShapes[] = {
    "smollm2-135m", "smollm2-360m", "llama-3.2-1b", "llama-3.2-3b", "llama-2-7b", "llama-3-8b",
    "llama-2-13b", "mistral-small-24b-2501", "yi-34b", "llama-3-70b", "mistral-large-2407", "gpt3-175b",
    "llama-3.1-405b", "mt-nlg-530b", "gpt-1t",
};
constexpr std::string_view kMoeShapes[] = {
    "olmoe-1b-7b", "qwen1.5-moe-a2.7b", "deepseek-moe-16b", "qwen3-30b-a3b", "mixtral-8x7b", "qwen2-57b-a14b",
    "glm-4.5-air", "mixtral-8x22b", "qwen3-235b-a22b", "qwen3-coder-480b-a35b",
};
constexpr double kTolerance = 0.01;
constexpr double kSmallest = 1e6;

double size_of(const Architecture& a) { return count_parameters(a).total; }

void resize(Architecture& a, std::int32_t layers) {
  a.kind_count = 0;
  a.kinds = {};
  a.kind_of_layer = {};
  a.layers = layers;
  fill_uniform_layers(a);
}

/// Width h as a whole number of heads; heads and key-value heads follow.
void set_width(Architecture& a, const Architecture& base, double width) {
  std::int32_t unit = base.head_dim;
  const std::int32_t group = base.heads / base.kv_heads;
  if (width < 2.0 * unit * group) unit = 32;
  const double heads = std::max(1.0, std::round(width / (1.0 * unit * group))) * group;
  a.head_dim = unit;
  a.heads = static_cast<std::int32_t>(heads);
  a.kv_heads = std::max(1, std::min(base.kv_heads, a.heads / group));
  if (base.kv_heads == base.heads) a.kv_heads = a.heads;
  if (a.heads % a.kv_heads != 0) a.kv_heads = a.heads / group;
  a.hidden = a.heads * unit;
  const double ratio = 1.0 * base.ffn / base.hidden;
  a.ffn = static_cast<std::int32_t>(std::max(1.0, std::round(ratio * a.hidden / 64.0)) * 64.0);
}

double per_layer(const Architecture& a) {
  const ParameterCounts counts = count_parameters(a);
  return counts.layer[0].total();
}

/// Layers that bring the total nearest to `total`, then the MLP width that closes
/// the rest.
void fit(Architecture& a, double total) {
  resize(a, 1);
  const double outside = size_of(a) - per_layer(a);
  const double layers = std::clamp(std::round((total - outside) / per_layer(a)), 1.0, double{kMaxLayers});
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
    if (active > 0) d += 2.0 * std::abs(std::log(preset->parameters_active / preset->parameters_total * total / active));
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
    a.vocab = total < 5e7 ? static_cast<std::int32_t>(std::clamp(total / (4.0 * width), 256.0, 32000.0)) : base.vocab;
    a.tied = total < 5e7 || base.tied;
    set_width(a, base, width);
    fit(a, total);
    if (near(a, total)) return a;
    width *= size_of(a) > total ? 0.9 : 1.12;
  }
  return a;
}

std::string note_of(const Preset& preset, const Architecture& a, bool same) {
  std::string text = same ? "shape of " + std::string(preset.id) : "shape of " + std::string(preset.id) + ", scaled";
  text += ": " + std::to_string(a.layers) + " layers, hidden " + std::to_string(a.hidden) + ", " +
          std::to_string(a.heads) + " heads";
  if (a.kv_heads != a.heads) text += " (" + std::to_string(a.kv_heads) + " key-value)";
  if (a.experts > 0)
    text += ", " + std::to_string(a.experts) + " experts of " + std::to_string(a.expert_ffn) + ", " +
            std::to_string(a.experts_per_token) + " a token";
  else
    text += ", MLP " + std::to_string(a.ffn);
  return text + ", vocabulary " + std::to_string(a.vocab);
}

void make_anonymous(Architecture& a) {
  a.name = {};
  a.parameters_reported = 0;
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
    if (!near(out.architecture, total)) return fail(ErrorCode::usage, "no shape of this size", "--params");
  } else if (!same) {
    fit(out.architecture, total);
  }
  make_anonymous(out.architecture);
  out.note = note_of(*preset, out.architecture, same);
  return out;
}

/// Solves the number of experts and their width for total and active counts; the
/// attention comes from a dense shape between the two sizes.
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
  a.shared_ffn = 0;
  a.shared_gate = false;
  a.mtp_layers = 0;
  const Architecture base = a;
  double width = base.hidden * std::cbrt(active / preset->parameters_active);
  for (int attempt = 0; attempt < 64; ++attempt) {
    a = base;
    set_width(a, base, width);
    a.ffn = 0;
    const double layers = std::clamp(std::round(base.layers * width / base.hidden), 1.0, double{kMaxLayers});
    a.expert_ffn = 1;
    resize(a, static_cast<std::int32_t>(layers));
    const ParameterCounts bare = count_parameters(a);
    const double unit = 3.0 * a.hidden * a.layers;  // one column of one expert in every layer
    const double rest = bare.total - unit * a.experts;
    const double per_token = (active - rest) / unit;  // expert columns a token uses
    const double all = (total - rest) / unit;
    if (per_token > 0 && all > per_token) {
      a.expert_ffn = static_cast<std::int32_t>(std::max(1.0, std::round(per_token / a.experts_per_token)));
      a.experts = static_cast<std::int32_t>(std::max<double>(a.experts_per_token, std::round(all / a.expert_ffn)));
      resize(a, a.layers);
      // The router grows with the experts: close the rest with the width.
      const double correction = (total - size_of(a)) / (unit * a.experts);
      a.expert_ffn = std::max(1, a.expert_ffn + static_cast<std::int32_t>(std::round(correction)));
      resize(a, a.layers);
      if (near(a, total)) break;
    }
    width *= 0.93;
  }
  if (!near(a, total))
    return fail(ErrorCode::usage, "no expert shape has these total and active sizes", "--active",
                "give a --model preset or a --model-file");
  make_anonymous(a);
  out.note = note_of(*preset, a, false);
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
