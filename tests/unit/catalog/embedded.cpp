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
