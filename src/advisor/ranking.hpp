// From fitting trials to a ranked list: prices, the score on three axes, the total
// order, the best of each family, the Pareto front.
#pragma once

#include <vector>

#include "advisor/context.hpp"
#include "advisor/trials.hpp"

namespace gpuadvisor::advisor {

/// A row with everything but words.
[[nodiscard]] ResultRow make_row(const Context& context, const Trial& trial);

/// Memory a GPU that the split of `best` cannot do without: micro-batch 1, full
/// recomputation, nothing offloaded, where the user left them open.
[[nodiscard]] double least_gpu_bytes(const Context& context, const memory::Prepared& prepared,
                                     const planner::Candidate& best,
                                     const catalog::Cluster& cluster);

/// Prices and totals of a row from its instance and plan.
void price_row(const Context& context, ResultRow& row);

/// Fills the scores. The cost axis compares with the cheapest of `rows`.
///
/// Frozen: 0.45 vram + 0.2 interconnect + 0.35 cost. vram_fit asks how much of the GPU
/// memory that is paid for the job cannot do without: fill = least memory of any row
/// (micro-batch 1, full recompute, nothing offloaded, all GPUs) / usable memory of all
/// GPUs of this row; 1 from 70% on, 0.4 less for each halving, not below 0; times 0.8
/// when tight or when states had to leave the GPU. (Memory that a larger micro-batch
/// fills is speed, and shows in the cost.) With a linear axis a single A100 would lead
/// 7B adapters, whose base fills a seventh of it. interconnect = 1 - exposed communication / step
/// time, times 0.7 for several nodes without RDMA; cost = least cost per 1e9 tokens of all that fit
/// / its own, 0 without a price. Training on a GPU without bf16: total times 0.8.
void score_rows(const Weights& weights, std::vector<ResultRow>& rows);

/// Total order of rows under the objective. Priced rows come first.
[[nodiscard]] bool ranks_before(Objective objective, const ResultRow& left, const ResultRow& right);

/// Hours against total cost: no other row has both less.
[[nodiscard]] std::vector<ParetoPoint> pareto_front(const std::vector<ResultRow>& rows);

/// Of sorted rows, the first of each provider and family, or of each type when the query
/// compares types; at most query.top.
[[nodiscard]] std::vector<ResultRow> best_of_groups(std::vector<ResultRow> rows,
                                                    const Query& query);

}  // namespace gpuadvisor::advisor
