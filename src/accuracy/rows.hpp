// One measurement row to its outcomes: what run() calls for each kind.
#pragma once

#include <string>
#include <vector>

#include "accuracy/fields.hpp"
#include "gpuadvisor/accuracy.hpp"

namespace gpuadvisor::accuracy {

/// What all rows of one report share.
struct Context {
  const catalog::Catalog& catalog;
  const Options& options;
  UnknownKeys unknown;
  std::string explanation;  ///< of the row options.explain_id

  [[nodiscard]] bool explains(const std::string& id) const {
    return !options.explain_id.empty() && options.explain_id == id;
  }
};

/// An outcome with the identity and groups of `row`; quantity and result still empty.
/// `gpu` is the catalog id where known, `method` the mode or phase.
Outcome outcome_of(const Json& row);
/// Sets predicted, measured and relative_error = (predicted - measured) / measured; a
/// measured value that is not positive, or a prediction that is not finite, is skipped.
void compare(Outcome& outcome, double predicted, double measured);
Outcome skip(const Json& row, std::string quantity, std::string reason);

/// Rows of kind train_memory and train_speed.
std::vector<Outcome> training_outcomes(const Json& row, Context& context);
/// Rows of kind serve_memory and serve_speed.
std::vector<Outcome> serving_outcomes(const Json& row, Context& context);

/// GPU of a row by id or alias; an error when the catalog has none.
Result<const catalog::Gpu*> read_gpu(const Json& cluster, const catalog::Catalog& catalog);

}  // namespace gpuadvisor::accuracy
