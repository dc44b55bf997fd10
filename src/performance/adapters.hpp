#pragma once

#include "gpuadvisor/model.hpp"
#include "gpuadvisor/workload.hpp"
#include "performance/machine.hpp"

namespace gpuadvisor::performance {

/// Inner and output widths that adapters touch, summed over one layer's target modules.
struct AdapterWidths {
  double in = 0, out = 0;
};
[[nodiscard]] AdapterWidths adapter_widths(const model::Architecture& architecture,
                                           const model::LayerKind& kind,
                                           const model::LoraSpec& lora, double tp);

/// Seconds that adapters add to one forward pass of a layer: casts, dropout, scale and
/// add at memory bandwidth, and the thin products.
[[nodiscard]] double adapter_time(const Machine& machine, const workload::Training& training,
                                  const AdapterWidths& widths, double tokens);

/// Seconds to unpack `weights` quantised weights once; 0 for a 16-bit base.
[[nodiscard]] double dequantise_time(const Machine& machine, workload::Quant quant, double weights);

/// Bytes a weight that FSDP and ZeRO-3 gather.
[[nodiscard]] double gathered_bytes(const Machine& machine, const workload::Training& training);

}  // namespace gpuadvisor::performance
