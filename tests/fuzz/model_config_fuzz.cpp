// config.json, adapter and index readers on hostile text: an error or sane counts.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "gpuadvisor/model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuadvisor;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = model::read_config(text, "fuzz");
  if (config && !(config->parameters_total >= 0 && std::isfinite(config->parameters_total) &&
                  config->parameters_active <= config->parameters_total &&
                  config->architecture.layers <= model::kMaxLayers))
    std::abort();
  if (!config && config.error().message.empty()) std::abort();
  const auto adapter = model::read_adapter(text, "fuzz");
  if (adapter && !(adapter->adapter && adapter->adapter->lora_parameters >= 0)) std::abort();
  return 0;
}
