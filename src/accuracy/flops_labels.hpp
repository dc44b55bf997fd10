// FLOPs of a step as a publication counts them.
#pragma once

#include <string>

#include "gpuadvisor/accuracy.hpp"
#include "gpuadvisor/performance.hpp"

namespace gpuadvisor::accuracy {

/// FLOPs of one step by the formula that a row names (first word decides: narayanan2021,
/// megatron-deepspeed, korthikanti2022, bigscience, internevo, llm-foundry, torchtitan,
/// PaLM, 6ND); without a known name, our own hardware or model FLOPs by `kind`.
double labelled_flops(const std::string& formula, const std::string& kind, const TrainingRow& row,
                      const performance::Estimate& estimate);

}  // namespace gpuadvisor::accuracy
