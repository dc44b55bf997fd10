// The architecture of a measurement row.
#pragma once

#include "accuracy/fields.hpp"
#include "gpuadvisor/model.hpp"

namespace gpuadvisor::accuracy {

/// A preset, with the fields that the row overrides, or the architecture that the row
/// spells out; what it leaves out takes the usual value of its family. `seq_len` sizes
/// a learned position table of unknown length.
Result<model::Architecture> read_model(const Json& model, std::int64_t seq_len);

}  // namespace gpuadvisor::accuracy
