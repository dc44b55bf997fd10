// Ranking of instances for serving.
#pragma once

#include "advisor/context.hpp"

namespace gpuadvisor::advisor {

/// `recommend` for mode serve: single instances filled with replicas of the best format
/// and tensor parallel size that meets the latency targets.
[[nodiscard]] Result<Ranking> rank_serving(const catalog::Catalog& catalog, const Query& query);

/// Serving on one given cluster: every format and tensor parallel size, best first.
[[nodiscard]] Result<Ranking> serve_on(const catalog::Catalog& catalog, const Query& query,
                                       const catalog::Cluster& cluster);

}  // namespace gpuadvisor::advisor
