// quantization_config and hf_quant_config.json -> Quantization.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "gpuadvisor/model.hpp"

namespace gpuadvisor::model {

/// `object` is a quantization_config (of GPTQ, AWQ, bitsandbytes, FP8, MXFP4,
/// compressed-tensors, ModelOpt and others). Errors name the key.
[[nodiscard]] Result<Quantization> read_quantization(const nlohmann::json& object,
                                                     std::string_view where);
/// The `quantization` member of ModelOpt's second file, hf_quant_config.json.
[[nodiscard]] Result<Quantization> read_modelopt(const nlohmann::json& document,
                                                 std::string_view where);
/// Bits of one element of a dtype as a configuration names it; 16 when unknown.
[[nodiscard]] double dtype_bits(std::string_view dtype);

}  // namespace gpuadvisor::model
