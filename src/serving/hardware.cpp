#include "serving/hardware.hpp"

#include <algorithm>

#include "calibration_data.hpp"

namespace gpuadvisor::serving {
namespace {

namespace k = calibration::serving;

/// Fitted shares of one class, in the order of GpuClass.
struct ClassShares {
  double e16, e8, e4, e8i, ekv, ec16, ec8, efa, lc16, lcq, lcp16, lcpq;
};
constexpr ClassShares kShares[] = {
    {k::e16_generic, k::e8_generic, k::e4_generic, k::e8i_generic, k::ekv_generic, k::ec16_generic,
     k::ec8_generic, k::efa_generic, k::lc16_generic, k::lcq_generic, k::lcp16_generic,
     k::lcpq_generic},
    {k::e16_a100, k::e8_a100, k::e4_a100, k::e8i_a100, k::ekv_a100, k::ec16_a100, k::ec8_a100,
     k::efa_a100, k::lc16_a100, k::lcq_a100, k::lcp16_a100, k::lcpq_a100},
    {k::e16_hopper, k::e8_hopper, k::e4_hopper, k::e8i_hopper, k::ekv_hopper, k::ec16_hopper,
     k::ec8_hopper, k::efa_hopper, k::lc16_hopper, k::lcq_hopper, k::lcp16_hopper, k::lcpq_hopper},
    {k::e16_h20, k::e8_h20, k::e4_h20, k::e8i_h20, k::ekv_h20, k::ec16_h20, k::ec8_h20, k::efa_h20,
     k::lc16_h20, k::lcq_h20, k::lcp16_h20, k::lcpq_h20},
    {k::e16_gddr, k::e8_gddr, k::e4_gddr, k::e8i_gddr, k::ekv_gddr, k::ec16_gddr, k::ec8_gddr,
     k::efa_gddr, k::lc16_gddr, k::lcq_gddr, k::lcp16_gddr, k::lcpq_gddr},
    {k::e16_rtx, k::e8_rtx, k::e4_rtx, k::e8i_rtx, k::ekv_rtx, k::ec16_rtx, k::ec8_rtx, k::efa_rtx,
     k::lc16_rtx, k::lcq_rtx, k::lcp16_rtx, k::lcpq_rtx},
};

const ClassShares& shares(const catalog::Gpu& gpu) {
  return kShares[static_cast<std::size_t>(gpu_class(gpu))];
}

double peak_16(const catalog::Gpu& gpu) { return std::max(gpu.fp16, gpu.bf16); }

double sustained_16(const catalog::Gpu& gpu) {
  return gpu.r16 > 0 ? gpu.r16 : peak_16(gpu) * k::fallback_r16;
}

double sustained_8(const catalog::Gpu& gpu) {
  if (gpu.r8 > 0) return gpu.r8;
  const double peak = peak_16(gpu);
  return peak > 0 ? gpu.fp8 * sustained_16(gpu) / peak : 0;
}

/// Share of the bandwidth at which the format is read.
double read_share(const ClassShares& s, Kernel kernel, const EngineProfile& profile, Quant quant,
                  GpuClass gpu) {
  const bool eager = profile.step == StepRule::eager_python;
  switch (kernel) {
    case Kernel::sixteen:
      return eager && gpu == GpuClass::h20 ? k::e16_h20_transformers : s.e16;
    case Kernel::fp8:
      return eager ? k::e8_generic : s.e8;
    case Kernel::int8:
      return eager ? k::hf_e8i : s.e8i;
    case Kernel::int4:
      break;
  }
  if (eager) return k::hf_e4;
  return !profile.marlin && quant == Quant::awq_int4 ? k::e4_old_awq : s.e4;
}

/// Sustained GEMM rate of the format: native low precision where the card has it,
/// else 16 bit after dequantising in the kernel.
double gemm_rate(const catalog::Gpu& gpu, const ClassShares& s, Kernel kernel, Quant quant,
                 const EngineProfile& profile) {
  const double sixteen = s.ec16 * sustained_16(gpu);
  const double eight = s.ec8 * sustained_8(gpu);
  if (kernel == Kernel::fp8) return gpu.has_fp8() ? eight : sixteen;
  if (quant == Quant::int8) return gpu.int8 > 0 ? sixteen * gpu.int8 / peak_16(gpu) : sixteen;
  if (quant == Quant::fp4 && gpu.fp4 > 0) return eight * std::min(2.0, gpu.fp4 / gpu.fp8);
  if (kernel == Kernel::sixteen) return sixteen;
  return sixteen * (profile.engine == Engine::autoawq ? k::int_prompt_autoawq : k::int_prompt);
}

}  // namespace

GpuClass gpu_class(const catalog::Gpu& gpu) {
  if (gpu.vendor != "NVIDIA") return GpuClass::generic;
  if (gpu.memory_type.substr(0, 4) == "GDDR")
    return gpu.memory_type == "GDDR6" ? GpuClass::gddr : GpuClass::rtx;
  // Compute capability 8.0 and 9.0 are the HBM parts of Ampere and Hopper; the cut-down
  // Hopper has fewer FLOP for each byte than any whole one.
  if (gpu.compute_capability >= 9 && gpu.compute_capability < 10)
    return peak_16(gpu) < 60 * gpu.memory_bandwidth ? GpuClass::h20 : GpuClass::hopper;
  return gpu.compute_capability >= 8 && gpu.compute_capability < 8.5 ? GpuClass::a100
                                                                     : GpuClass::generic;
}

Kernel kernel_of(Quant quant) {
  switch (quant) {
    case Quant::none:
    case Quant::fp32:
    case Quant::gguf_f32:
    case Quant::gguf_f16:
      return Kernel::sixteen;
    case Quant::fp8:
      return Kernel::fp8;
    case Quant::int8:
    case Quant::gptq_int8:
    case Quant::int8_bnb:
    case Quant::gguf_q8_0:
      return Kernel::int8;
    default:
      return Kernel::int4;
  }
}

Rates serving_rates(const catalog::Gpu& gpu, Quant quant, const EngineProfile& profile) {
  const ClassShares& s = shares(gpu);
  const Kernel kernel = kernel_of(quant);
  const GpuClass cls = gpu_class(gpu);
  Rates r;
  r.bandwidth = gpu.memory_bandwidth;
  r.weight_bw = gpu.memory_bandwidth * read_share(s, kernel, profile, quant, cls);
  r.weight_bw_16 = gpu.memory_bandwidth * read_share(s, Kernel::sixteen, profile, quant, cls);
  r.cache_bw = gpu.memory_bandwidth * s.ekv;
  r.gemm_16 = s.ec16 * sustained_16(gpu);
  r.gemm = gemm_rate(gpu, s, kernel, quant, profile);
  r.peak_16 = peak_16(gpu);
  r.sustained_16 = sustained_16(gpu);
  r.prompt_attention = r.peak_16 * (gpu.has_flash_attention_2() || gpu.compute_capability >= 8 ||
                                            gpu.vendor != "NVIDIA"
                                        ? s.efa
                                        : k::efa_old);
  return r;
}

LlamaCppRates llama_cpp_rates(const catalog::Gpu& gpu, Quant quant) {
  const ClassShares& s = shares(gpu);
  const bool sixteen = kernel_of(quant) == Kernel::sixteen;
  return {sixteen ? s.lc16 : s.lcq, sixteen ? s.lcp16 : s.lcpq};
}

AllReduce all_reduce(const catalog::Cluster& cluster, int ranks) {
  AllReduce result;
  result.ranks = ranks;
  if (ranks <= 1) return result;
  const bool nvlink = cluster.link == catalog::NodeLink::nvlink;
  result.latency_s = nvlink ? k::ar_latency_nvlink : k::ar_latency_pcie;
  if (nvlink) {
    // Few GPUs use fewer links of a switch: nccl-tests of 2, 4 and 8 GPUs.
    const int generation = cluster.gpu != nullptr ? cluster.gpu->nvlink_generation : 0;
    const bool switched = generation >= 4;
    const double share = ranks <= 2   ? (switched ? .67 : .84)
                         : ranks <= 4 ? (switched ? .74 : .94)
                         : switched   ? .94
                                      : .97;
    result.bus_bw = cluster.allreduce_bw * share * (switched ? .85 : 1.0);
  } else {
    const double generation = cluster.gpu != nullptr ? cluster.gpu->pcie_generation : 4;
    const double scale = generation >= 5 ? 2.0 : generation >= 4 || generation <= 0 ? 1.0 : 0.5;
    result.bus_bw = std::max(cluster.allreduce_bw, k::pcie4_bus * scale);
  }
  if (cluster.gpus_per_node > 0 && ranks > cluster.gpus_per_node) {
    result.latency_s += k::ar_latency_nodes;
    if (cluster.node_nic_bw > 0)
      result.bus_bw = std::min(result.bus_bw, cluster.node_nic_bw * k::nic_share);
  }
  return result;
}

}  // namespace gpuadvisor::serving
