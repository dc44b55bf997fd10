// A best-effort shape from tensors alone; the count stays the exact sum.
#include <algorithm>
#include <cmath>

#include "model/layer_math.hpp"
#include "model/tensors.hpp"

namespace gpuadvisor::model {
namespace {

/// A size; NaN and negative values of a hostile file are none.
std::int32_t whole(double value) {
  return value > 0 ? static_cast<std::int32_t>(std::min(value, 1073741823.0)) : 0;
}

/// Output width of a linear layer whose input is `in`; Conv1D stores it transposed.
std::int32_t out_of(const Shape* shape, std::int32_t in) {
  if (shape == nullptr) return 0;
  return whole(shape->columns == in || shape->rows != in ? shape->rows : shape->columns);
}

/// Query and key-value widths of separate or joint projections.
void infer_widths(const TensorScan& scan, Architecture& a, std::int32_t& q, std::int32_t& kv) {
  q = out_of(scan.shape(Role::q), a.hidden);
  kv = out_of(scan.shape(Role::k), a.hidden);
  const Shape* joint = scan.shape(Role::qkv);
  if (q == 0 && joint != nullptr) {
    q = a.hidden;
    if (const Shape* output = scan.shape(Role::output))
      q = whole(output->rows == a.hidden ? output->columns : output->rows);
    kv = std::max(0, out_of(joint, a.hidden) - q) / 2;
  }
  if (kv == 0) kv = q;
}

void infer_heads(const TensorScan& scan, Architecture& a, std::vector<std::string>& warnings) {
  std::int32_t q = 0, kv = 0;
  infer_widths(scan, a, q, kv);
  if (q == 0) return;
  const Shape* norm = scan.shape(Role::q_norm);
  const bool per_head = norm != nullptr && norm->columns < q;
  std::int32_t dim = per_head ? whole(norm->columns) : q >= 2048 ? 128 : 64;
  if (dim <= 0 || q % dim != 0 || kv % dim != 0) dim = kv > 0 && q % kv == 0 ? kv : q;
  if (!per_head)
    warnings.push_back("head size not in the tensors: " + std::to_string(dim) + " taken");
  a.head_dim = dim;
  a.heads = q / dim;
  a.kv_heads = std::max(1, kv / dim);
  if (norm != nullptr) a.qk_norm = per_head ? 1 : 2;
  a.qkv_bias = scan.count(Role::q_bias) > 0;
  a.out_bias = scan.count(Role::output_bias) > 0;
}

void infer_mlp(const TensorScan& scan, Architecture& a, std::vector<std::string>& warnings) {
  a.gated = scan.count(Role::gate) > 0 || scan.count(Role::gate_up) > 0 ||
            scan.count(Role::expert_gate) > 0 || scan.count(Role::expert_gate_up) > 0;
  a.ffn = out_of(scan.shape(Role::up), a.hidden);
  if (a.ffn == 0) a.ffn = out_of(scan.shape(Role::gate_up), a.hidden) / 2;
  a.mlp_bias = scan.count(Role::mlp_bias) > 0;
  const Shape* expert = scan.shape(Role::expert_up);
  if (expert == nullptr) return;
  a.expert_ffn = out_of(expert, a.hidden);
  a.experts = std::max(scan.experts(), whole(expert->planes > 1 ? expert->planes : 0));
  a.experts_per_token = std::min(a.experts, 8);
  a.shared_ffn = out_of(scan.shape(Role::shared_up), a.hidden);
  warnings.push_back(
      "experts a token are not in the tensors: " + std::to_string(a.experts_per_token) + " taken");
}

}  // namespace

Result<Architecture> infer_architecture(const TensorScan& scan, std::string_view where,
                                        std::vector<std::string>& warnings) {
  Architecture a;
  a.family = "unknown";
  const Shape* embedding = scan.shape(Role::embedding);
  if (embedding == nullptr || scan.layers() <= 0 || scan.layers() > kMaxLayers)
    return fail(ErrorCode::input, "the tensors show no token embedding or no layers",
                std::string(where), "give the config.json too");
  a.vocab = whole(embedding->rows);
  a.hidden = whole(embedding->columns);
  a.layers = scan.layers();
  a.tied = scan.count(Role::head) == 0;
  infer_heads(scan, a, warnings);
  infer_mlp(scan, a, warnings);
  if (a.heads == 0) {
    // Attention of another kind: a shape of the same width keeps estimates possible.
    a.head_dim = a.hidden % 128 == 0 ? 128 : a.hidden;
    a.heads = a.kv_heads = std::max(1, a.hidden / a.head_dim);
    warnings.push_back(
        "no attention projections recognised: full attention of the hidden width taken");
  }
  a.parameters_reported = scan.summary().parameters;
  fill_uniform_layers(a);
  return a;
}

}  // namespace gpuadvisor::model
