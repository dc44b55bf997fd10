// The embedded tables say exactly what the files of data/ say, in any order of reading.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "gpuadvisor/catalog.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::catalog;

namespace {

namespace fs = std::filesystem;

std::vector<Catalog::Document> data_files() {
  const fs::path data = fs::path(GPUADVISOR_SOURCE_DIR) / "data";
  std::vector<fs::path> paths{data / "wrong_names.json", data / "rates.json"};
  for (const char* part : {"gpus", "instances", "prices"})
    for (const auto& entry : fs::recursive_directory_iterator(data / part))
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Catalog::Document> documents;
  for (const fs::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    documents.push_back({path.string(), std::string{std::istreambuf_iterator<char>(in), {}}});
  }
  return documents;
}

std::string sources(std::span<const Source> list) {
  std::string text;
  for (const Source& one : list)
    text +=
        fmt::format("[{}|{}|{}|{}|{}]", one.text, one.date, one.inferred, one.fields, one.licence);
  return text;
}

std::string names(std::span<const std::string_view> list) {
  return fmt::format("{}", fmt::join(list, "|"));
}

std::string line(const Gpu& one) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", one.id,
                     one.vendor, one.architecture, one.compute_capability, one.memory_gb_nominal,
                     one.memory_usable_bytes, one.memory_smi_bytes, one.memory_type,
                     one.memory_bandwidth, one.fp64, one.fp32, one.tf32, one.fp16, one.bf16,
                     one.fp8, one.fp4, one.int8, one.nvlink_bandwidth, one.nvlink_generation,
                     one.pcie_generation, one.tdp_w) +
         fmt::format(" {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", one.sm, one.r16, one.r8,
                     one.allreduce_bw, one.allgather_bw, one.fa2, one.fa3, one.h2d_bw,
                     one.latency_s, one.power_limited, one.planning_basis, one.checked,
                     sources(one.sources), names(one.notes), names(one.aliases));
}

std::string line(const Instance& one) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", one.name,
                  one.provider, one.family, to_string(one.kind), to_string(one.status), one.gpu,
                  one.gpu_text, one.gpus, one.gpu_fraction, one.gpu_memory_bytes, one.vcpus,
                  one.memory_bytes, one.network_bandwidth, to_string(one.rdma), one.rdma_known,
                  one.rdma_bandwidth, to_string(one.link), one.link_bandwidth, one.local_disk_bytes,
                  one.cpu, one.checked, sources(one.sources), names(one.notes));
  for (const Price& price : one.prices)
    text += fmt::format("[{}|{}|{}|{}|{}|{}]", to_string(price.kind), price.region, price.currency,
                        price.per_hour, price.date, price.source);
  return text;
}

std::vector<std::string> lines(const Catalog& catalog) {
  std::vector<std::string> list;
  for (const Gpu& one : catalog.gpus()) list.push_back(line(one));
  for (const Instance& one : catalog.instances()) list.push_back(line(one));
  for (const WrongName& one : catalog.wrong_names())
    list.push_back(fmt::format("{} {} {} {} {} {}", one.claim, one.verdict, one.fact, one.source,
                               names(one.names), names(one.nearest_types)));
  for (const ExchangeRate& one : catalog.rates())
    list.push_back(fmt::format("{} {} {} {}", one.currency, one.cny, one.date, one.source));
  list.emplace_back(catalog.date());
  return list;
}

}  // namespace

TEST_CASE("embedded tables equal the files in any order") {
  auto documents = data_files();
  const auto embedded = lines(Catalog::embedded());
  std::mt19937 random(20261130);
  for (int round = 0; round < 3; ++round) {
    std::shuffle(documents.begin(), documents.end(), random);
    const auto read = Catalog::from_documents(documents);
    REQUIRE(read);
    CHECK(lines(*read) == embedded);
  }
}

TEST_CASE("an overlay of the same files changes nothing") {
  const auto again = Catalog::with_overlay(data_files());
  REQUIRE(again);
  CHECK(lines(*again) == lines(Catalog::embedded()));
}
