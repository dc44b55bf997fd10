// What a micro-batch costs in the average layer, in the head and in the embedding of one
// rank: all that a step's time needs of the model. The expensive part of an estimate,
// kept by key in a LayerTable.
#pragma once

#include "gpuadvisor/memory.hpp"
#include "gpuadvisor/workload.hpp"
#include "performance/machine.hpp"

namespace gpuadvisor::performance {

/// Everything of a plan that LayerTimes depends on.
struct LayerKey {
  std::int32_t tp = 1, cp = 1, ep = 1;
  std::int32_t micro_batch = 1;  ///< sequences of one pipeline micro-batch
  std::int32_t shard_group = 0;  ///< ranks that share gathered weights; 0: nothing is gathered
  std::int32_t replicas = 1;     ///< HSDP: how many such groups
  workload::Recompute recompute = workload::Recompute::none;
  workload::Sharding sharding = workload::Sharding::none;  ///< none unless layers are gathered
  bool sequence_parallel = false;
  std::uint8_t offload = 0;  ///< parameter and activation bits
  bool operator==(const LayerKey&) const = default;
};
[[nodiscard]] LayerKey layer_key(const workload::Training& training, const workload::Plan& plan,
                                 const Machine& machine);

/// Parts into which a framework splits the local batch for its pipeline.
[[nodiscard]] std::int32_t micro_batch_parts(const workload::Training& training,
                                             const workload::Plan& plan);

/// Seconds of one micro-batch in one layer by cause.
struct LayerTerms {
  double compute = 0, recompute = 0, tensor_comm = 0, context_comm = 0, expert_comm = 0,
         data_comm = 0, offload = 0, host = 0;
  void add(const LayerTerms& other, double times);
  [[nodiscard]] double total() const {
    return compute + recompute + tensor_comm + context_comm + expert_comm + data_comm + offload +
           host;
  }
};

struct LayerTimes {
  LayerTerms layer;    ///< mean over the layers, forward and backward
  double forward = 0;  ///< the forward pass of these, everything included
  double backward = 0;
  double weight_gradient = 0;  ///< matmuls that a zero-bubble schedule may move
  double head_forward = 0, head_backward = 0;
  double embedding = 0;
  double shard_ends = 0;        ///< gathers and scatters at both ends of a micro-batch
  double parameters_dense = 0;  ///< of the mean layer on this rank, all but routed experts
  double parameters_expert = 0;
};

[[nodiscard]] LayerTimes layer_times(const Machine& machine, const memory::Prepared& prepared,
                                     const LayerKey& key);

}  // namespace gpuadvisor::performance
