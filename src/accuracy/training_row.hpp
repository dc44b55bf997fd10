// A training row as the structs that memory and performance take.
#pragma once

#include "accuracy/fields.hpp"
#include "gpuadvisor/accuracy.hpp"

namespace gpuadvisor::accuracy {

/// Reads model, run, cluster and plan; the error is the reason to skip the row. The
/// quantity and measured value are left to the caller.
Result<TrainingRow> read_training_row(const Json& row, const catalog::Catalog& catalog);

/// Keys of training and serving rows that are read or known to be words.
void check_row_keys(const Json& row, UnknownKeys& unknown);

}  // namespace gpuadvisor::accuracy
