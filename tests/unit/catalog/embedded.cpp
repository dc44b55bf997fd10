#include <algorithm>
#include <set>

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

}  // namespace

TEST_CASE("GPUs of the mission are in the catalog") {
  for (const char* id : {"A10", "A100-SXM4-40GB", "A100-SXM4-80GB", "H800-SXM", "H20-96GB",
                         "H20-141GB", "L20", "L40S", "V100-SXM2-16GB", "V100-SXM2-32GB", "T4"})
    CHECK(Catalog::embedded().find_gpu(id) != nullptr);
  CHECK(Catalog::embedded().gpus().size() == 48);
}

TEST_CASE("GPU ids are unique and sorted") {
  const auto gpus = Catalog::embedded().gpus();
  for (std::size_t index = 1; index < gpus.size(); ++index)
    CHECK(gpus[index - 1].id < gpus[index].id);
}

TEST_CASE("every GPU has what the models need, and a source for it") {
  for (const Gpu& one : Catalog::embedded().gpus()) {
    INFO(one.id);
    CHECK(one.memory_usable_bytes > 0.9 * one.memory_gb_nominal * kGB);
    CHECK(one.memory_usable_bytes <= one.memory_gb_nominal * kGiB);
    if (one.memory_smi_bytes > 0) CHECK(one.memory_usable_bytes <= one.memory_smi_bytes);
    CHECK(one.memory_bandwidth > 100e9);
    CHECK(one.sm > 0);
    CHECK(one.r16 > 0);
    CHECK(one.r16 <= 1.1 * std::max({one.fp16, one.bf16, one.fp32}));
    CHECK(one.r8 <= 1.1 * one.fp8);
    CHECK(one.has_fp8() == (one.r8 > 0));
    CHECK(one.allreduce_bw > 0);
    CHECK(one.allgather_bw > 0);
    CHECK(one.h2d_bw > 0);
    CHECK(one.latency_s > 0);
    CHECK(!one.planning_basis.empty());
    CHECK(!one.sources.empty());
    CHECK(one.checked.size() == 10);
    for (const Source& source : one.sources) CHECK(!source.text.empty());
  }
}

TEST_CASE("hand-checked values of the A100 80GB and the A10") {
  const Gpu& a100 = gpu("A100-SXM4-80GB");
  CHECK(a100.memory_usable_bytes == 79.25 * kGiB);
  CHECK(a100.memory_bandwidth == 2039e9);
  CHECK(a100.bf16 == 312e12);
  CHECK(a100.fp8 == 0);
  CHECK(a100.nvlink_bandwidth == 600e9);
  CHECK(a100.r16 == 260e12);
  CHECK(a100.allreduce_bw == 230e9);
  CHECK(a100.allgather_bw == 210e9);
  CHECK(a100.sm == 108);
  CHECK(gpu("A10").memory_usable_bytes == 21.99 * kGiB);
  CHECK(gpu("A10").nvlink_bandwidth == 0);
}

TEST_CASE("old parts have no bf16 and no FlashAttention 2") {
  for (const char* id : {"T4", "V100-SXM2-16GB", "V100-SXM2-32GB", "P4", "P100-PCIe-16GB", "M40"}) {
    INFO(id);
    CHECK_FALSE(gpu(id).has_bf16());
    CHECK_FALSE(gpu(id).has_flash_attention_2());
  }
}

TEST_CASE("H20 has 6.7 times less bf16 than H800") {
  CHECK(gpu("H800-SXM").bf16 / gpu("H20-96GB").bf16 > 6.6);
  CHECK(gpu("H800-SXM").nvlink_bandwidth == 400e9);
}

TEST_CASE("a GPU is found by its usual names in any case") {
  const Catalog& catalog = Catalog::embedded();
  for (const char* name : {"a100-80g", "A100-80GB", "A100_SXM4_80GB", "nvidia a100-sxm4-80gb"}) {
    INFO(name);
    const auto found = catalog.resolve_gpu(name, "--gpu");
    REQUIRE(found);
    CHECK((*found)->id == "A100-SXM4-80GB");
  }
  CHECK((*catalog.resolve_gpu("h800", "--gpu"))->id == "H800-SXM");
  CHECK((*catalog.resolve_gpu("h20-96g", "--gpu"))->id == "H20-96GB");
  CHECK((*catalog.resolve_gpu("l40s", "--gpu"))->id == "L40S");
}

TEST_CASE("an alias of several parts is refused with their names") {
  const auto found = Catalog::embedded().resolve_gpu("h20", "--gpu");
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::usage);
  CHECK(found.error().where == "--gpu");
  CHECK(found.error().message == "GPU 'h20' fits several parts");
  CHECK(found.error().hint == "say which: H20-141GB, H20-96GB");
}

TEST_CASE("a misspelt GPU is answered with near names") {
  const auto found = Catalog::embedded().resolve_gpu("L40T", "--gpu");
  REQUIRE_FALSE(found);
  CHECK(found.error().message == "unknown GPU 'L40T'");
  CHECK(found.error().hint.find("L40S") != std::string::npos);
}

TEST_CASE("instance families of the mission are in the catalog") {
  std::set<std::string_view> families;
  for (const Instance& one : Catalog::embedded().instances()) families.insert(one.family);
  for (const char* family :
       {"ecs.gn7i", "ecs.gn7", "ecs.gn7e", "ecs.ebmgn7ex", "ecs.sccgn7ex", "ecs.gn8is", "ecs.gn8v",
        "ecs.ebmgn8v", "ecs.gn6v", "ecs.gn6e", "ecs.gn6i", "g6e", "HCCPNV5", "PNV5b"})
    CHECK(families.count(family) == 1);
  CHECK(Catalog::embedded().instances().size() == 421);
}

TEST_CASE("instances are unique by name and sorted by provider and name") {
  const auto all = Catalog::embedded().instances();
  std::set<std::string_view> names;
  for (std::size_t index = 0; index < all.size(); ++index) {
    INFO(all[index].name);
    CHECK(names.insert(all[index].name).second);
    CHECK(all[index].name.find(' ') == std::string_view::npos);
    if (index > 0)
      CHECK(std::make_pair(all[index - 1].provider, all[index - 1].name) <
            std::make_pair(all[index].provider, all[index].name));
  }
}

TEST_CASE("every instance has a GPU, usable memory, a source and a sensible link") {
  for (const Instance& one : Catalog::embedded().instances()) {
    INFO(one.name);
    const Gpu* part = Catalog::embedded().find_gpu(one.gpu);
    REQUIRE(part != nullptr);
    CHECK(one.gpu_memory_bytes > 0);
    CHECK(one.gpu_memory_bytes <= part->memory_usable_bytes);
    CHECK((one.gpu_fraction < 1) <= (one.kind == InstanceKind::vgpu));
    CHECK((one.gpus == 1) == (one.link == NodeLink::single));
    if (one.rdma == Fabric::none) CHECK(one.rdma_bandwidth == 0);
    CHECK(!one.sources.empty());
    for (const Price& price : one.prices) {
      CHECK(price.per_hour > 0);
      CHECK(price.currency.size() == 3);
      CHECK(!price.source.empty());
    }
    const Cluster cluster = make_cluster(one, *part, 2);
    CHECK(cluster.node_nic_bw > 0);
    CHECK(cluster.allreduce_bw > 0);
  }
}

TEST_CASE("vGPU slices are marked and smaller than the card") {
  const Instance* slice = Catalog::embedded().find_instance("ecs.vgn7i-vws-m8.2xlarge");
  REQUIRE(slice != nullptr);
  CHECK(slice->kind == InstanceKind::vgpu);
  // A third of a 24 GB A10: 8 GiB, of which 0.9 are usable.
  CHECK_THAT(slice->gpu_fraction, WithinAbs(1.0 / 3, 1e-3));
  CHECK_THAT(slice->gpu_memory_bytes, WithinRel(7.2 * kGiB, 1e-9));
}

TEST_CASE("hand-checked instances") {
  const Catalog& catalog = Catalog::embedded();
  const Instance* node = catalog.find_instance("ecs.ebmgn7ex.32xlarge");
  REQUIRE(node != nullptr);
  CHECK(node->gpu == "A100-SXM4-80GB");
  CHECK(node->gpus == 8);
  CHECK(node->vcpus == 128);
  CHECK(node->memory_bytes == 1024 * kGiB);
  CHECK(node->gpu_memory_bytes == 79.25 * kGiB);
  CHECK(node->rdma == Fabric::erdma);
  CHECK(node->rdma_bandwidth == 20e9);  // 160 Gbit/s
  CHECK(node->link == NodeLink::nvlink);
  CHECK(node->link_bandwidth == 600e9);
  const Instance* scc = catalog.find_instance("ecs.sccgn7ex.32xlarge");
  REQUIRE(scc != nullptr);
  CHECK(scc->rdma == Fabric::roce);
  CHECK(scc->rdma_bandwidth == 100e9);  // 800 Gbit/s
  const Instance* gn8is = catalog.find_instance("ecs.gn8is-8x.32xlarge");
  REQUIRE(gn8is != nullptr);
  CHECK(gn8is->rdma == Fabric::erdma);
  CHECK(gn8is->rdma_bandwidth == 0);
  CHECK(network_note(*gn8is) == "RDMA rate not stated: taken as the network rate");
  const Instance* g6e = catalog.find_instance("g6e.48xlarge");
  REQUIRE(g6e != nullptr);
  CHECK(g6e->gpu == "L40S");
  CHECK(g6e->local_disk_bytes == 7600e9);
}

TEST_CASE("the H800 record is incomplete and has no price") {
  const Instance* node = Catalog::embedded().find_instance("HCCPNV5");
  REQUIRE(node != nullptr);
  CHECK(node->status == InstanceStatus::incomplete);
  CHECK(node->gpu == "H800-SXM");
  CHECK(node->prices.empty());
}

TEST_CASE("prices carry region, date and kind") {
  const Instance* a10 = Catalog::embedded().find_instance("ecs.gn7i-c8g1.2xlarge");
  REQUIRE(a10 != nullptr);
  const auto beijing = std::find_if(a10->prices.begin(), a10->prices.end(), [](const Price& price) {
    return price.region == "cn-beijing";
  });
  REQUIRE(beijing != a10->prices.end());
  CHECK(beijing->kind == PriceKind::on_demand);
  CHECK(beijing->per_hour == 9.5326);
  CHECK(beijing->currency == "CNY");
  CHECK(beijing->date == "2024-12-31");
  CHECK(a10->prices.size() == 16);
}

TEST_CASE("the only L20 price in CNY is an undated observation") {
  const Instance* l20 = Catalog::embedded().find_instance("ecs.gn8is.4xlarge");
  REQUIRE(l20 != nullptr);
  REQUIRE(l20->prices.size() == 1);
  CHECK(l20->prices[0].kind == PriceKind::observed);
  CHECK(l20->prices[0].per_hour == 15.84);
  CHECK(l20->prices[0].date.empty());
  CHECK(l20->prices[0].region.empty());
}

TEST_CASE("exchange rates and the date of the catalog") {
  REQUIRE(Catalog::embedded().rates().size() == 3);
  CHECK(Catalog::embedded().rates()[2].currency == "USD");
  CHECK(Catalog::embedded().rates()[2].cny == 7.1);
  CHECK(Catalog::embedded().date() == "2026-11-30");
}

TEST_CASE("names that do not exist are answered with the fact and real types") {
  const auto found = Catalog::embedded().resolve_instance("gn7v", "--instance");
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::usage);
  CHECK_THAT(found.error().message, ContainsSubstring("no such family"));
  CHECK_THAT(found.error().hint, ContainsSubstring("ecs.gn7i-c16g1.4xlarge"));
}

TEST_CASE("every wrong name is refused with real types that exist") {
  const Catalog& catalog = Catalog::embedded();
  std::size_t spellings = 0;
  for (const WrongName& wrong : catalog.wrong_names()) {
    for (const std::string_view name : wrong.names) {
      INFO(name);
      ++spellings;
      CHECK_FALSE(catalog.resolve_instance(name, ""));
      CHECK(!wrong.nearest_types.empty());
    }
    for (const std::string_view type : wrong.nearest_types)
      CHECK(catalog.find_instance(type) != nullptr);
  }
  CHECK(spellings >= 20);
  CHECK(catalog.wrong_names().size() >= 40);
}

TEST_CASE("a size of a family that does not exist gets the answer of the family") {
  const auto found = Catalog::embedded().resolve_instance("ecs.gn7v-c8g1.2xlarge", "--instance");
  REQUIRE_FALSE(found);
  CHECK_THAT(found.error().message, ContainsSubstring("V100 16 GB is gn6v"));
}

TEST_CASE("an instance is found in any case and without its prefix") {
  const auto found = Catalog::embedded().resolve_instance("GN7I-C8G1.2XLARGE", "--instance");
  REQUIRE(found);
  CHECK((*found)->name == "ecs.gn7i-c8g1.2xlarge");
}

TEST_CASE("a misspelt instance is answered with near names") {
  const auto found = Catalog::embedded().resolve_instance("ecs.gn7i-c8g1.2xlarg", "--instance");
  REQUIRE_FALSE(found);
  CHECK_THAT(found.error().hint, ContainsSubstring("ecs.gn7i-c8g1.2xlarge"));
}
