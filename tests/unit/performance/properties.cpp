#include "fixtures.hpp"
#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>

using namespace gpuadvisor;
using namespace gpuadvisor::performance;

namespace {

int power_of_two(int most) { return 1 << *rc::gen::inRange(0, most + 1); }

struct Case {
  model::Architecture model;
  workload::Training training;
  workload::Plan plan;
  catalog::Gpu gpu = testing::a100();
  int gpus = 8;

  [[nodiscard]] Estimate run() const {
    const auto prepared = memory::prepare(model, training);
    return performance::estimate(prepared, plan, testing::cluster_of(gpus, gpu));
  }
  [[nodiscard]] double bound() const {
    const auto prepared = memory::prepare(model, training);
    return performance::compute_lower_bound(prepared, plan, testing::cluster_of(gpus, gpu));
  }
};

Case any_case() {
  using workload::Framework;
  Case c;
  c.model = *rc::gen::arbitrary<bool>() ? testing::dense_model() : testing::expert_model();
  const auto mode = *rc::gen::element(workload::Mode::pretrain, workload::Mode::full_ft,
                                      workload::Mode::lora, workload::Mode::qlora);
  const auto framework =
      *rc::gen::element(Framework::megatron, Framework::nemo, Framework::hf, Framework::fsdp,
                        Framework::torchtitan, Framework::deepspeed);
  c.training = testing::training_of(mode, framework);
  if (mode == workload::Mode::qlora) c.training.quant = workload::Quant::nf4;
  c.training.lora_parameters = c.training.adapters() ? 2e7 : 0;
  c.training.seq_len = 512LL * power_of_two(5);
  c.plan.tp = power_of_two(3);
  c.plan.pp = power_of_two(2);
  c.plan.cp = power_of_two(1);
  c.plan.dp = power_of_two(4);
  c.plan.micro_batch = power_of_two(2);
  c.plan.sequence_parallel = c.plan.tp > 1 && *rc::gen::arbitrary<bool>();
  c.plan.recompute = *rc::gen::element(workload::Recompute::none, workload::Recompute::selective,
                                       workload::Recompute::full);
  c.plan.sharding = *rc::gen::element(workload::Sharding::none, workload::Sharding::zero1,
                                      workload::Sharding::zero2, workload::Sharding::fsdp,
                                      workload::Sharding::zero3);
  if (c.model.is_moe() && c.plan.dp >= 8) c.plan.ep = power_of_two(3);
  c.gpus = static_cast<int>(c.plan.gpus());
  c.plan.grad_accum = static_cast<std::int32_t>(workload::micro_batches(c.training, c.plan));
  return c;
}

}  // namespace

TEST_CASE("the terms of a step sum to it, none is negative", "[property]") {
  CHECK(rc::check([] {
    const Estimate e = any_case().run();
    const StepBreakdown& b = e.breakdown;
    RC_ASSERT(e.step_time_s == b.total());
    RC_ASSERT(e.step_time_s > 0);
    for (const double term :
         {b.compute, b.recompute, b.tensor_comm, b.context_comm, b.expert_comm, b.pipeline_comm,
          b.data_comm, b.bubble, b.optimizer, b.offload, b.host, b.straggler})
      RC_ASSERT(term >= -1e-9 * e.step_time_s);
    RC_ASSERT(e.mfu > 0 && e.mfu < 1);
    RC_ASSERT(e.hfu >= e.mfu);
  }));
}

TEST_CASE("no step beats its lower bound", "[property]") {
  CHECK(rc::check([] {
    const Case c = any_case();
    RC_ASSERT(c.bound() <= c.run().step_time_s);
    RC_ASSERT(c.bound() > 0);
  }));
}

TEST_CASE("more bandwidth or matmul rate is never slower", "[property]") {
  CHECK(rc::check([] {
    Case c = any_case();
    const double before = c.run().step_time_s;
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        c.gpu.memory_bandwidth *= 1.5;
        break;
      case 1:
        c.gpu.allreduce_bw *= 1.5, c.gpu.allgather_bw *= 1.5;
        break;
      case 2:
        c.gpu.r16 *= 1.1;
        break;
      default:
        c.gpu.fa2 *= 1.2;
        break;
    }
    RC_ASSERT(c.run().step_time_s <= before * (1 + 1e-9));
  }));
}

TEST_CASE("a longer sequence or a deeper model is never faster", "[property]") {
  CHECK(rc::check([] {
    Case c = any_case();
    const double before = c.run().step_time_s;
    if (*rc::gen::arbitrary<bool>()) {
      c.training.seq_len *= 2;
    } else {
      c.model.layers += 4 * c.plan.pp;
      c.model.kinds[0].count = c.model.layers;
    }
    RC_ASSERT(c.run().step_time_s >= before * (1 - 1e-9));
  }));
}

TEST_CASE("recompute never saves time", "[property]") {
  CHECK(rc::check([] {
    Case c = any_case();
    c.plan.recompute = workload::Recompute::none;
    const double none = c.run().step_time_s;
    c.plan.recompute = workload::Recompute::full;
    RC_ASSERT(c.run().step_time_s >= none);
  }));
}

#endif
