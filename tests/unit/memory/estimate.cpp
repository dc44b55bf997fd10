#include "support.hpp"
#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>
#endif

namespace gpuadvisor::memory::test {

using workload::Framework;
using workload::Mode;
using workload::Plan;
using workload::Recompute;
using workload::Sharding;

TEST_CASE("the verdict leaves the median error as a margin") {
  CHECK(verdict(70, 80, 0.1) == Verdict::fits);   // 77 <= 80
  CHECK(verdict(75, 80, 0.1) == Verdict::tight);  // 82.5 > 80 >= 75
  CHECK(verdict(81, 80, 0.1) == Verdict::does_not_fit);
}

TEST_CASE("7B fine-tuned whole with DeepSpeed needs 16 bytes a parameter at least") {
  const Prepared p = prepare(llama2_7b(), run(Framework::deepspeed, Mode::full_ft));
  const Plan plan{.dp = 8, .sharding = Sharding::zero3, .recompute = Recompute::full};
  const Estimate e = estimate(p, plan, cluster(8));
  CHECK(e.needed() > 16 * 6.7e9 / 8);
  CHECK(e.smi_bytes >= e.needed());
}

TEST_CASE("the static bound is under what is needed") {
  for (const Framework f :
       {Framework::hf, Framework::deepspeed, Framework::megatron, Framework::torchtitan})
    for (const Sharding s :
         {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3, Sharding::fsdp})
      for (const int pp : {1, 2, 4}) {
        const Prepared p = prepare(llama3_8b(), run(f, Mode::pretrain));
        const Plan plan{.tp = 2, .pp = pp, .dp = 4, .sharding = s, .grad_accum = 8};
        CHECK(static_lower_bound(p, plan, cluster(8 * pp)) <=
              estimate(p, plan, cluster(8 * pp)).needed() * (1 + 1e-12));
      }
}

TEST_CASE("the peak is the largest phase of the worst stage") {
  const Prepared p = prepare(llama3_8b(), run(Framework::megatron, Mode::pretrain));
  const Plan plan{.tp = 2, .pp = 4, .dp = 2, .sharding = Sharding::zero1, .grad_accum = 8};
  const Estimate e = estimate(p, plan, cluster(16));
  double worst = 0;
  for (int stage = 0; stage < 4; ++stage)
    for (const Phase phase : {Phase::loss, Phase::backward, Phase::step})
      worst = std::max(worst, phase_breakdown(p, plan, cluster(16), phase, stage).allocated());
  CHECK_THAT(e.peak.allocated(), WithinRel(worst, 1e-12));
}

TEST_CASE("fresh gradients take the place of activations") {
  // Pure 16-bit training without accumulation: weights 2, moments 4, gradients 2 bytes. The
  // backward pass holds the larger of gradients and activations, not their sum.
  workload::Training t = run(Framework::torchtune, Mode::full_ft, 4096);
  t.precision = workload::Precision::bf16_pure;
  const Prepared p = prepare(llama3_8b(), t);
  const Breakdown once = phase_breakdown(p, {}, cluster(1), Phase::backward, 0);
  const Breakdown accumulating =
      phase_breakdown(p, {.grad_accum = 4}, cluster(1), Phase::backward, 0);
  const Breakdown loss = phase_breakdown(p, {}, cluster(1), Phase::loss, 0);
  CHECK(loss.gradients == 0);
  CHECK(once.allocated() < accumulating.allocated());
  CHECK(once.activations + once.gradients >= loss.activations);
}

#if __has_include(<rapidcheck.h>)
namespace {

Plan any_plan() {
  Plan plan;
  plan.tp = *rc::gen::element(1, 2, 4, 8);
  plan.pp = *rc::gen::element(1, 2, 4);
  plan.dp = *rc::gen::element(1, 2, 4, 8);
  plan.micro_batch = *rc::gen::inRange(1, 9);
  plan.grad_accum = *rc::gen::inRange(1, 17);
  plan.recompute = *rc::gen::element(Recompute::none, Recompute::selective, Recompute::selective_op,
                                     Recompute::selective_layer, Recompute::full);
  plan.sequence_parallel = plan.tp > 1;
  return plan;
}

Framework any_framework() {
  return *rc::gen::element(Framework::hf, Framework::deepspeed, Framework::fsdp,
                           Framework::megatron, Framework::torchtitan, Framework::litgpt,
                           Framework::other);
}

double needed(const workload::Training& t, const model::Architecture& m, const Plan& plan) {
  return estimate(prepare(m, t), plan, cluster(static_cast<int>(plan.gpus()))).needed();
}

}  // namespace

TEST_CASE("memory grows with batch, length and layers") {
  CHECK(rc::check([] {
    const Plan plan = any_plan();
    auto t = run(any_framework(), *rc::gen::element(Mode::pretrain, Mode::lora), 1024);
    const double base = needed(t, llama3_8b(), plan);
    Plan bigger = plan;
    bigger.micro_batch += 1;
    RC_ASSERT(needed(t, llama3_8b(), bigger) >= base);
    auto longer = t;
    longer.seq_len = 2048;
    RC_ASSERT(needed(longer, llama3_8b(), plan) >= base);
    RC_ASSERT(needed(t, llama(48, 4096, 32, 8, 14336, 128256), plan) >= base);
  }));
}

TEST_CASE("more ZeRO never needs more for states") {
  CHECK(rc::check([] {
    Plan plan = any_plan();
    const Prepared p = prepare(llama3_8b(), run(any_framework(), Mode::pretrain, 1024));
    double before = 1e300;
    for (const Sharding s : {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
      plan.sharding = s;
      const Breakdown b =
          phase_breakdown(p, plan, cluster(static_cast<int>(plan.gpus())), Phase::backward, 0);
      const double states = b.weights + b.gradients + b.optimizer;
      // One rank has nothing to share with; HF and FSDP scripts hold other dtypes unsharded.
      if (p.training.recipe == workload::StateRecipe::deepspeed ||
          p.training.recipe == workload::StateRecipe::megatron)
        RC_ASSERT(states <= before * (1 + 1e-12));
      before = states;
    }
  }));
}

TEST_CASE("shards add up to at least the whole model") {
  CHECK(rc::check([] {
    Plan plan = any_plan();
    plan.sharding = Sharding::zero3;
    const Prepared p = prepare(llama3_8b(), run(Framework::deepspeed, Mode::full_ft, 1024));
    double sum = 0;
    for (int stage = 0; stage < plan.pp; ++stage)
      sum += plan.tp * plan.dp *
             phase_breakdown(p, plan, cluster(static_cast<int>(plan.gpus())), Phase::step, stage)
                 .weights;
    RC_ASSERT(sum >= 2 * p.counts.total * (1 - 1e-9));
  }));
}
#endif

}  // namespace gpuadvisor::memory::test
