#include "gpuadvisor/performance.hpp"

namespace gpuadvisor::performance {

std::string_view refusal(const catalog::Gpu& gpu, const workload::Training& training) {
  using workload::Precision;
  const Precision precision = training.precision;
  if ((precision == Precision::bf16 || precision == Precision::bf16_pure) && !gpu.has_bf16())
    return "no bf16 matrix units (compute capability below 8.0): use fp16";
  if (precision == Precision::fp8 && !gpu.has_fp8())
    return "no fp8 matrix units (compute capability below 8.9): use bf16";
  const bool old = gpu.compute_capability > 0 && gpu.compute_capability < 8.0;
  if (training.attention == workload::Attention::flash && old && !gpu.has_flash_attention_2())
    return "FlashAttention-2 needs compute capability 8.0: use eager attention";
  if (gpu.fp16 <= 0 && gpu.bf16 <= 0 && gpu.r16 <= 0) return "no known matrix rate";
  if (gpu.memory_bandwidth <= 0) return "memory bandwidth not known";
  return {};
}

}  // namespace gpuadvisor::performance
