#include "support.hpp"
#include "test_support/catch.hpp"

namespace gpuadvisor::memory::test {

using workload::Framework;
using workload::Mode;
using workload::Plan;
using workload::Sharding;

TEST_CASE("explained terms add up to the phase") {
  for (const Framework f :
       {Framework::hf, Framework::deepspeed, Framework::fsdp, Framework::megatron})
    for (const Mode mode : {Mode::full_ft, Mode::qlora})
      for (const Phase phase : {Phase::loss, Phase::backward, Phase::step})
        for (const int stage : {0, 1}) {
          const Prepared p = prepare(llama3_8b(), run(f, mode));
          const Plan plan{.pp = 2, .dp = 4, .sharding = Sharding::zero2, .grad_accum = 4};
          const double whole = phase_breakdown(p, plan, cluster(8), phase, stage).allocated();
          CHECK_THAT(explain(p, plan, cluster(8), phase, stage).sum(), WithinRel(whole, 1e-12));
        }
}

TEST_CASE("relaxations gain, and those that fit come first") {
  const Prepared p = prepare(llama2_7b(), run(Framework::deepspeed, Mode::full_ft));
  const Plan plan{.dp = 8, .micro_batch = 4, .grad_accum = 4};
  const double usable = 79 * kGiB, before = estimate(p, plan, cluster(8)).needed();
  REQUIRE(before > usable);
  const Relaxations r = relaxations(p, plan, cluster(8), usable);
  REQUIRE(r.count > 3);
  bool fitting = true, zero3 = false;
  for (int i = 0; i < r.count; ++i) {
    const Relaxation& one = r.items[static_cast<std::size_t>(i)];
    CHECK(one.gain_bytes > 0);
    CHECK(one.fits == (before - one.gain_bytes <= usable));
    CHECK((fitting || !one.fits));
    fitting = one.fits;
    zero3 = zero3 || one.name == "ZeRO-3";
  }
  CHECK(zero3);
}

TEST_CASE("a plan that needs nothing is offered nothing smaller") {
  // Micro-batch 1, ZeRO-3, full recompute: neither is proposed again.
  const Prepared p = prepare(llama2_7b(), run(Framework::deepspeed, Mode::full_ft));
  const Plan plan{.dp = 8, .sharding = Sharding::zero3, .recompute = workload::Recompute::full};
  const Relaxations r = relaxations(p, plan, cluster(8), 79 * kGiB);
  for (int i = 0; i < r.count; ++i) {
    const auto name = r.items[static_cast<std::size_t>(i)].name;
    CHECK(name != "micro-batch 1");
    CHECK(name != "full recompute");
    CHECK(name != "ZeRO-3");
  }
}

}  // namespace gpuadvisor::memory::test
