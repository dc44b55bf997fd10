// One serving row as the model's inputs.
#pragma once

#include <string>

#include "accuracy/fields.hpp"
#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/serving.hpp"

namespace gpuadvisor::accuracy {

struct ServingRow {
  serving::Request request;
  serving::Plan plan;
  catalog::Cluster cluster;  ///< gpu is null for a card that is not named
  std::string skipped;       ///< why the row cannot be predicted
};

/// Reads run, plan and cluster of a row about `architecture`. An unknown engine takes the
/// generic profile; an unknown format or GPU skips the row.
[[nodiscard]] ServingRow read_serving_row(const catalog::Catalog& catalog, const Json& row,
                                          const model::Architecture& architecture);

}  // namespace gpuadvisor::accuracy
