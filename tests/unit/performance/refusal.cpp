#include "fixtures.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using performance::refusal;

TEST_CASE("a GPU refuses what it has no units for", "[refusal]") {
  catalog::Gpu volta = performance::testing::a100();
  volta.compute_capability = 7.0;
  volta.bf16 = 0, volta.fa2 = 0;
  auto run = performance::testing::training_of();
  run.attention = workload::Attention::eager;
  CHECK_FALSE(refusal(volta, run).empty());
  run.precision = workload::Precision::fp16;
  CHECK(refusal(volta, run).empty());
  run.attention = workload::Attention::flash;
  CHECK_FALSE(refusal(volta, run).empty());
}

TEST_CASE("fp8 needs fp8 units", "[refusal]") {
  auto run = performance::testing::training_of();
  CHECK(refusal(performance::testing::a100(), run).empty());
  run.precision = workload::Precision::fp8;
  CHECK_FALSE(refusal(performance::testing::a100(), run).empty());
  catalog::Gpu hopper = performance::testing::a100();
  hopper.compute_capability = 9.0;
  hopper.fp8 = 1979e12;
  CHECK(refusal(hopper, run).empty());
}

TEST_CASE("a part without known rates is refused, not divided by", "[refusal]") {
  auto run = performance::testing::training_of();
  catalog::Gpu unknown = performance::testing::a100();
  unknown.memory_bandwidth = 0;
  CHECK_FALSE(refusal(unknown, run).empty());
  unknown = performance::testing::a100();
  unknown.r16 = unknown.fp16 = unknown.bf16 = 0;
  run.precision = workload::Precision::fp16;
  CHECK_FALSE(refusal(unknown, run).empty());
}

TEST_CASE("a cluster without a stated network still has finite collectives", "[machine]") {
  catalog::Cluster cluster;
  cluster.gpu = &performance::testing::a100();
  cluster.gpus = 32, cluster.gpus_per_node = 8;
  const auto machine = performance::make_machine(cluster, performance::testing::training_of());
  CHECK(machine.fabric_bw > 0);
  CHECK(machine.allreduce_bw > 0);
  CHECK(machine.allgather_bw > 0);
}

TEST_CASE("planning values that a part lacks are inferred", "[machine]") {
  catalog::Gpu gpu = performance::testing::a100();
  gpu.r16 = 0, gpu.fa2 = 0, gpu.fa3 = 0, gpu.sm = 0, gpu.latency_s = 0;
  const auto machine = performance::make_machine(performance::testing::cluster_of(1, gpu),
                                                 performance::testing::training_of());
  CHECK(machine.matmul > 0.6 * 312e12);
  CHECK(machine.matmul < 0.8 * 312e12);
  CHECK(machine.flash > 0.4 * 312e12);
  CHECK(machine.multiprocessors > 0);
  CHECK(machine.latency_s > 0);
}

TEST_CASE("a raised power limit is capped, a lower one slows", "[machine]") {
  auto cluster = performance::testing::cluster_of(1);
  const auto run = performance::testing::training_of();
  const double usual = performance::make_machine(cluster, run).matmul;
  cluster.power_w = 800;  // 0.85 of the peak of 312 over the usual 260
  CHECK_THAT(performance::make_machine(cluster, run).matmul,
             WithinRel(usual * 0.85 * 312 / 260, 1e-9));
  cluster.power_w = 200;
  CHECK(performance::make_machine(cluster, run).matmul < 0.7 * usual);
}
