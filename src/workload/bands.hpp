// Records of data/calibration.json, "bands".
#pragma once

#include <span>
#include <string_view>

namespace gpuadvisor::workload {

/// Error of one kind of prediction; empty `method` or `gpu_class` stands for all, a
/// named `gpu` for a part that no training measurement covers (rows 0, judged).
struct BandRecord {
  std::string_view kind, method, gpu_class, gpu;
  int rows = 0;
  double p50 = 0, p90 = 0;
};

/// All records.
[[nodiscard]] std::span<const BandRecord> band_records();

}  // namespace gpuadvisor::workload
