// data/ -> constant tables of the catalog.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "catalog/reader.hpp"
#include "embed/embed.hpp"

namespace gpuadvisor::embed {
namespace {

using namespace gpuadvisor::catalog;
namespace fs = std::filesystem;

/// The parts of data/ that make up the catalog.
constexpr const char* kParts[] = {"gpus", "instances", "prices", "wrong_names.json", "rates.json"};

std::vector<fs::path> catalog_files(const fs::path& root) {
  std::vector<fs::path> files;
  for (const char* part : kParts) {
    const fs::path path = root / part;
    if (fs::is_regular_file(path)) files.push_back(path);
    if (!fs::is_directory(path)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::vector<Catalog::Document>> read_files(const fs::path& root) {
  std::vector<Catalog::Document> documents;
  for (const fs::path& path : catalog_files(root)) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return fail(ErrorCode::input, "cannot be read", path.string());
    documents.push_back({path.string(), std::string{std::istreambuf_iterator<char>(in), {}}});
  }
  if (documents.empty()) return fail(ErrorCode::input, "no catalog files found", root.string());
  return documents;
}

/// Writes arrays of the parts that records point into, and remembers where each lies.
class Writer {
 public:
  std::string text(std::string_view value) const {
    return value.empty() ? "{}" : string_literal(std::string(value)) + "sv";
  }

  std::string number(double value) const { return double_literal(value); }

  std::string names(std::span<const std::string_view> list) {
    for (const std::string_view name : list) names_ += text(name) + ",\n";
    return slice("kNames", names_count_, list.size());
  }

  std::string sources(std::span<const Source> list) {
    for (const Source& source : list)
      sources_ += fmt::format("{{{}, {}, {}, {}, {}}},\n", text(source.text), text(source.date),
                              source.inferred, text(source.fields), text(source.licence));
    return slice("kSources", sources_count_, list.size());
  }

  std::string prices(std::span<const Price> list) {
    for (const Price& price : list)
      prices_ += fmt::format("{{PriceKind::{}, {}, {}, {}, {}, {}}},\n", to_word(price.kind),
                             text(price.region), text(price.currency), number(price.per_hour),
                             text(price.date), text(price.source));
    return slice("kPrices", prices_count_, list.size());
  }

  [[nodiscard]] std::string arrays() const {
    return array("std::string_view", "kNames", names_) + array("Source", "kSources", sources_) +
           array("Price", "kPrices", prices_);
  }

  static std::string array(std::string_view type, std::string_view name, const std::string& body) {
    if (body.empty()) return fmt::format("constexpr std::span<const {}> {}{{}};\n\n", type, name);
    return fmt::format("constexpr {} {}[] = {{\n{}}};\n\n", type, name, body);
  }

  static std::string_view to_word(PriceKind kind) { return name_of(kind, kPriceKindNames); }

 private:
  static std::string slice(std::string_view name, std::size_t& count, std::size_t size) {
    if (size == 0) return "{}";
    const std::string text = fmt::format("{{{} + {}, {}}}", name, count, size);
    count += size;
    return text;
  }

  std::string names_, sources_, prices_;
  std::size_t names_count_ = 0, sources_count_ = 0, prices_count_ = 0;
};

std::string gpu_row(const Gpu& gpu, Writer& out) {
  std::string row = fmt::format("{{{}, {}, {}", out.text(gpu.id), out.text(gpu.vendor),
                                out.text(gpu.architecture));
  const auto numbers = [&row, &out](std::initializer_list<double> values) {
    for (const double value : values) row += ", " + out.number(value);
  };
  numbers({gpu.compute_capability, gpu.memory_gb_nominal, gpu.memory_usable_bytes,
           gpu.memory_smi_bytes});
  row += ", " + out.text(gpu.memory_type);
  numbers({gpu.memory_bandwidth, gpu.fp64, gpu.fp32, gpu.tf32, gpu.fp16, gpu.bf16, gpu.fp8, gpu.fp4,
           gpu.int8, gpu.nvlink_bandwidth});
  row += fmt::format(", {}", gpu.nvlink_generation);
  numbers({gpu.pcie_generation, gpu.tdp_w});
  row += fmt::format(", {}", gpu.sm);
  numbers({gpu.r16, gpu.r8, gpu.allreduce_bw, gpu.allgather_bw, gpu.fa2, gpu.fa3, gpu.h2d_bw,
           gpu.latency_s});
  return row + fmt::format(", {}, {}, {}, {}, {}, {}}},\n", gpu.power_limited,
                           out.text(gpu.planning_basis), out.sources(gpu.sources),
                           out.names(gpu.notes), out.names(gpu.aliases), out.text(gpu.checked));
}

std::string instance_row(const Instance& one, Writer& out) {
  std::string row = fmt::format(
      "{{{}, {}, {}, InstanceKind::{}, InstanceStatus::{}, {}, {}, {}, {}, {}, {}, {}, {}",
      out.text(one.name), out.text(one.provider), out.text(one.family),
      name_of(one.kind, kInstanceKindNames), name_of(one.status, kInstanceStatusNames),
      out.text(one.gpu), out.text(one.gpu_text), one.gpus, out.number(one.gpu_fraction),
      out.number(one.gpu_memory_bytes), one.vcpus, out.number(one.memory_bytes),
      out.number(one.network_bandwidth));
  row += fmt::format(
      ", Fabric::{}, {}, {}, NodeLink::{}, {}, {}, {}", name_of(one.rdma, kFabricNames),
      one.rdma_known, out.number(one.rdma_bandwidth), name_of(one.link, kNodeLinkNames),
      out.number(one.link_bandwidth), out.number(one.local_disk_bytes), out.text(one.cpu));
  return row + fmt::format(", {}, {}, {}, {}}},\n", out.prices(one.prices),
                           out.sources(one.sources), out.names(one.notes), out.text(one.checked));
}

std::string tables(const Records& records) {
  Writer out;
  std::string gpus, instances, wrong_names, rates;
  for (const Gpu& gpu : records.gpus) gpus += gpu_row(gpu, out);
  for (const Instance& instance : records.instances) instances += instance_row(instance, out);
  for (const WrongName& wrong : records.wrong_names)
    wrong_names +=
        fmt::format("{{{}, {}, {}, {}, {}, {}}},\n", out.text(wrong.claim), out.text(wrong.verdict),
                    out.text(wrong.fact), out.text(wrong.source), out.names(wrong.names),
                    out.names(wrong.nearest_types));
  for (const ExchangeRate& rate : records.rates)
    rates += fmt::format("{{{}, {}, {}, {}}},\n", out.text(rate.currency), out.number(rate.cny),
                         out.text(rate.date), out.text(rate.source));
  return out.arrays() + Writer::array("Gpu", "kGpus", gpus) +
         Writer::array("Instance", "kInstances", instances) +
         Writer::array("WrongName", "kWrongNames", wrong_names) +
         Writer::array("ExchangeRate", "kRates", rates) +
         fmt::format(
             "}}  // namespace\n\nTables embedded_tables() {{\n"
             "  return {{kGpus, kInstances, kWrongNames, kRates, {}}};\n}}\n",
             out.text(records.date));
}

}  // namespace

Result<void> catalog(std::span<const std::string> arguments) {
  if (arguments.size() != 2) return fail(ErrorCode::usage, "expected DATA_DIR OUT", "catalog");
  const auto documents = read_files(arguments[0]);
  if (!documents) return tl::unexpected(documents.error());
  Records records;
  if (auto read = read_catalog(*documents, Tables{}, records); !read) return read;
  return write_text(arguments[1],
                    "// Generated from data/; do not edit.\n#include \"catalog/embedded.hpp\"\n\n"
                    "namespace gpuadvisor::catalog {\nnamespace {\n\n"
                    "using namespace std::string_view_literals;\n\n" +
                        tables(records) + "\n}  // namespace gpuadvisor::catalog\n");
}

}  // namespace gpuadvisor::embed
