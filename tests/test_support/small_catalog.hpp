// A frozen catalog of a few instance types for tests of the advisor: real GPU records,
// prices that no update of the data changes.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gpuadvisor/catalog.hpp"

namespace gpuadvisor::test {

/// One instance type of the test cloud; `price` 0 for none.
struct SmallInstance {
  std::string name, family, gpu;
  int gpus = 1;
  int memory_gib = 64;
  std::string link = "nvlink";  ///< between GPUs of a node
  int rdma_gbps = 0;
  double price = 0;
  std::string provider = "aliyun";
};

inline std::string source_file(const std::string& path) {
  std::ifstream in(std::string(GPUADVISOR_SOURCE_DIR) + "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string instance_json(const SmallInstance& one) {
  const std::string link = one.gpus == 1
                               ? ""
                               : R"("link":{"kind":")" + one.link + R"(","bandwidth":")" +
                                     (one.link == "nvlink" ? "600" : "64") + R"( GB/s"},)";
  const std::string rdma = one.rdma_gbps == 0 ? R"({"fabric":"none"})"
                                              : R"({"fabric":"erdma","bandwidth":")" +
                                                    std::to_string(one.rdma_gbps) + R"( Gbit/s"})";
  return R"({"name":")" + one.name + R"(","kind":"vm","status":"documented","gpu":")" + one.gpu +
         R"(","gpu_text":")" + one.gpu + R"(","gpus":)" + std::to_string(one.gpus) +
         R"(,"vcpus":16,"memory":")" + std::to_string(one.memory_gib) +
         R"( GiB","network":"32 Gbit/s",)" + link + R"("rdma":)" + rdma + R"(,"sources":["T"]})";
}

inline std::vector<catalog::Catalog::Document> small_documents(
    const std::vector<SmallInstance>& instances) {
  std::vector<catalog::Catalog::Document> documents;
  for (const char* gpu : {"A10", "L20", "A100-SXM4-80GB", "V100-SXM2-32GB", "H20-96GB"})
    documents.push_back(
        {std::string(gpu) + ".json", source_file("data/gpus/" + std::string(gpu) + ".json")});
  for (std::size_t at = 0; at < instances.size(); ++at) {
    const auto& one = instances[at];
    documents.push_back({"i" + std::to_string(at) + ".json",
                         R"({"format":"gpuadvisor/instances","provider":")" + one.provider +
                             R"(","family":")" + one.family +
                             R"(","checked":"2026-11-30","sources":[{"key":"T","text":"test"}],)" +
                             R"("instances":[)" + instance_json(one) + "]}"});
    if (one.price <= 0) continue;
    documents.push_back(
        {"p" + std::to_string(at) + ".json",
         R"({"format":"gpuadvisor/prices","provider":")" + one.provider +
             R"(","checked":"2026-11-30","sources":[{"key":"T","text":"test","date":"2026-11-01"}],)" +
             R"("prices":[{"instance":")" + one.name +
             R"(","kind":"on_demand","currency":"CNY","date":"2026-11-01","source":"T","per_hour":{"r":)" +
             std::to_string(one.price) + "}}]}"});
  }
  return documents;
}

inline std::vector<SmallInstance> usual_instances() {
  return {{"a10.1", "a10", "A10", 1, 64, "pcie", 0, 9},
          {"a10.8", "a10x", "A10", 8, 512, "pcie", 160, 80},
          {"l20.1", "l20", "L20", 1, 128, "pcie", 0, 16},
          {"a100.1", "a100", "A100-SXM4-80GB", 1, 125, "nvlink", 0, 31},
          {"a100.8", "a100x", "A100-SXM4-80GB", 8, 1024, "nvlink", 160, 270},
          {"a100.8tcp", "a100t", "A100-SXM4-80GB", 8, 1024, "nvlink", 0, 250},
          {"v100.8", "v100", "V100-SXM2-32GB", 8, 736, "nvlink", 0, 140},
          {"h20.8", "h20", "H20-96GB", 8, 1024, "nvlink", 160, 0}};
}

}  // namespace gpuadvisor::test
