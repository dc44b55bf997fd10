#include <nlohmann/json.hpp>

#include "accuracy/rows.hpp"

namespace gpuadvisor::accuracy {

std::vector<Outcome> serving_outcomes(const Json& row, Context& /*context*/) {
  return {skip(row, "", "serving rows are not predicted yet")};
}

}  // namespace gpuadvisor::accuracy
