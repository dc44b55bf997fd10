#include "gpuadvisor/planner.hpp"
#include "test_support/catch.hpp"
#include "test_support/planning.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::planner;
using workload::Framework;
using workload::Plan;
using workload::Sharding;

namespace {

std::string refusal(const Plan& plan, int gpus, Framework framework = Framework::megatron,
                    int per_node = 8) {
  const auto result = check_plan(test::small_model(), test::small_run(framework), plan,
                                 test::small_cluster(gpus, per_node));
  return result ? std::string{} : result.error().message;
}

Plan plan_of(int tp, int pp, int dp, int micro_batch = 1) {
  Plan plan;
  plan.tp = tp;
  plan.pp = pp;
  plan.dp = dp;
  plan.micro_batch = micro_batch;
  plan.grad_accum = 64 / (micro_batch * dp);
  return plan;
}

}  // namespace

TEST_CASE("a plain plan is legal") {
  CHECK(refusal(plan_of(4, 2, 2), 16).empty());
  CHECK(refusal(plan_of(1, 1, 8), 8).empty());
}

TEST_CASE("tensor parallelism divides heads and stays in a node") {
  CHECK(refusal(plan_of(3, 1, 1), 3) == "tp 3 does not divide 16 attention heads");
  CHECK(refusal(plan_of(16, 1, 1), 16) == "tp 16 does not divide the 8 GPUs of a node");
  auto across = check_plan(test::small_model(), test::small_run(Framework::megatron),
                           plan_of(16, 1, 1), test::small_cluster(16), true);
  CHECK(across);
}

TEST_CASE("key and value heads are divided or replicated") {
  // 16 heads, 6 key/value heads: tp 4 neither divides 6 nor is a multiple of it.
  const auto odd = check_plan(test::small_model(24, 16, 6), test::small_run(Framework::megatron),
                              plan_of(4, 1, 1), test::small_cluster(4));
  REQUIRE_FALSE(odd);
  CHECK_THAT(odd.error().message, ContainsSubstring("6 key/value heads"));
  CHECK(odd.error().where == "--tp");
}

TEST_CASE("the product of the degrees is the number of GPUs") {
  CHECK(refusal(plan_of(2, 2, 2), 16) == "tp 2 x pp 2 x cp 1 x dp 2 = 8 GPUs, the cluster has 16");
}

TEST_CASE("pipeline stages need layers, and interleaving whole shares of them") {
  CHECK_THAT(refusal(plan_of(1, 32, 1), 32), ContainsSubstring("exceeds 24 layers"));
  CHECK_THAT(refusal(plan_of(1, 16, 1), 16), ContainsSubstring("does not divide 24 layers"));
  Plan plan = plan_of(1, 4, 1);
  plan.vpp = 5;
  plan.schedule = workload::Schedule::interleaved;
  CHECK_THAT(refusal(plan, 4), ContainsSubstring("pp 4 x vpp 5 does not divide 24 layers"));
  plan.vpp = 3;
  CHECK(refusal(plan, 4).empty());
  plan = plan_of(1, 1, 4);
  plan.vpp = 2;
  CHECK(refusal(plan, 4) == "vpp above 1 needs pp above 1");
}

TEST_CASE("the batch divides into micro-batches") {
  CHECK_THAT(refusal(plan_of(1, 1, 8, 16), 8),
             ContainsSubstring("does not divide the global batch 64"));
  Plan plan = plan_of(1, 1, 8);
  plan.grad_accum = 3;
  CHECK_THAT(refusal(plan, 8), ContainsSubstring("the batch gives 8"));
}

TEST_CASE("sharding follows the framework") {
  Plan plan = plan_of(1, 1, 8);
  plan.sharding = Sharding::fsdp;
  CHECK_THAT(refusal(plan, 8), ContainsSubstring("has no sharding fsdp"));
  CHECK(refusal(plan, 8, Framework::fsdp).empty());
  plan.sharding = Sharding::zero3;
  CHECK(refusal(plan, 8, Framework::deepspeed).empty());
  plan = plan_of(1, 2, 4);
  plan.sharding = Sharding::zero3;
  CHECK_THAT(refusal(plan, 8, Framework::deepspeed),
             ContainsSubstring("cannot be combined with pp 2"));
}

TEST_CASE("offload needs sharded states") {
  Plan plan = plan_of(1, 1, 8);
  plan.sharding = Sharding::zero2;
  plan.offload = workload::kOffloadParams;
  CHECK_THAT(refusal(plan, 8, Framework::deepspeed), ContainsSubstring("cannot offload"));
  plan.offload = workload::kOffloadOptimizer;
  CHECK(refusal(plan, 8, Framework::deepspeed).empty());
}

TEST_CASE("context parallelism needs two chunks of the sequence a rank") {
  Plan plan = plan_of(1, 1, 1);
  plan.cp = 3;
  CHECK_THAT(refusal(plan, 3), ContainsSubstring("cp 3 does not divide the sequence length 4096"));
}

TEST_CASE("expert parallelism needs experts") {
  Plan plan = plan_of(1, 1, 8);
  plan.ep = 4;
  CHECK(refusal(plan, 8) == "ep above 1 needs a model with experts");
  auto moe = test::small_model();
  moe.experts = 8;
  moe.expert_ffn = 1024;
  CHECK(check_plan(moe, test::small_run(Framework::megatron), plan, test::small_cluster(8)));
  plan.ep = 3;
  CHECK_FALSE(check_plan(moe, test::small_run(Framework::megatron), plan, test::small_cluster(8)));
}

TEST_CASE("an empty space is explained by its first broken rule") {
  Constraints constraints;
  constraints.tp = 3;
  const auto text = explain_no_plan(test::small_model(), test::small_run(Framework::megatron),
                                    test::small_cluster(8), constraints);
  CHECK(text == "tp 3 does not divide 16 attention heads");
  constraints.tp = 4;
  CHECK(explain_no_plan(test::small_model(), test::small_run(Framework::megatron),
                        test::small_cluster(8), constraints)
            .empty());
}
