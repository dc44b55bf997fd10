#pragma once

#include "performance/layer.hpp"

namespace gpuadvisor::performance {

/// Seconds of a micro-batch in the output head with its loss, and in the embedding.
struct HeadTimes {
  double forward = 0, backward = 0, embedding = 0;
};
[[nodiscard]] HeadTimes head_times(const Machine& machine, const memory::Prepared& prepared,
                                   const LayerKey& key);

/// Whether the model has an output head over the vocabulary that training runs.
[[nodiscard]] bool has_head(const model::Architecture& architecture);

}  // namespace gpuadvisor::performance
