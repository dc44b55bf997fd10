#include "gpuadvisor/catalog.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::catalog;

namespace {

const Gpu& gpu(std::string_view id) {
  const Gpu* found = Catalog::embedded().find_gpu(id);
  REQUIRE(found != nullptr);
  return *found;
}

Instance eight(const char* id, NodeLink link) {
  Instance instance;
  instance.gpu = id;
  instance.gpus = 8;
  instance.gpu_memory_bytes = 80e9;
  instance.memory_bytes = 1024 * kGiB;
  instance.link = link;
  instance.network_bandwidth = 8e9;
  return instance;
}

}  // namespace

TEST_CASE("without RDMA the fabric is tcp at the network rate") {
  const Instance node = eight("A100-SXM4-80GB", NodeLink::nvlink);
  const Cluster cluster = make_cluster(node, gpu("A100-SXM4-80GB"), 4);
  CHECK(cluster.gpus == 32);
  CHECK(cluster.nodes() == 4);
  CHECK(cluster.fabric == Fabric::tcp);
  CHECK(cluster.node_nic_bw == 8e9);
  CHECK(cluster.allreduce_bw == 230e9);
  CHECK(interconnect_class(cluster) == "nvlink+tcp");
  CHECK(network_note(node).empty());
}

TEST_CASE("an eRDMA rate that is not stated is the network rate") {
  Instance node = eight("L20", NodeLink::pcie);
  node.rdma = Fabric::erdma;
  const Cluster cluster = make_cluster(node, gpu("L20"), 2);
  CHECK(cluster.fabric == Fabric::erdma);
  CHECK(cluster.node_nic_bw == 8e9);
  CHECK(network_note(node) == "RDMA rate not stated: taken as the network rate");
  node.rdma_bandwidth = 20e9;
  CHECK(make_cluster(node, gpu("L20"), 2).node_nic_bw == 20e9);
}

TEST_CASE("a part whose NVLink the instance lacks is linked over PCIe") {
  const Cluster pcie =
      make_cluster(eight("A100-SXM4-80GB", NodeLink::pcie), gpu("A100-SXM4-80GB"), 1);
  CHECK(pcie.allreduce_bw == 8e9);
  CHECK(pcie.allgather_bw == 8e9);
  CHECK(interconnect_class(pcie) == "pcie");
}

TEST_CASE("two bridged cards share NVLink, four do not") {
  Instance pair = eight("H100-NVL", NodeLink::nvlink);
  pair.gpus = 2;
  // 0.64 of 300 GB/s one way.
  CHECK_THAT(make_cluster(pair, gpu("H100-NVL"), 1).allreduce_bw, WithinRel(192e9, 1e-9));
  pair.gpus = 4;
  CHECK(make_cluster(pair, gpu("H100-NVL"), 1).allreduce_bw == 24e9);
}

TEST_CASE("clusters by hand take the NICs of the GPU class") {
  const Cluster h100 = make_cluster(gpu("H100-SXM"), 64, 8, 0, Fabric::none);
  CHECK(h100.node_nic_bw == 400e9);
  CHECK(h100.fabric == Fabric::infiniband);
  CHECK(h100.link == NodeLink::nvlink);
  CHECK(interconnect_class(h100) == "nvlink+infiniband");
  CHECK(make_cluster(gpu("A100-SXM4-40GB"), 16, 8, 0, Fabric::roce).node_nic_bw == 200e9);
  CHECK(make_cluster(gpu("V100-SXM2-32GB"), 16, 8, 0, Fabric::roce).node_nic_bw == 50e9);
  CHECK(make_cluster(gpu("L20"), 16, 8, 0, Fabric::tcp).node_nic_bw == 12.5e9);
  CHECK(make_cluster(gpu("L20"), 16, 8, 25e9, Fabric::roce).node_nic_bw == 25e9);
}

TEST_CASE("one GPU is single and has one node") {
  const Cluster one = make_cluster(gpu("A10"), 1, 8, 0, Fabric::none);
  CHECK(one.nodes() == 1);
  CHECK(one.gpus_per_node == 1);
  CHECK(one.fabric == Fabric::none);
  CHECK(interconnect_class(one) == "single");
}
