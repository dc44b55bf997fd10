// Sentences of an answer: reasons, warnings, rejections, advice. English, with numbers.
#pragma once

#include <string>
#include <vector>

#include "advisor/context.hpp"
#include "advisor/trials.hpp"

namespace gpuadvisor::advisor {

/// "2 x ecs.ebmgn7ex.32xlarge"
[[nodiscard]] std::string name_of(const catalog::Instance* instance, int count,
                                  const catalog::Cluster& cluster);

/// Why this row: memory, speed, money, score; `cheapest` is the least cost per 1e9 tokens.
[[nodiscard]] std::vector<std::string> reasons_of(const Query& query, const ResultRow& row,
                                                  std::optional<double> cheapest);

[[nodiscard]] std::vector<Warning> warnings_of(const Context& context, const ResultRow& row);

/// One warning for all rows whose price is older than 180 days before `as_of`.
[[nodiscard]] std::optional<Warning> old_price_warning(const std::string& as_of,
                                                       const std::vector<ResultRow>& rows);

/// The decisive reason why a trial does not fit.
[[nodiscard]] Rejected explain_rejection(const Context& context, const Trial& trial);

/// What to do next with the first result.
[[nodiscard]] std::vector<std::string> next_steps(const Context& context, const ResultRow& row);

/// In which fields two plans differ: "micro-batch 2 instead of 4, no recompute instead
/// of full".
[[nodiscard]] std::string difference(const workload::Plan& plan, const workload::Plan& from);

}  // namespace gpuadvisor::advisor
