// What a table of tensors says about a model: exact sums, and the shape of the
// architecture as far as names and shapes reveal it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "gpuadvisor/model.hpp"

namespace gpuadvisor::model {

/// One tensor as a file lists it. `shape` in row-major order: [out, in] of a linear layer.
struct TensorInfo {
  std::string_view name;
  std::string_view dtype;
  std::span<const std::uint64_t> shape;
  double elements = 0;  ///< product of the shape
  double bytes = 0;
};

/// Modules that tell the shape of a model.
enum class Role : std::uint8_t {
  none,
  embedding,
  head,
  positions,
  final_norm,
  q,
  k,
  v,
  qkv,
  output,
  gate,
  up,
  down,
  gate_up,
  expert_gate,
  expert_up,
  expert_down,
  expert_gate_up,
  shared_gate,
  shared_up,
  shared_down,
  router,
  norm,
  q_norm,
  k_norm,
  q_a,
  q_b,
  kv_a,
  kv_b,
  q_bias,
  output_bias,
  mlp_bias,
  ssm,
  linear_in,
  count,
};

/// Two-dimensional shape of the first tensor of a role.
struct Shape {
  double rows = 0, columns = 0, planes = 1;
};

/// Adds tensors one by one; keeps names only to find duplicates.
class TensorScan {
 public:
  /// `layers` > 0 tells how many layers the configuration names: tensors of higher
  /// layers belong to multi-token prediction. `tied`: a stored head is a copy.
  /// `bits`: of a packed weight where the configuration says it, else 0.
  TensorScan(std::int32_t layers, bool tied, double bits)
      : layers_(layers), tied_(tied), packed_bits_(bits) {}

  /// False when the name was seen before.
  [[nodiscard]] bool add(const TensorInfo& tensor);
  void add_file() { ++summary_.files; }
  /// The sums, dtypes ordered by bytes.
  [[nodiscard]] TensorSummary summary() const;
  [[nodiscard]] const Shape* shape(Role role) const;
  [[nodiscard]] std::int64_t count(Role role) const {
    return counts_[static_cast<std::size_t>(role)];
  }
  [[nodiscard]] std::int32_t layers() const { return highest_layer_ + 1; }
  [[nodiscard]] std::int32_t experts() const { return highest_expert_ + 1; }
  [[nodiscard]] bool guessed_bits() const { return guessed_bits_; }

 private:
  std::int32_t layers_;
  bool tied_;
  double packed_bits_;
  bool guessed_bits_ = false;
  std::int32_t highest_layer_ = -1, highest_expert_ = -1;
  TensorSummary summary_;
  std::map<std::string, DtypeShare, std::less<>> dtypes_;
  std::unordered_set<std::string> names_;
  std::array<Shape, static_cast<std::size_t>(Role::count)> shapes_{};
  std::array<std::int64_t, static_cast<std::size_t>(Role::count)> counts_{};
};

/// The architecture that the tensors show: sizes and flags from names and shapes,
/// the count as `parameters_reported`. `warnings` says what was guessed.
[[nodiscard]] Result<Architecture> infer_architecture(const TensorScan& scan,
                                                      std::string_view where,
                                                      std::vector<std::string>& warnings);

}  // namespace gpuadvisor::model
