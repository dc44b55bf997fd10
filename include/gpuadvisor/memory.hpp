// How many bytes a training run needs on each GPU and on the host, in which phase.
// Pure functions; every term is kept with its name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::memory {

enum class Phase : std::uint8_t { loss, backward, step };
enum class Verdict : std::uint8_t { fits, tight, does_not_fit };

/// Bytes on one GPU at one moment. The terms sum to `allocated()`.
struct Breakdown {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;    ///< moments and fp32 master copies
  double activations = 0;  ///< kept for the backward pass, and the live layer
  double logits = 0;       ///< output head and loss
  double buffers = 0;      ///< gathers, reduce buckets, step temporaries, workspaces
  [[nodiscard]] double allocated() const {
    return weights + gradients + optimizer + activations + logits + buffers;
  }
};

/// Memory of one run under one plan.
struct Estimate {
  Breakdown peak;  ///< of the peak phase on the worst stage
  Phase peak_phase = Phase::loss;
  std::int32_t peak_stage = 0;
  double overhead_bytes = 0;  ///< CUDA context and communicators, outside the allocator
  double reserved_bytes = 0;  ///< what the allocator is likely to hold (allocated + fragmentation)
  double smi_bytes = 0;       ///< reserved + overhead
  double host_bytes = 0;      ///< a node: offloaded states, pinned buffers
  double disk_bytes = 0;      ///< a node: NVMe offload
  [[nodiscard]] double needed() const { return peak.allocated() + overhead_bytes; }
};

/// Which pipeline stage a figure is wanted of.
enum class StageChoice : std::uint8_t { worst, last };

/// Bytes a token by what divides them: `whole` nothing, `sequence` the tensor-parallel
/// size under sequence parallelism, `tensor` the tensor-parallel size always.
struct TokenBytes {
  double whole = 0, sequence = 0, tensor = 0;

  [[nodiscard]] constexpr double at(double tp, bool sequence_parallel) const {
    return shared(sequence_parallel ? 1 / tp : 1, 1 / tp);
  }
  /// The same by the shares of a rank: 1/tp, and 1/tp or 1.
  [[nodiscard]] constexpr double shared(double sequence_share, double tensor_share) const {
    return whole + sequence * sequence_share + tensor * tensor_share;
  }
  [[nodiscard]] constexpr double sum() const { return whole + sequence + tensor; }
  constexpr TokenBytes& operator+=(const TokenBytes& other) {
    whole += other.whole, sequence += other.sequence, tensor += other.tensor;
    return *this;
  }
  friend constexpr TokenBytes operator+(TokenBytes a, const TokenBytes& b) { return a += b; }
  friend constexpr TokenBytes operator*(double k, const TokenBytes& a) {
    return {k * a.whole, k * a.sequence, k * a.tensor};
  }
};

inline constexpr int kRecomputeKinds = 5;  ///< values of workload::Recompute
inline constexpr int kRecipes = 5;         ///< values of workload::StateRecipe

/// One layer of a kind: activation bytes a token, and parameters by how they are sharded.
struct LayerTable {
  std::array<TokenBytes, kRecomputeKinds> kept{};  ///< until the backward pass, by recompute
  std::array<TokenBytes, kRecomputeKinds> live{};  ///< again while its backward runs
  TokenBytes backward;                             ///< temporaries of its backward
  double tensor_parameters = 0;                    ///< matrices that tensor parallelism divides
  double whole_parameters = 0;                     ///< norms, router, latent down projections
  double expert_parameters = 0;                    ///< all routed experts
  double linear_whole = 0;  ///< share of whole_parameters that a quantised base quantises
};

/// Bytes a parameter of one recipe, before sharding.
struct StateBytes {
  double weights = 2, gradients = 2, master = 4, moments = 8;
  double step_copy = 0;  ///< temporary of the optimizer step
};

/// Bytes a logit at the loss, as tensors hold them and as the allocator keeps them.
struct LogitBytes {
  double allocated = 0, reserved = 0;
};

/// What a plan search reuses: computed once for a model and run, read by every
/// estimate. Build with `prepare`.
struct Prepared {
  model::Architecture architecture;
  model::ParameterCounts counts;
  workload::Training training;

  std::array<LayerTable, model::kMaxLayerKinds> layer{};
  /// layers_before[k][i]: how many of the first i layers are of kind k.
  std::array<std::array<std::int16_t, model::kMaxLayers + 1>, model::kMaxLayerKinds>
      layers_before{};
  std::array<StateBytes, kRecipes> states{};  ///< by StateRecipe
  std::array<LogitBytes, 2> logit_bytes{};    ///< without and with tensor parallelism
  double remainder_parameters = 0;  ///< towers, encoders and what is in no layer, embedding or head
  LayerTable encoder;               ///< one layer of the encoder of an encoder-decoder
  TokenBytes dummy_gradients;       ///< cached weight-gradient dummies, bytes (not a token)
  double largest_matrix = 0;        ///< parameters of the largest layer matrix
  double largest_layer = 0;         ///< parameters of the largest layer
  double lora_parameters = 0;       ///< of the whole model
  double base_linear_bytes = 2;     ///< a frozen layer-matrix parameter
  double base_constant_bytes = 0;   ///< of these, quantisation constants that sharding leaves whole
  double base_rest_bytes = 2;       ///< a frozen embedding, head or norm parameter
};
[[nodiscard]] Prepared prepare(const model::Architecture& architecture,
                               const workload::Training& training);

/// Memory of a training run. Allocates nothing. Requires a legal plan
/// (planner::check_plan) and cluster.gpus == plan.gpus().
[[nodiscard]] Estimate estimate(const Prepared& prepared, const workload::Plan& plan,
                                const catalog::Cluster& cluster,
                                StageChoice stage = StageChoice::worst);

/// All terms of one phase and stage, for --explain.
[[nodiscard]] Breakdown phase_breakdown(const Prepared& prepared, const workload::Plan& plan,
                                        const catalog::Cluster& cluster, Phase phase, int stage);

/// Exact lower bound of `estimate(...).needed()` of the worst stage: weights,
/// gradients, states and what lies outside the allocator. For pruning; a few tens of ns.
[[nodiscard]] double static_lower_bound(const Prepared& prepared, const workload::Plan& plan,
                                        const catalog::Cluster& cluster);

/// One named term of a phase, for --explain.
struct Term {
  std::string_view name;     ///< "fp32 main gradients"
  std::string_view formula;  ///< in the symbols of the README
  double bytes = 0;
};
inline constexpr int kMaxTerms = 24;
struct Terms {
  std::array<Term, kMaxTerms> items{};
  int count = 0;
  [[nodiscard]] double sum() const;
};
/// The terms of one phase and stage, largest detail kept; they sum to
/// `phase_breakdown(...).allocated()` within rounding.
[[nodiscard]] Terms explain(const Prepared& prepared, const workload::Plan& plan,
                            const catalog::Cluster& cluster, Phase phase, int stage);

/// One change of plan or run that saves memory.
struct Relaxation {
  std::string_view name;     ///< "full recompute", "micro-batch 1", "fused loss"
  std::string_view cost;     ///< what it costs, in words: "one more forward pass"
  workload::Plan plan;       ///< the plan after the change
  std::int64_t seq_len = 0;  ///< sequence length after the change
  double gain_bytes = 0;     ///< needed() before minus after; > 0
  bool fits = false;         ///< needed() after <= usable
};
inline constexpr int kMaxRelaxations = 12;
struct Relaxations {
  std::array<Relaxation, kMaxRelaxations> items{};
  int count = 0;
};
/// Single changes that reduce needed(), those that make the plan fit first, in each group by
/// smallest cost (order of the list in relax.cpp).
[[nodiscard]] Relaxations relaxations(const Prepared& prepared, const workload::Plan& plan,
                                      const catalog::Cluster& cluster, double usable_bytes);

/// fits: needed x (1 + error_p50) <= usable; tight: needed <= usable.
[[nodiscard]] Verdict verdict(double needed_bytes, double usable_bytes, double error_p50);

[[nodiscard]] std::string_view to_string(Phase value);
[[nodiscard]] std::string_view to_string(Verdict value);

}  // namespace gpuadvisor::memory
