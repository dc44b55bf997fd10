// What every part of an answer reads: the query, money, and the run as each kind of
// GPU would do it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpuadvisor/advisor.hpp"

namespace gpuadvisor::advisor {

/// The run on one kind of GPU: precision and attention differ from part to part.
struct Setup {
  const catalog::Gpu* gpu = nullptr;
  memory::Prepared prepared;
  std::vector<workload::Assumption> assumed;
  std::string refusal;  ///< why the GPU cannot run it at all; empty when it can
  ErrorBand memory_band, performance_band;
};

struct Context {
  const catalog::Catalog& catalog;
  const Query& query;
  workload::Request request;  ///< of the query, with what the plan's constraints imply
  cost::Rates rates;
  std::string as_of;
  std::vector<workload::Assumption> assumed;          ///< beyond those of `resolve`
  std::vector<workload::Assumption> general_assumed;  ///< of `resolve`, whatever the GPU
  std::vector<std::unique_ptr<Setup>> setups;

  [[nodiscard]] const Setup* find_setup(std::string_view gpu) const;
  [[nodiscard]] planner::SearchOptions search_options(const Setup& setup) const;
};

/// Checks the query without a GPU; errors name the flag.
[[nodiscard]] Result<Context> make_context(const catalog::Catalog& catalog, const Query& query);

/// The run on `gpu`; a GPU that cannot do it is a Setup with a refusal.
[[nodiscard]] std::unique_ptr<Setup> make_setup(const Context& context, const catalog::Gpu& gpu);

/// Adds the setup of `gpu` unless it is there, and returns it.
const Setup& add_setup(Context& context, const catalog::Gpu& gpu);

/// How many threads the query allows.
[[nodiscard]] int thread_count(const Query& query);

/// Was the framework left open, so that a TP+PP+DP plan is worth showing beside?
[[nodiscard]] bool framework_is_open(const Query& query);

}  // namespace gpuadvisor::advisor
