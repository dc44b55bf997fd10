#include "model/tensors.hpp"

#include <algorithm>
#include <cctype>

namespace gpuadvisor::model {
namespace {

bool ends(std::string_view text, std::string_view part) { return text.ends_with(part); }
bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Endings of tensors that belong to a quantised weight, or of stored buffers.
constexpr std::string_view kSideEndings[] = {
    ".qzeros",
    ".scales",
    "_scales",
    ".g_idx",
    "weight_scale",
    "weight_scale_inv",
    "weight_scale_2",
    "weight_scale_bias",
    "input_scale",
    "output_scale",
    "weight_zero_point",
    "weight_shape",
    "weight_g_idx",
    "weight_global_scale",
    "input_global_scale",
    ".absmax",
    ".quant_map",
    ".nested_absmax",
    ".nested_quant_map",
    ".SCB",
    ".weight_format",
    "bitsandbytes__nf4",
    "bitsandbytes__fp4",
    ".k_scale",
    ".v_scale",
    "inv_freq",
    "masked_bias",
    "position_ids",
    "num_batches_tracked",
    "rope_freqs.weight",
    "rope_factors_long.weight",
    "rope_factors_short.weight",
};

/// A causal mask stored as a buffer: [1, 1, P, P] under an attention's ".bias".
bool is_mask(const TensorInfo& t) {
  return t.shape.size() == 4 && t.shape[0] == 1 && t.shape[1] == 1 && t.shape[2] == t.shape[3] &&
         ends(t.name, ".bias");
}

bool is_side(const TensorInfo& t) {
  return is_mask(t) || std::any_of(std::begin(kSideEndings), std::end(kSideEndings),
                                   [&](std::string_view ending) { return ends(t.name, ending); });
}

/// Weights that one stored element holds.
double packing(const TensorInfo& t, double bits, bool& guessed) {
  if (t.dtype == "I32" && (ends(t.name, "qweight") || ends(t.name, "weight_packed"))) {
    guessed = guessed || bits <= 0;
    return 32.0 / (bits > 0 ? bits : 4.0);
  }
  const bool bytes = t.dtype == "U8";
  if (bytes &&
      (ends(t.name, "_blocks") || ends(t.name, ".weight") || ends(t.name, "weight_packed")))
    return 2.0;
  return 1.0;
}

struct Path {
  std::int32_t layer = -1, expert = -1;
};

/// The number after `mark` in a name, or -1.
std::int32_t number_after(std::string_view name, std::string_view mark) {
  for (auto at = name.find(mark); at != std::string_view::npos; at = name.find(mark, at + 1)) {
    std::int32_t value = 0;
    std::size_t i = at + mark.size();
    const std::size_t start = i;
    for (;
         i < name.size() && i < start + 6 && std::isdigit(static_cast<unsigned char>(name[i])) != 0;
         ++i)
      value = value * 10 + (name[i] - '0');
    if (i > start && (i == name.size() || name[i] == '.')) return value;
  }
  return -1;
}

Path path_of(std::string_view name) {
  Path path;
  for (const std::string_view mark : {"layers.", "blk.", ".h.", "h.", "blocks.", "layer."}) {
    path.layer = number_after(name, mark);
    if (path.layer >= 0) break;
  }
  path.expert = number_after(name, "experts.");
  return path;
}

struct RoleName {
  std::string_view part;
  Role role;
};
/// Endings of module names, ".weight" removed; first match wins.
// clang-format off
constexpr RoleName kRoles[] = {
    {"embed_tokens", Role::embedding}, {"wte", Role::embedding}, {"word_embeddings", Role::embedding},
    {"token_embd", Role::embedding}, {"embed_in", Role::embedding}, {"tok_embeddings", Role::embedding},
    {"lm_head", Role::head}, {"embed_out", Role::head}, {"output_layer", Role::head}, {"wpe", Role::positions},
    {"position_embd", Role::positions}, {"embed_positions", Role::positions},
    {"q_a_proj", Role::q_a}, {"attn_q_a", Role::q_a}, {"q_b_proj", Role::q_b}, {"attn_q_b", Role::q_b},
    {"kv_a_proj_with_mqa", Role::kv_a}, {"attn_kv_a_mqa", Role::kv_a}, {"kv_b_proj", Role::kv_b},
    {"attn_kv_b", Role::kv_b}, {"attn_k_b", Role::kv_b}, {"q_norm", Role::q_norm}, {"attn_q_norm", Role::q_norm},
    {"k_norm", Role::k_norm}, {"attn_k_norm", Role::k_norm}, {"q_proj", Role::q}, {"attn_q", Role::q},
    {"k_proj", Role::k}, {"attn_k", Role::k}, {"v_proj", Role::v}, {"attn_v", Role::v}, {"qkv_proj", Role::qkv},
    {"query_key_value", Role::qkv}, {"c_attn", Role::qkv}, {"W_pack", Role::qkv}, {"Wqkv", Role::qkv},
    {"wqkv", Role::qkv}, {"attn_qkv", Role::qkv}, {"o_proj", Role::output}, {"attn_output", Role::output},
    {"out_proj", Role::output}, {"wo", Role::output}, {"shared_expert.gate_proj", Role::shared_gate},
    {"shared_experts.gate_proj", Role::shared_gate}, {"ffn_gate_shexp", Role::shared_gate},
    {"shared_expert.up_proj", Role::shared_up}, {"shared_experts.up_proj", Role::shared_up},
    {"ffn_up_shexp", Role::shared_up}, {"ffn_down_shexp", Role::shared_down},
    {"shared_expert.down_proj", Role::shared_down}, {"shared_experts.down_proj", Role::shared_down},
    {"ffn_gate_exps", Role::expert_gate}, {"ffn_up_exps", Role::expert_up}, {"ffn_down_exps", Role::expert_down},
    {"ffn_gate_inp", Role::router}, {"mlp.gate", Role::router}, {"block_sparse_moe.gate", Role::router},
    {"mlp.router", Role::router}, {"gate_up_proj", Role::gate_up}, {"gate_proj", Role::gate}, {"ffn_gate", Role::gate},
    {"feed_forward.w1", Role::gate}, {"up_proj", Role::up}, {"ffn_up", Role::up}, {"feed_forward.w3", Role::up},
    {"c_fc", Role::up}, {"fc1", Role::up}, {"dense_h_to_4h", Role::up}, {"down_proj", Role::down},
    {"ffn_down", Role::down}, {"feed_forward.w2", Role::down}, {"fc2", Role::down}, {"dense_4h_to_h", Role::down},
    {"w1", Role::gate}, {"w3", Role::up}, {"w2", Role::down}, {"in_proj_qkvz", Role::linear_in},
    {"in_proj_qkv", Role::linear_in}, {"ssm_in", Role::ssm}, {"mixer.in_proj", Role::ssm},
    {"mamba.in_proj", Role::ssm}, {"output_norm", Role::final_norm}, {"norm", Role::norm}, {"layernorm", Role::norm},
};
// clang-format on

Role expert_role(Role role) {
  switch (role) {
    case Role::gate:
      return Role::expert_gate;
    case Role::up:
      return Role::expert_up;
    case Role::down:
      return Role::expert_down;
    case Role::gate_up:
      return Role::expert_gate_up;
    default:
      return role;
  }
}

Role bias_role(Role role) {
  switch (role) {
    case Role::q:
    case Role::qkv:
      return Role::q_bias;
    case Role::output:
      return Role::output_bias;
    case Role::up:
    case Role::gate_up:
      return Role::mlp_bias;
    default:
      return Role::none;
  }
}

/// Strips what a weight's name may end in; sets `bias` for a bias.
std::string_view module_of(std::string_view name, bool& bias) {
  bias = ends(name, ".bias");
  for (const std::string_view ending :
       {".weight_packed", ".qweight", ".weight", ".bias", "_blocks"})
    if (ends(name, ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

bool module_ends(std::string_view module, std::string_view part) {
  if (!ends(module, part)) return false;
  const std::size_t before = module.size() - part.size();
  return before == 0 || module[before - 1] == '.' || module[before - 1] == '_';
}

Role role_of(std::string_view name, const Path& path) {
  bool bias = false;
  const std::string_view module = module_of(name, bias);
  if (module == "output") return Role::head;
  for (const RoleName& entry : kRoles) {
    if (!module_ends(module, entry.part)) continue;
    const bool routed = path.expert >= 0 || (has(module, "experts") && !has(module, "shared"));
    const Role role = routed ? expert_role(entry.role) : entry.role;
    return bias ? bias_role(role) : role;
  }
  return Role::none;
}

/// Text models only: towers of other kinds have layers of their own.
bool is_tower(std::string_view name) {
  for (const std::string_view part :
       {"vision", "visual", "audio", "img_", "mm_proj", "multi_modal"})
    if (has(name, part)) return true;
  return name.starts_with("v.") || name.starts_with("mm.");
}

}  // namespace

bool TensorScan::add(const TensorInfo& t) {
  if (!names_.insert(std::string(t.name)).second) return false;
  ++summary_.tensors;
  summary_.bytes += t.bytes;
  auto found = dtypes_.find(t.dtype);
  if (found == dtypes_.end())
    found = dtypes_.emplace(std::string(t.dtype), DtypeShare{std::string(t.dtype)}).first;
  ++found->second.tensors;
  found->second.elements += t.elements;
  found->second.bytes += t.bytes;
  if (is_side(t)) {
    summary_.side += t.elements;
    summary_.stored += t.elements;
    return true;
  }
  const double weights = t.elements * packing(t, packed_bits_, guessed_bits_);
  summary_.stored += weights;
  const Path path = path_of(t.name);
  const bool tower = is_tower(t.name);
  if (!tower && (t.name.starts_with("mtp.") || has(t.name, ".mtp.") || has(t.name, "nextn") ||
                 (layers_ > 0 && path.layer >= layers_))) {
    summary_.mtp += weights;
    return true;
  }
  const Role role = tower ? Role::none : role_of(t.name, path);
  if (role == Role::head && tied_ && t.shape.size() == 2) return true;
  summary_.parameters += weights;
  if (tower) return true;
  highest_layer_ = std::max(highest_layer_, path.layer);
  highest_expert_ = std::max(highest_expert_, path.expert);
  const bool packed = weights != t.elements;  // its shape is not the module's
  if (role == Role::none || packed) return true;
  const auto index = static_cast<std::size_t>(role);
  if (counts_[index]++ == 0) {
    Shape& shape = shapes_[index];
    const std::size_t rank = t.shape.size();
    shape.columns = rank > 0 ? static_cast<double>(t.shape[rank - 1]) : 1.0;
    shape.rows = rank > 1 ? static_cast<double>(t.shape[rank - 2]) : 1.0;
    shape.planes = rank > 2 ? static_cast<double>(t.shape[rank - 3]) : 1.0;
  }
  return true;
}

const Shape* TensorScan::shape(Role role) const {
  const auto index = static_cast<std::size_t>(role);
  return counts_[index] > 0 ? &shapes_[index] : nullptr;
}

TensorSummary TensorScan::summary() const {
  TensorSummary out = summary_;
  for (const auto& entry : dtypes_) out.dtypes.push_back(entry.second);
  std::stable_sort(out.dtypes.begin(), out.dtypes.end(),
                   [](const DtypeShare& x, const DtypeShare& y) { return x.bytes > y.bytes; });
  return out;
}

}  // namespace gpuadvisor::model
