#include <algorithm>

#include "calibration_data.hpp"
#include "catalog/names.hpp"
#include "gpuadvisor/catalog.hpp"

namespace gpuadvisor::catalog {
namespace {

namespace constants = calibration::catalog;

bool is_rdma(Fabric fabric) { return fabric != Fabric::none && fabric != Fabric::tcp; }

/// Collective bus bandwidth between GPUs of one node over PCIe, bytes/s.
double pcie_collective_bandwidth(const Gpu& gpu) {
  if (gpu.pcie_generation >= 5) return constants::pcie5_collective_bandwidth;
  if (gpu.pcie_generation >= 4) return constants::pcie4_collective_bandwidth;
  return constants::pcie3_collective_bandwidth;
}

/// Whether the planning values of the part stand for NVLink among all GPUs of a node.
/// Parts with an optional bridge between two cards have those of PCIe.
bool planned_over_nvlink(const Gpu& gpu) {
  return gpu.nvlink_bandwidth > 0 && gpu.allreduce_bw > 0.25 * gpu.nvlink_bandwidth / 2;
}

void set_node_bandwidths(Cluster& cluster, const Gpu& gpu) {
  cluster.allreduce_bw = gpu.allreduce_bw;
  cluster.allgather_bw = gpu.allgather_bw;
  if (cluster.link == NodeLink::pcie && gpu.nvlink_bandwidth > 0) {
    cluster.allreduce_bw = std::min(gpu.allreduce_bw, pcie_collective_bandwidth(gpu));
    cluster.allgather_bw = std::min(gpu.allgather_bw, pcie_collective_bandwidth(gpu));
  }
  if (cluster.link == NodeLink::nvlink && cluster.gpus_per_node == 2 && !planned_over_nvlink(gpu)) {
    const double bridge = constants::nvlink_bridge_share * gpu.nvlink_bandwidth / 2;
    cluster.allreduce_bw = std::max(gpu.allreduce_bw, bridge);
    cluster.allgather_bw = std::max(gpu.allgather_bw, bridge);
  }
}

/// NIC line rate a GPU of a cluster whose network is not stated: one NIC of 400 or
/// 200 Gbit/s for each GPU of the H100 and A100 class, less for older and PCIe parts.
double default_nic_bandwidth(const Gpu& gpu) {
  if (!planned_over_nvlink(gpu)) return constants::default_nic_pcie;
  if (gpu.compute_capability >= 9.0) return constants::default_nic_hopper;
  if (gpu.compute_capability >= 8.0) return constants::default_nic_ampere;
  return constants::default_nic_volta;
}

void set_network(Cluster& cluster, const Instance& instance) {
  cluster.fabric = is_rdma(instance.rdma) ? instance.rdma : Fabric::tcp;
  const bool stated = is_rdma(instance.rdma) && instance.rdma_bandwidth > 0;
  cluster.node_nic_bw = stated ? instance.rdma_bandwidth : instance.network_bandwidth;
  if (cluster.node_nic_bw > 0) return;
  cluster.node_nic_bw = is_rdma(instance.rdma)
                            ? default_nic_bandwidth(*cluster.gpu) * cluster.gpus_per_node
                            : constants::unknown_network_bandwidth;
}

}  // namespace

Cluster make_cluster(const Instance& instance, const Gpu& gpu, int count) {
  Cluster cluster;
  cluster.gpu = &gpu;
  cluster.instance = &instance;
  cluster.gpus = instance.gpus * count;
  cluster.gpus_per_node = instance.gpus;
  cluster.gpu_memory_bytes = instance.gpu_memory_bytes;
  cluster.link = instance.link;
  set_node_bandwidths(cluster, gpu);
  cluster.h2d_bw = gpu.h2d_bw;
  set_network(cluster, instance);
  cluster.host_memory_bytes = instance.memory_bytes;
  cluster.local_disk_bytes = instance.local_disk_bytes;
  return cluster;
}

Cluster make_cluster(const Gpu& gpu, int gpus, int gpus_per_node, double node_nic_bw,
                     Fabric fabric) {
  Cluster cluster;
  cluster.gpu = &gpu;
  cluster.gpus = gpus;
  cluster.gpus_per_node = std::min(gpus, gpus_per_node);
  cluster.gpu_memory_bytes = gpu.memory_usable_bytes;
  if (cluster.gpus_per_node > 1)
    cluster.link = planned_over_nvlink(gpu) ? NodeLink::nvlink : NodeLink::pcie;
  set_node_bandwidths(cluster, gpu);
  cluster.h2d_bw = gpu.h2d_bw;
  cluster.node_nic_bw =
      node_nic_bw > 0 ? node_nic_bw : default_nic_bandwidth(gpu) * cluster.gpus_per_node;
  cluster.fabric = fabric;
  if (fabric == Fabric::none && cluster.nodes() > 1) cluster.fabric = Fabric::infiniband;
  return cluster;
}

std::string_view network_note(const Instance& instance) {
  if (is_rdma(instance.rdma)) {
    if (instance.rdma_bandwidth > 0) return {};
    return instance.network_bandwidth > 0
               ? "RDMA rate not stated: taken as the network rate"
               : "RDMA rate not stated: taken as one NIC of the GPU's class for each GPU";
  }
  if (instance.network_bandwidth <= 0) return "network rate not stated: taken as 10 Gbit/s";
  return instance.rdma_known ? std::string_view{} : "RDMA not stated: taken as none";
}

std::string interconnect_class(const Cluster& cluster) {
  std::string text(to_string(cluster.link));
  if (cluster.nodes() > 1) text.append("+").append(to_string(cluster.fabric));
  return text;
}

std::string_view to_string(Fabric value) { return name_of(value, kFabricNames); }
std::string_view to_string(NodeLink value) { return name_of(value, kNodeLinkNames); }
std::string_view to_string(InstanceKind value) { return name_of(value, kInstanceKindNames); }
std::string_view to_string(InstanceStatus value) { return name_of(value, kInstanceStatusNames); }
std::string_view to_string(PriceKind value) { return name_of(value, kPriceKindNames); }

}  // namespace gpuadvisor::catalog
