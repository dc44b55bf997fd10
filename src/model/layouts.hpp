// The parts of a configuration that common fields do not describe.
#pragma once

#include "gpuadvisor/model.hpp"
#include "model/families.hpp"
#include "model/fields.hpp"

namespace gpuadvisor::model {

/// Applies what is special about the family's layout (encoders, poolers, projections).
Result<void> apply_layout(Fields& fields, const Family& family, Architecture& architecture);

/// Decides mixer, window and experts of every layer.
Result<void> lay_out_layers(Fields& fields, const Family& family, Architecture& architecture);

/// Parameters of a vision tower and its projector; 0 when the tower is unknown.
Result<double> vision_parameters(Fields& vision, std::string_view model_type,
                                 const Architecture& text);

/// Refuses keys that change the structure in a way that is not described here.
Result<void> unsupported_structure(const Fields& fields);

}  // namespace gpuadvisor::model
