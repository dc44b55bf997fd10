#include "performance/machine.hpp"

#include <algorithm>
#include <cmath>

#include "calibration_data.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::Precision;

constexpr double kHopper = 9.0;
constexpr double kLowPowerWatts = 165;
constexpr double kUsualMultiprocessors = 108;
constexpr double kUsualLatency = 20e-6;
constexpr double kPcieBandwidth = 8e9;
constexpr double kUsualHostBandwidth = 24e9;
constexpr double kUnknownNetwork = 1.25e9;  // 10 Gbit/s

double peak_16bit(const catalog::Gpu& gpu) { return std::max(gpu.bf16, gpu.fp16); }

double sustained_16bit(const catalog::Gpu& gpu) {
  if (gpu.r16 > 0) return gpu.r16;
  const bool low_power = gpu.tdp_w > 0 && gpu.tdp_w <= kLowPowerWatts;
  return (low_power ? 0.5 : 0.8) * peak_16bit(gpu);
}

double sustained_8bit(const catalog::Gpu& gpu) { return gpu.r8 > 0 ? gpu.r8 : 0.7 * gpu.fp8; }

/// A raised or lowered power limit moves the clock, but not beyond what the part reaches
/// without any limit.
double power_factor(const catalog::Cluster& cluster) {
  const catalog::Gpu& gpu = *cluster.gpu;
  if (cluster.power_w <= 0 || gpu.tdp_w <= 0 || cluster.power_w == gpu.tdp_w) return 1.0;
  const double wanted = std::pow(cluster.power_w / gpu.tdp_w, speed::watt);
  const double cap = std::max(1.0, speed::peak_cap * peak_16bit(gpu) / sustained_16bit(gpu));
  return std::min(wanted, cap);
}

double training_share(const catalog::Gpu& gpu) {
  return gpu.compute_capability >= kHopper && gpu.power_limited ? speed::e16h : speed::e16;
}

double flash_rate(const catalog::Gpu& gpu, const workload::Training& training) {
  if (training.attention == workload::Attention::eager) return 0;
  double second = gpu.fa2;
  const bool ampere_class = gpu.compute_capability >= 8.0 && gpu.compute_capability < kHopper;
  if (second <= 0 && (gpu.compute_capability >= 8.0 || gpu.compute_capability <= 0))
    second = (ampere_class ? 0.75 : 0.45) * sustained_16bit(gpu);
  switch (training.attention_kernel) {
    case workload::AttentionKernel::fa1:
      return speed::e_fa * speed::fa1 * second;
    case workload::AttentionKernel::fa2:
      return speed::e_fa * second;
    case workload::AttentionKernel::fa3:
      break;
  }
  return speed::e_fa * std::max(gpu.fa3, second);
}

double fabric_share(catalog::Fabric fabric) {
  switch (fabric) {
    case catalog::Fabric::roce:
      return speed::roce;
    case catalog::Fabric::erdma:
      return speed::erdma;
    case catalog::Fabric::efa:
      return speed::efa;
    case catalog::Fabric::opa:
      return speed::opa;
    case catalog::Fabric::tcp:
      return speed::tcp;
    case catalog::Fabric::infiniband:
    case catalog::Fabric::none:
      break;
  }
  return speed::infiniband;
}

double peak_of(const catalog::Gpu& gpu, Precision precision) {
  switch (precision) {
    case Precision::fp8:
      return gpu.fp8 > 0 ? gpu.fp8 : peak_16bit(gpu);
    case Precision::fp32:
      return gpu.fp32;
    case Precision::fp16:
      return gpu.fp16 > 0 ? gpu.fp16 : peak_16bit(gpu);
    case Precision::bf16:
    case Precision::bf16_pure:
      break;
  }
  return gpu.bf16 > 0 ? gpu.bf16 : peak_16bit(gpu);
}

double or_usual(double value, double usual) { return value > 0 ? value : usual; }

void set_compute(Machine& machine, const catalog::Cluster& cluster,
                 const workload::Training& training) {
  const catalog::Gpu& gpu = *cluster.gpu;
  const double power = power_factor(cluster);
  const double share = training_share(gpu);
  machine.matmul = sustained_16bit(gpu) * power * share;
  if (training.precision == Precision::fp32) {
    machine.matmul = speed::e32 * gpu.fp32;
    machine.element_bytes = 4;
  }
  if (training.precision == Precision::fp8)
    machine.matmul_fp8 =
        sustained_8bit(gpu) * power * speed::e8 * (training.fp8_rowwise ? speed::e8row : 1.0);
  machine.matmul_unaligned = sustained_16bit(gpu) * power * speed::unalign;
  machine.peak = peak_of(gpu, training.precision);
  machine.operand_bw = speed::gemm_bw * gpu.memory_bandwidth;
  machine.elementwise_bw = speed::elementwise_bw * gpu.memory_bandwidth;
  machine.multiprocessors = or_usual(gpu.sm, kUsualMultiprocessors);
  machine.flash = flash_rate(gpu, training) * power;
}

void set_links(Machine& machine, const catalog::Cluster& cluster) {
  const double inferred =
      cluster.gpu->nvlink_bandwidth > 0 && cluster.link == catalog::NodeLink::nvlink
          ? 0.8 * cluster.gpu->nvlink_bandwidth / 2
          : kPcieBandwidth;
  machine.allreduce_bw = or_usual(cluster.allreduce_bw, inferred);
  machine.allgather_bw = or_usual(cluster.allgather_bw, inferred);
  machine.alltoall_bw = speed::a2a_node * machine.allgather_bw;
  machine.nic_line_bw = or_usual(cluster.node_nic_bw, kUnknownNetwork);
  machine.fabric_bw = fabric_share(cluster.fabric) * machine.nic_line_bw;
  machine.latency_s = or_usual(cluster.gpu->latency_s, kUsualLatency);
  machine.h2d_bw = or_usual(cluster.h2d_bw, or_usual(cluster.gpu->h2d_bw, kUsualHostBandwidth));
  machine.gpus_per_node = std::max(1, cluster.gpus_per_node);
  machine.disk_bw = speed::nvme_bw / machine.gpus_per_node;
  machine.straggler = speed::straggle * std::log2(std::max(1, cluster.nodes()));
}

}  // namespace

Machine make_machine(const catalog::Cluster& cluster, const workload::Training& training) {
  Machine machine;
  set_compute(machine, cluster, training);
  set_links(machine, cluster);
  return machine;
}

}  // namespace gpuadvisor::performance
