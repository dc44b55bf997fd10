// From fitting trials to a ranked list: prices, the score on three axes, the total
// order, the best of each family, the Pareto front.
#pragma once

#include <vector>

#include "advisor/context.hpp"
#include "advisor/trials.hpp"

namespace gpuadvisor::advisor {

/// A row with everything but words.
[[nodiscard]] ResultRow make_row(const Context& context, const Trial& trial);

/// Prices and totals of a row from its instance and plan.
void price_row(const Context& context, ResultRow& row);

/// Fills the scores. The cost axis compares with the cheapest of `rows`.
///
/// Frozen: 0.4 vram + 0.2 interconnect + 0.4 cost. vram_fit = min(1, peak/usable/0.7),
/// times 0.8 when tight; interconnect = 1 - exposed communication / step time, times
/// 0.7 for several nodes without RDMA; cost = least cost per 1e9 tokens of all that
/// fit / its own, 0 without a price. Training on a GPU without bf16: total times 0.8.
void score_rows(const Weights& weights, std::vector<ResultRow>& rows);

/// Total order of rows under the objective. Priced rows come first.
[[nodiscard]] bool ranks_before(Objective objective, const ResultRow& left, const ResultRow& right);

/// Hours against total cost: no other row has both less.
[[nodiscard]] std::vector<ParetoPoint> pareto_front(const std::vector<ResultRow>& rows);

/// Of sorted rows, the first of each provider and family.
[[nodiscard]] std::vector<ResultRow> best_of_families(std::vector<ResultRow> rows, std::size_t top);

}  // namespace gpuadvisor::advisor
