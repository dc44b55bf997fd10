// Reading a parsed config.json; the public reader and the preset tool share it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "gpuadvisor/model.hpp"

namespace gpuadvisor::model {

struct ConfigResult {
  Architecture architecture;
  std::string model_type;  ///< as the file says
  std::vector<std::string> warnings;
  Quantization quantization;
  bool partial = false;  ///< something of the model is not counted
};

/// Errors: not an object, no or unknown model_type, a size missing or absurd, a
/// structure that the counts cannot express.
[[nodiscard]] Result<ConfigResult> read_config_json(const nlohmann::json& document,
                                                    std::string_view where);

}  // namespace gpuadvisor::model
