// One replica as the load models see it: step times, and how many sequences run at once.
#pragma once

#include "gpuadvisor/serving.hpp"
#include "serving/step.hpp"

namespace gpuadvisor::serving {

class Server {
 public:
  Server(const Model& model, const Request& request, const Plan& plan,
         const catalog::Cluster& cluster);

  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] const StepContext& context() const { return context_; }
  [[nodiscard]] const EngineProfile& profile() const { return *context_.profile; }

  /// Sequences the cache can run at once, and that with the engine's cap; at least 1.
  [[nodiscard]] double cache_capacity() const { return cache_capacity_; }
  [[nodiscard]] double capacity() const { return capacity_; }

  /// Time of `prompts` whole prompts alone.
  [[nodiscard]] StepTime prefill(double prompts) const;
  /// Decode step of B sequences at the mean context, with prompt tokens beside them.
  [[nodiscard]] StepTime decode(double sequences, double prompt_tokens) const;
  /// Mean time a token of B sequences when each token of output brings its share of
  /// prompts: in the same step, or in steps of their own.
  [[nodiscard]] double iteration(double sequences) const;
  /// Mean context of decoding: input + half the output.
  [[nodiscard]] double mean_context() const;
  /// Prompt tokens of one request that are computed.
  [[nodiscard]] double prompt_tokens() const;
  /// Tokens one sequence gains a step (above 1 with speculative decoding), and the
  /// time of the draft model in it.
  [[nodiscard]] double tokens_a_step() const { return tokens_a_step_; }

 private:
  [[nodiscard]] double draft_time(double sequences) const;

  StepContext context_;
  StepContext draft_;
  Memory memory_;
  double cache_capacity_ = 1, capacity_ = 1, tokens_a_step_ = 1;
};

}  // namespace gpuadvisor::serving
