// Whole or not at all: each kind of broken file gives one error that names the file,
// the JSON path and what was expected.
#include <algorithm>
#include <string>
#include <vector>

#include "gpuadvisor/catalog.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::catalog;

namespace {

using Documents = std::vector<Catalog::Document>;

const std::string kGpu = R"({
  "format": "gpuadvisor/gpu", "id": "X1", "vendor": "Acme",
  "compute_capability": 8.0,
  "memory": {"nominal": "40 GB", "usable": "39 GiB", "bandwidth": "1555 GB/s"},
  "dense_rates": {"fp16": "312 TFLOPS", "bf16": "312 TFLOPS"},
  "multiprocessors": 108, "tdp": "400 W", "pcie_generation": 4,
  "nvlink": {"bandwidth": "600 GB/s", "generation": 3},
  "checked": "2026-11-30",
  "sources": [{"text": "data sheet", "date": "2021-05", "fields": ["tdp", "memory.nominal"]}]
})";

const std::string kInstances = R"({
  "format": "gpuadvisor/instances", "provider": "acme", "family": "acme.x",
  "checked": "2026-10-01",
  "sources": [{"key": "D", "text": "page", "licence": "CC-BY-4.0"}],
  "instances": [{
    "name": "acme.x.large", "kind": "vm", "status": "documented", "gpu": "X1",
    "gpu_text": "Acme X1", "gpus": 4, "vcpus": 32, "memory": "256 GiB",
    "network": "64 Gbit/s", "rdma": {"fabric": "roce", "bandwidth": "200 Gbit/s"},
    "link": {"kind": "nvlink", "bandwidth": "600 GB/s"}, "sources": ["D"]
  }]
})";

const std::string kPrices = R"({
  "format": "gpuadvisor/prices", "provider": "acme", "checked": "2026-11-30",
  "sources": [{"key": "L", "text": "list"}],
  "prices": [{"instance": "acme.x.large", "kind": "on_demand", "currency": "CNY",
              "date": "2026-12-24", "source": "L", "per_hour": {"north": 12.5, "south": 11}}]
})";

Documents whole() { return {{"x1.json", kGpu}, {"x.json", kInstances}, {"prices.json", kPrices}}; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The error of the small catalog with one replacement in one of its files.
Error error_of(std::size_t file, const std::string& from, const std::string& to) {
  Documents documents = whole();
  documents[file].text = replaced(documents[file].text, from, to);
  const auto result = Catalog::from_documents(documents);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::input);
  return result.error();
}

constexpr std::size_t kGpuFile = 0, kInstanceFile = 1, kPriceFile = 2;

}  // namespace

TEST_CASE("a small catalog is read with all its values") {
  const auto catalog = Catalog::from_documents(whole());
  REQUIRE(catalog);
  const Gpu* gpu = catalog->find_gpu("X1");
  REQUIRE(gpu != nullptr);
  CHECK(gpu->memory_usable_bytes == 39 * kGiB);
  CHECK(gpu->memory_gb_nominal == 40);
  REQUIRE(gpu->sources.size() == 1);
  CHECK(gpu->sources[0].fields == "tdp, memory.nominal");
  CHECK(gpu->sources[0].date == "2021-05");
  const Instance* node = catalog->find_instance("acme.x.large");
  REQUIRE(node != nullptr);
  CHECK(node->memory_bytes == 256 * kGiB);
  CHECK(node->rdma_bandwidth == 25e9);
  CHECK(node->gpu_memory_bytes == 39 * kGiB);
  CHECK(node->sources[0].licence == "CC-BY-4.0");
  REQUIRE(node->prices.size() == 2);
  CHECK(node->prices[0].region == "north");
  CHECK(catalog->date() == "2026-12-24");
}

TEST_CASE("planning values that are left out follow the rules of thumb") {
  const auto catalog = Catalog::from_documents(whole());
  REQUIRE(catalog);
  const Gpu& gpu = *catalog->find_gpu("X1");
  CHECK_THAT(gpu.r16, WithinRel(0.8 * 312e12, 1e-12));
  CHECK_THAT(gpu.allreduce_bw, WithinRel(0.8 * 300e9, 1e-12));
  CHECK_THAT(gpu.fa2, WithinRel(0.75 * 0.8 * 312e12, 1e-12));
  CHECK(gpu.h2d_bw == 24e9);
  CHECK(gpu.latency_s == 20e-6);
  CHECK(gpu.r8 == 0);
  CHECK(gpu.planning_basis == "derived by rule from the peak rates");
}

TEST_CASE("usable memory without a log is derived and noted") {
  Documents documents = whole();
  documents[0].text = replaced(kGpu, R"("usable": "39 GiB", )", "");
  const auto catalog = Catalog::from_documents(documents);
  REQUIRE(catalog);
  CHECK_THAT(catalog->find_gpu("X1")->memory_usable_bytes, WithinRel(0.91 * 40 * kGiB, 1e-12));
  REQUIRE(catalog->find_gpu("X1")->notes.size() == 1);
  CHECK_THAT(std::string(catalog->find_gpu("X1")->notes[0]), ContainsSubstring("derived"));
}

TEST_CASE("broken catalog: an unknown key") {
  const Error error = error_of(kGpuFile, R"("vendor")", R"("vendr": "a", "vendor")");
  CHECK(error.where == "x1.json: /vendr");
  CHECK_THAT(error.message, ContainsSubstring("unknown key, expected one of"));
}

TEST_CASE("broken catalog: a duplicate key") {
  const Error error = error_of(kGpuFile, R"("usable": "39 GiB")", R"("nominal": "39 GB")");
  CHECK(error.where == "x1.json: /memory/nominal");
  CHECK(error.message == "duplicate key 'nominal', expected each key once");
}

TEST_CASE("broken catalog: a wrong type") {
  CHECK(error_of(kInstanceFile, "\"vcpus\": 32", "\"vcpus\": \"32\"").where ==
        "x.json: /instances/0/vcpus");
  CHECK(error_of(kInstanceFile, "\"vcpus\": 32", "\"vcpus\": 32.5").message ==
        "expected a whole number from 1 to 100000");
  CHECK(error_of(kInstanceFile, R"(["D"])", R"("D")").where == "x.json: /instances/0/sources");
  CHECK(error_of(kInstanceFile, R"("provider": "acme")", R"("provider": 7)").message ==
        "expected a text, found number");
}

TEST_CASE("broken catalog: a missing unit") {
  const Error error = error_of(kInstanceFile, R"("256 GiB")", "256");
  CHECK(error.where == "x.json: /instances/0/memory");
  CHECK_THAT(error.message,
             ContainsSubstring("the unit is missing: expected a quantity with unit"));
  CHECK_THAT(error.message, ContainsSubstring("80 GB"));
}

TEST_CASE("broken catalog: units of another quantity, NaN and negative sizes") {
  for (const char* bad :
       {"\"256 GB/s\"", "\"256\"", "\"-1 GiB\"", "\"nan GiB\"", "\"inf GiB\"", "\"1e400 GiB\"",
        "\"-0 GiB\"", "\"GiB\"", "\"256  GiB\"", "\"256 gib\""}) {
    INFO(bad);
    CHECK(error_of(kInstanceFile, R"("256 GiB")", bad).where == "x.json: /instances/0/memory");
  }
  CHECK_THAT(error_of(kPriceFile, "12.5", "NaN").message, ContainsSubstring("not valid JSON"));
  CHECK(error_of(kPriceFile, "12.5", "-12.5").where == "prices.json: /prices/0/per_hour/north");
  CHECK(error_of(kPriceFile, "12.5", "0").where == "prices.json: /prices/0/per_hour/north");
}

TEST_CASE("broken catalog: something required is missing") {
  const Error error = error_of(kGpuFile, R"("multiprocessors": 108, )", "");
  CHECK(error.where == "x1.json: /");
  CHECK(error.message == "'multiprocessors' is missing");
  CHECK(error_of(kGpuFile, R"("nominal": "40 GB", )", "").where == "x1.json: /memory");
  CHECK(error_of(kPriceFile, R"({"north": 12.5, "south": 11})", "{}").where ==
        "prices.json: /prices/0/per_hour");
}

TEST_CASE("broken catalog: a misspelt key is named, not the one it stands for") {
  CHECK(error_of(kGpuFile, "\"vendor\"", "\"vendr\"").where == "x1.json: /vendr");
  CHECK(error_of(kInstanceFile, "\"vcpus\"", "\"vcpu\"").where == "x.json: /instances/0/vcpu");
  CHECK(error_of(kInstanceFile, "\"gpu_text\"", "\"gputext\"").where ==
        "x.json: /instances/0/gputext");
  const auto foreign = Catalog::from_documents(Documents{{"other.json", R"({"note": "x"})"}});
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error().message == "'format' is missing");
}

TEST_CASE("broken catalog: a word that is no choice") {
  const Error error = error_of(kInstanceFile, R"("roce")", R"("rocket")");
  CHECK(error.where == "x.json: /instances/0/rdma/fabric");
  CHECK(error.message ==
        "'rocket' is unknown, expected one of none, tcp, erdma, roce, infiniband, efa, opa");
}

TEST_CASE("broken catalog: references to nothing") {
  CHECK(error_of(kInstanceFile, R"("gpu": "X1")", R"("gpu": "X2")").where ==
        "x.json: /instances/0/gpu");
  CHECK(error_of(kInstanceFile, R"(["D"])", R"(["E"])").where == "x.json: /instances/0/sources/0");
  const Error error = error_of(kPriceFile, R"("acme.x.large")", R"("acme.y.large")");
  CHECK(error.where == "prices.json: /prices/0/instance");
  CHECK(error.message == "there is no instance 'acme.y.large', expected the name of a record");
  CHECK(error_of(kPriceFile, R"("source": "L")", R"("source": "M")").where ==
        "prices.json: /prices/0/source");
}

TEST_CASE("broken catalog: dates, currencies, formats") {
  CHECK(error_of(kGpuFile, "2026-11-30", "2026-13-30").where == "x1.json: /checked");
  CHECK(error_of(kPriceFile, "\"CNY\"", "\"cny\"").where == "prices.json: /prices/0/currency");
  CHECK(error_of(kPriceFile, "gpuadvisor/prices", "gpuadvisor/prizes").where ==
        "prices.json: /format");
}

TEST_CASE("broken catalog: one GPU with a link, many without") {
  CHECK(error_of(kInstanceFile, "\"gpus\": 4", "\"gpus\": 1").where == "x.json: /instances/0/link");
  CHECK(error_of(kInstanceFile, R"("nvlink", "bandwidth": "600 GB/s")", R"("single")").where ==
        "x.json: /instances/0/link");
}

TEST_CASE("broken catalog: more usable than nominal memory") {
  CHECK(error_of(kGpuFile, "39 GiB", "41 GiB").where == "x1.json: /memory/usable");
}

TEST_CASE("broken catalog: syntax, size and depth") {
  CHECK_THAT(error_of(kGpuFile, "\"vendor\":", "\"vendor\"").message,
             ContainsSubstring("not valid JSON: parse error at line 2"));
  const auto deep = Catalog::from_documents(
      Documents{{"deep.json", std::string(100000, '[') + std::string(100000, ']')}});
  REQUIRE_FALSE(deep);
  CHECK(deep.error().message == "nested too deep, expected at most 16 levels");
  const auto large = Catalog::from_documents(Documents{{"large.json", std::string(9000000, ' ')}});
  REQUIRE_FALSE(large);
  CHECK(large.error().message == "longer than 8 MiB, expected a catalog file");
  const auto empty = Catalog::from_documents(Documents{{"empty.json", ""}});
  REQUIRE_FALSE(empty);
  CHECK(empty.error().where == "empty.json");
  const auto list = Catalog::from_documents(Documents{{"list.json", "[]"}});
  REQUIRE_FALSE(list);
  CHECK(list.error().message == "expected an object, found array");
}

TEST_CASE("broken catalog: two records of one id") {
  Documents documents = whole();
  documents.push_back({"again.json", kGpu});
  const auto result = Catalog::from_documents(documents);
  REQUIRE_FALSE(result);
  CHECK(result.error().where == "again.json: /");
  CHECK_THAT(result.error().message, ContainsSubstring("duplicate record 'X1', also in x1.json"));
}

TEST_CASE("the order of the documents makes no difference") {
  Documents documents = whole();
  const auto forward = Catalog::from_documents(documents);
  std::reverse(documents.begin(), documents.end());
  const auto backward = Catalog::from_documents(documents);
  REQUIRE(forward);
  REQUIRE(backward);
  CHECK(forward->instances()[0].prices.size() == backward->instances()[0].prices.size());
  CHECK(forward->instances()[0].gpu_memory_bytes == backward->instances()[0].gpu_memory_bytes);
  CHECK(forward->date() == backward->date());
}

TEST_CASE("an overlay adds records and replaces those of the same id") {
  const std::string a10 = replaced(kGpu, "\"X1\"", "\"A10\"");
  const auto catalog = Catalog::with_overlay(Documents{{"a10.json", a10}, {"x1.json", kGpu}});
  REQUIRE(catalog);
  CHECK(catalog->gpus().size() == Catalog::embedded().gpus().size() + 1);
  CHECK(catalog->find_gpu("A10")->vendor == "Acme");
  CHECK(Catalog::embedded().find_gpu("A10")->vendor == "NVIDIA");
  CHECK(catalog->instances().size() == Catalog::embedded().instances().size());
}

TEST_CASE("an overlay replaces a price and keeps the others") {
  const std::string prices = replaced(replaced(kPrices, "acme.x.large", "ecs.gn7i-c8g1.2xlarge"),
                                      "\"north\"", "\"cn-beijing\"");
  const auto catalog = Catalog::with_overlay(Documents{{"prices.json", prices}});
  REQUIRE(catalog);
  const Instance* a10 = catalog->find_instance("ecs.gn7i-c8g1.2xlarge");
  REQUIRE(a10 != nullptr);
  CHECK(a10->prices.size() == 17);  // 16 regions and "south"
  const auto in = [a10](std::string_view region) {
    return std::find_if(a10->prices.begin(), a10->prices.end(),
                        [region](const Price& price) { return price.region == region; })
        ->per_hour;
  };
  CHECK(in("cn-beijing") == 12.5);
  CHECK(in("cn-shanghai") == 9.5326);
}

TEST_CASE("an instance that is replaced keeps its prices") {
  const std::string fresh = replaced(replaced(kInstances, "acme.x.large", "ecs.gn7i-c8g1.2xlarge"),
                                     "\"gpu\": \"X1\"", "\"gpu\": \"A10\"");
  const auto catalog = Catalog::with_overlay(Documents{{"x.json", fresh}});
  REQUIRE(catalog);
  CHECK(catalog->instances().size() == Catalog::embedded().instances().size());
  CHECK(catalog->find_instance("ecs.gn7i-c8g1.2xlarge")->vcpus == 32);
  CHECK(catalog->find_instance("ecs.gn7i-c8g1.2xlarge")->prices.size() == 16);
}

TEST_CASE("a copy of a catalog outlives the first") {
  Catalog copy = [] {
    auto made = Catalog::from_documents(whole());
    REQUIRE(made);
    return *made;
  }();
  CHECK(copy.find_instance("acme.x.large")->sources[0].text == "page");
}
