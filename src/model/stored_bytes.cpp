// Bytes of the weights in a file: which modules are quantised, and at what cost.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "gpuadvisor/model.hpp"
#include "model/quantization.hpp"

namespace gpuadvisor::model {
namespace {

enum Role : std::size_t { kAttention, kMlp, kExperts, kShared, kRoles };

struct Pattern {
  std::array<bool, kRoles> roles{};
  int layer = -1;  ///< one layer, or all
};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What a "modules_to_not_convert" entry names: a path, a glob or a regular expression.
Pattern understand(std::string_view text) {
  Pattern out;
  const bool shared = has(text, "shared_expert");
  const bool experts = has(text, "experts") && !shared;
  out.roles[kShared] = shared;
  out.roles[kExperts] = experts;
  out.roles[kAttention] = has(text, "attn") || has(text, "attention");
  out.roles[kMlp] = has(text, "mlp") && !shared && !experts &&
                    (has(text, "proj") || text.ends_with("mlp") || text.ends_with("mlp*"));
  const auto layers = text.find("layers.");
  if (layers != std::string_view::npos) {
    int number = 0;
    std::size_t i = layers + 7;
    const std::size_t start = i;
    for (;
         i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0 && i < start + 6;
         ++i)
      number = number * 10 + (text[i] - '0');
    if (i > start) out.layer = number;
    if (i > start && i == text.size()) out.roles = {true, true, true, true};  // a whole layer
  }
  return out;
}

/// Share of each role that is quantised, over the layers.
std::array<double, kRoles> quantised_shares(const Architecture& a, const Quantization& q) {
  std::array<double, kRoles> shares{1.0, 1.0, 1.0, 1.0};
  std::array<std::set<int>, kRoles> skipped;
  for (const std::string& text : q.skipped) {
    const Pattern pattern = understand(text);
    for (std::size_t role = 0; role < kRoles; ++role) {
      if (!pattern.roles[role]) continue;
      if (pattern.layer < 0)
        shares[role] = 0.0;
      else if (pattern.layer < a.layers)
        skipped[role].insert(pattern.layer);
    }
  }
  for (std::size_t role = 0; role < kRoles; ++role)
    if (a.layers > 0) shares[role] *= 1.0 - static_cast<double>(skipped[role].size()) / a.layers;
  return shares;
}

}  // namespace

double stored_weights_bytes(const Architecture& architecture, const Quantization& quantization,
                            std::string_view dtype, double extra) {
  Architecture a = architecture;
  fill_uniform_layers(a);
  const ParameterCounts counts = count_parameters(a);
  const double plain_bits = dtype_bits(dtype);
  if (quantization.bits_stored <= 0) return (counts.total + extra) * plain_bits / 8.0;
  const auto shares = quantised_shares(a, quantization);
  double quantised = 0.0;
  for (int kind = 0; kind < a.kind_count; ++kind) {
    const auto index = static_cast<std::size_t>(kind);
    const LayerParameters& layer = counts.layer[index];
    quantised +=
        a.kinds[index].count *
        (shares[kAttention] * (layer.attention + layer.attention_whole) + shares[kMlp] * layer.mlp +
         shares[kExperts] * layer.experts + shares[kShared] * layer.shared);
  }
  quantised = std::min(quantised, counts.total);
  return (quantised * quantization.bits_stored + (counts.total - quantised + extra) * plain_bits) /
         8.0;
}

}  // namespace gpuadvisor::model
