// What a GPU reaches when it serves: rates by class of card and weight format.
#pragma once

#include "gpuadvisor/serving.hpp"

namespace gpuadvisor::serving {

/// Cards whose kernels behave alike; decided by facts of the GPU record.
enum class GpuClass : std::uint8_t { generic, a100, hopper, h20, gddr, rtx };
[[nodiscard]] GpuClass gpu_class(const catalog::Gpu& gpu);

/// Sustained rates of one GPU for one weight format. Bytes/s and FLOP/s.
struct Rates {
  double weight_bw = 0;     ///< reading the quantised matrices
  double weight_bw_16 = 0;  ///< reading 16-bit matrices (head)
  double cache_bw = 0;      ///< decode attention
  double bandwidth = 0;     ///< nominal
  double gemm = 0;          ///< matrices in their format
  double gemm_16 = 0;
  double prompt_attention = 0;
  double peak_16 = 0;
  double sustained_16 = 0;  ///< matmul as measured
};
[[nodiscard]] Rates serving_rates(const catalog::Gpu& gpu, Quant quant,
                                  const EngineProfile& profile);

/// Time of all-reduces of one tensor-parallel group.
struct AllReduce {
  double latency_s = 0;
  double bus_bw = 1;  ///< bytes/s
  int ranks = 1;
  /// Seconds for `bytes` (ring volume 2·(t-1)/t).
  [[nodiscard]] double seconds(double bytes) const {
    return latency_s + 2.0 * (ranks - 1) / ranks * bytes / bus_bw;
  }
};
[[nodiscard]] AllReduce all_reduce(const catalog::Cluster& cluster, int ranks);

/// llama.cpp kernels by class.
struct LlamaCppRates {
  double decode = 0, prompt = 0;  ///< share of bandwidth, share of the sustained 16-bit rate
};
[[nodiscard]] LlamaCppRates llama_cpp_rates(const catalog::Gpu& gpu, Quant quant);

/// Families of weight formats that share kernels.
enum class Kernel : std::uint8_t { sixteen, fp8, int8, int4 };
[[nodiscard]] Kernel kernel_of(Quant quant);

}  // namespace gpuadvisor::serving
