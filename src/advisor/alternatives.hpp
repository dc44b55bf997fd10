// What stands beside a result: other plans, other price kinds.
#pragma once

#include <vector>

#include "advisor/context.hpp"

namespace gpuadvisor::advisor {

/// The best TP+PP+DP plan where the framework was left open and it differs, and the
/// second-best plan with what it differs in.
[[nodiscard]] std::vector<Alternative> alternatives_of(const Context& context,
                                                       const ResultRow& row);

/// Every price kind the catalog has for the row's instance, spot with its expected
/// interruptions, committed ones with their break-even hours against on-demand.
[[nodiscard]] std::vector<PriceOption> price_options_of(const Context& context,
                                                        const ResultRow& row);

}  // namespace gpuadvisor::advisor
