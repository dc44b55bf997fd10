// The renderings of a ranking, one function a format.
#pragma once

#include <string>

#include "gpuadvisor/advisor.hpp"
#include "gpuadvisor/report.hpp"
#include "report/grid.hpp"

namespace gpuadvisor::report {

[[nodiscard]] std::string ranking_json(const advisor::Ranking& ranking);
[[nodiscard]] std::string ranking_table(const advisor::Ranking& ranking, const Style& style);

/// Results, or rejected candidates, as rows and columns.
[[nodiscard]] Grid results_grid(const advisor::Ranking& ranking);
[[nodiscard]] Grid rejected_grid(const advisor::Ranking& ranking);

/// Every term of one result with its formula: lines of --explain.
[[nodiscard]] std::string explanation(const advisor::ResultRow& row,
                                      const model::Architecture& architecture);

/// "ecs.gn7i-c8g1.2xlarge x 2", or the GPUs of a cluster given by hand.
[[nodiscard]] std::string cluster_label(const advisor::ResultRow& row);

}  // namespace gpuadvisor::report
