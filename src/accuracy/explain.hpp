// One row's whole breakdown as text, for --explain.
#pragma once

#include <string>

#include "gpuadvisor/accuracy.hpp"
#include "gpuadvisor/performance.hpp"

namespace gpuadvisor::accuracy {

std::string explain_memory(const TrainingRow& row);
std::string explain_speed(const TrainingRow& row, const performance::Estimate& estimate,
                          double measured_s);

}  // namespace gpuadvisor::accuracy
