// One engine step: everything that many steps of one estimate share is worked out once.
#pragma once

#include "gpuadvisor/serving.hpp"
#include "serving/hardware.hpp"

namespace gpuadvisor::serving {

struct StepContext {
  const Model* model = nullptr;
  const Request* request = nullptr;
  const EngineProfile* profile = nullptr;
  const catalog::Cluster* cluster = nullptr;
  Plan plan;
  Rates rates;
  AllReduce ring;
  double weight_bytes_each = 2;  ///< bytes of one quantised weight
  double element_bytes = 2;      ///< of the cache
  double resident = 0;           ///< weight bytes on one GPU (llama.cpp)
  double streamed_experts = 0;   ///< E
};
[[nodiscard]] StepContext make_context(const Model& model, const Request& request, const Plan& plan,
                                       const catalog::Cluster& cluster);
[[nodiscard]] StepTime step_time(const StepContext& context, const StepWork& work);

/// transformers (step_eager.cpp) and llama.cpp (step_llama_cpp.cpp).
[[nodiscard]] StepTime eager_step(const StepContext& context, const StepWork& work);
[[nodiscard]] StepTime llama_cpp_step(const StepContext& context, const StepWork& work);

/// Expected number of experts that T tokens touch, E·(1 - (1 - K/E)^T).
[[nodiscard]] double experts_hit(const model::Architecture& architecture, double tokens);
/// Matrices that one token passes: routed experts count K of E.
[[nodiscard]] double active_linear(const Model& model);
/// FLOPs of attention of `tokens` that each see `context`, whole model.
[[nodiscard]] double attention_flops(const Model& model, double tokens, double context,
                                     bool windows);

}  // namespace gpuadvisor::serving
