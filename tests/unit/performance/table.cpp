#include <cstring>
#include <vector>

#include "fixtures.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::performance;

namespace {
std::vector<workload::Plan> many_plans() {
  std::vector<workload::Plan> plans;
  for (const int tp : {1, 2, 8})
    for (const int pp : {1, 2, 4})
      for (const int micro : {1, 2})
        for (const auto sharding : {workload::Sharding::none, workload::Sharding::zero1,
                                    workload::Sharding::zero3, workload::Sharding::hsdp})
          for (const auto recompute : {workload::Recompute::none, workload::Recompute::full}) {
            workload::Plan plan;
            plan.tp = tp, plan.pp = pp, plan.dp = 64 / tp / pp, plan.micro_batch = micro;
            plan.sharding = sharding, plan.recompute = recompute;
            plan.sequence_parallel = tp > 1;
            plan.grad_accum = 256 / plan.dp / micro;
            plans.push_back(plan);
          }
  return plans;
}
}  // namespace

TEST_CASE("a kept layer gives the same bits as a fresh one", "[table]") {
  for (const auto& m : {testing::dense_model(), testing::expert_model()}) {
    const auto prepared = memory::prepare(m, testing::training_of());
    const auto cluster = testing::cluster_of(64);
    LayerTable table(prepared, cluster);
    for (int round = 0; round < 2; ++round)
      for (const auto& plan : many_plans()) {
        const Estimate kept = table.estimate(plan);
        const Estimate fresh = performance::estimate(prepared, plan, cluster);
        REQUIRE(std::memcmp(&kept, &fresh, sizeof kept) == 0);
        REQUIRE(table.compute_lower_bound(plan) == compute_lower_bound(prepared, plan, cluster));
      }
    CHECK(table.size() > 10);
    CHECK(table.size() < 2 * many_plans().size());
  }
}

TEST_CASE("a table grows past its first size", "[table]") {
  const auto prepared = memory::prepare(testing::dense_model(), testing::training_of());
  const auto cluster = testing::cluster_of(8);
  LayerTable table(prepared, cluster);
  workload::Plan plan;
  plan.dp = 8;
  for (int micro = 1; micro <= 400; ++micro) {
    plan.micro_batch = micro;
    REQUIRE(table.estimate(plan).step_time_s ==
            performance::estimate(prepared, plan, cluster).step_time_s);
  }
  CHECK(table.size() == 400);
}
