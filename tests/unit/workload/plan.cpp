#include "gpuadvisor/workload.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::workload;

TEST_CASE("a plan describes itself in the field's words") {
  Plan plan;
  plan.tp = 4;
  plan.pp = 2;
  plan.dp = 8;
  plan.sharding = Sharding::zero1;
  plan.micro_batch = 2;
  plan.recompute = Recompute::full;
  CHECK(describe(plan) == "TP4 x PP2 x DP8, ZeRO-1, micro-batch 2, full recompute");
  CHECK(plan.gpus() == 64);
  Plan one;
  one.offload = kOffloadOptimizer | kOffloadParams;
  CHECK(describe(one) == "1 GPU, micro-batch 1, no recompute, optimizer+parameters offloaded");
}

TEST_CASE("ZeRO stages of the shardings") {
  CHECK(zero_stage(Sharding::none) == 0);
  CHECK(zero_stage(Sharding::zero1) == 1);
  CHECK(zero_stage(Sharding::zero2) == 2);
  CHECK(zero_stage(Sharding::fsdp_grad_op) == 2);
  CHECK(zero_stage(Sharding::zero3) == 3);
  CHECK(zero_stage(Sharding::fsdp) == 3);
  CHECK(zero_stage(Sharding::hsdp) == 3);
}

TEST_CASE("stages share layers, the first ones take the rest") {
  // 10 = 3 + 3 + 2 + 2
  CHECK(stage_layers(10, 4, 0) == 3);
  CHECK(stage_layers(10, 4, 1) == 3);
  CHECK(stage_layers(10, 4, 2) == 2);
  CHECK(stage_layers(10, 4, 3) == 2);
  for (int layers = 1; layers < 40; ++layers)
    for (int pp = 1; pp <= layers; ++pp) {
      int sum = 0;
      for (int stage = 0; stage < pp; ++stage) sum += stage_layers(layers, pp, stage);
      REQUIRE(sum == layers);
    }
}

TEST_CASE("micro-batches a step and replica") {
  Training training;
  training.global_batch = 1536;
  Plan plan;
  plan.micro_batch = 2;
  plan.dp = 8;
  CHECK(micro_batches(training, plan) == 96);  // 1536 / (2 x 8)
  training.global_batch = 4;
  CHECK(micro_batches(training, plan) == 1);  // never less than one
}

TEST_CASE("the states kept depend on what shards them") {
  Training training;
  training.recipe = StateRecipe::hf_16bit;
  CHECK(effective_recipe(training, Sharding::none) == StateRecipe::hf_16bit);
  CHECK(effective_recipe(training, Sharding::zero2) == StateRecipe::deepspeed);
  CHECK(effective_recipe(training, Sharding::fsdp) == StateRecipe::fsdp_mixed);
  training.precision = Precision::bf16_pure;
  CHECK(effective_recipe(training, Sharding::fsdp) == StateRecipe::hf_16bit);
  training.precision = Precision::bf16;
  training.recipe = StateRecipe::megatron;
  CHECK(effective_recipe(training, Sharding::fsdp) == StateRecipe::megatron);
}
