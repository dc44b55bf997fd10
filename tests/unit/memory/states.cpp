#include "memory/terms.hpp"
#include "support.hpp"
#include "test_support/catch.hpp"

namespace gpuadvisor::memory::test {
namespace {

using workload::Framework;
using workload::Mode;
using workload::Optimizer;
using workload::Sharding;

StageParameters parameters(double dense) {
  StageParameters own;
  own.dense = dense;
  own.linear = dense;
  return own;
}

States states_of(const Prepared& p, const workload::Plan& plan, const StageParameters& own) {
  return states(context(p, plan), own);
}

double state_bytes(const States& s) { return s.weights + s.gradients + s.optimizer; }

double zero_states(Sharding sharding, int dp) {
  const Prepared p = prepare(llama2_7b(), run(Framework::deepspeed, Mode::full_ft));
  return state_bytes(states_of(p, {.dp = dp, .sharding = sharding}, parameters(7.5e9)));
}

}  // namespace

TEST_CASE("the ZeRO paper's 7.5B on 64 GPUs") {
  // arXiv 1910.02054 figure 1: 120 GB, 31.4 (4P + 12P/64), 16.6 (2P + 14P/64), 1.9 (16P/64).
  CHECK_THAT(zero_states(Sharding::none, 64), WithinRel(120e9, 1e-12));
  CHECK_THAT(zero_states(Sharding::zero1, 64), WithinRel(31.40625e9, 1e-12));
  CHECK_THAT(zero_states(Sharding::zero2, 64), WithinRel(16.640625e9, 1e-12));
  CHECK_THAT(zero_states(Sharding::zero3, 64), WithinRel(1.875e9, 1e-12));
}

TEST_CASE("Megatron keeps fp32 main gradients and shards 12 bytes") {
  const Prepared p = prepare(llama3_8b(), run(Framework::megatron, Mode::pretrain));
  const workload::Plan plan{.dp = 8, .sharding = Sharding::zero1};
  const States s = states_of(p, plan, parameters(8e9));
  CHECK_THAT(s.weights, WithinRel(16e9, 1e-12));
  CHECK_THAT(s.gradients, WithinRel(32e9, 1e-12));
  CHECK_THAT(s.optimizer, WithinRel(12e9, 1e-12));
  CHECK(s.gradients_always);
}

TEST_CASE("stage parameters of Llama-3-8B under tp 2 agree with SimuMax") {
  // 32 layers of 4096·(4096·2 + 1024·2)/2 + 3·4096·14336/2 + 2·4096 parameters, embedding
  // and head 128256·4096/2 each, final norm 4096: 4,016,312,320; 2 bytes each 7.4810 GiB,
  // which SimuMax prints for tp2_pp1_dp4 with a vocabulary padded by one more block of 128.
  const Prepared p = prepare(llama3_8b(), run(Framework::megatron, Mode::pretrain));
  const workload::Plan plan{.tp = 2, .dp = 4};
  const StageParameters own = stage_parameters(context(p, plan), 0);
  CHECK_THAT(2 * own.total() / kGiB, WithinRel(7.4810, 5e-4));
}

TEST_CASE("experts share their states among fewer ranks") {
  // Expert data-parallel size = dp·cp·tp/ep: 8·1·1/4 = 2 against 8 for dense parameters.
  const Prepared p = prepare(mixtral(), run(Framework::megatron, Mode::pretrain));
  StageParameters own = parameters(1e9);
  own.expert = 2e9;
  const States s = states_of(p, {.ep = 4, .dp = 8, .sharding = Sharding::zero1}, own);
  CHECK_THAT(s.optimizer, WithinRel(12 * (1e9 / 8 + 2e9 / 2), 1e-12));
}

TEST_CASE("bytes of optimizers") {
  const auto optimizer_bytes = [](Optimizer o) {
    workload::Training t = run(Framework::deepspeed, Mode::full_ft);
    t.optimizer = o;
    return states_of(prepare(llama2_7b(), t), {}, parameters(1e9)).optimizer / 1e9;
  };
  CHECK_THAT(optimizer_bytes(Optimizer::adamw), WithinRel(12.0, 1e-12));
  CHECK_THAT(optimizer_bytes(Optimizer::lion), WithinRel(8.0, 1e-12));
  CHECK_THAT(optimizer_bytes(Optimizer::sgd), WithinRel(8.0, 1e-12));
  // Master 4, two moments of one byte and 4/256 of scale.
  CHECK_THAT(optimizer_bytes(Optimizer::adamw_8bit), WithinRel(4 + 2 * (1 + 4.0 / 256), 1e-9));
  CHECK_THAT(optimizer_bytes(Optimizer::adamw_paged), WithinRel(4.0, 1e-12));
  // Factored: rows and columns only, under 0.01 bytes.
  CHECK(optimizer_bytes(Optimizer::adafactor) < 4.01);
  CHECK(optimizer_bytes(Optimizer::muon) > 8.0);
  CHECK(optimizer_bytes(Optimizer::muon) < 8.5);
  CHECK(optimizer_bytes(Optimizer::galore) < optimizer_bytes(Optimizer::adamw));
}

TEST_CASE("a quantised base and its adapters") {
  // NF4: 0.5 + 4/64 bytes; double quantisation 0.5 + 1/64 + 4/(64·256); rest 2 bytes.
  workload::Training t = run(Framework::hf, Mode::qlora);
  t.lora_parameters = 40e6;
  StageParameters own = parameters(1e9);
  own.dense = 1.2e9;
  const auto weights = [&](workload::Quant q) {
    t.quant = q;
    return states_of(prepare(llama2_7b(), t), {}, own).weights;
  };
  const double rest = 2 * 0.2e9 + 4 * 40e6;
  CHECK_THAT(weights(workload::Quant::nf4), WithinRel(0.5625e9 + rest, 1e-12));
  CHECK_THAT(weights(workload::Quant::nf4_dq),
             WithinRel(1e9 * (0.515625 + 4.0 / 16384) + rest, 1e-12));
  CHECK_THAT(weights(workload::Quant::gptq_int4), WithinRel(0.51953125e9 + rest, 1e-12));
}

TEST_CASE("adapters: fp32 under PEFT, 16 bytes a parameter shared under ZeRO") {
  workload::Training t = run(Framework::hf, Mode::lora);
  t.lora_parameters = 10e6;
  const Prepared p = prepare(llama2_7b(), t);
  const States single = states_of(p, {}, parameters(1e9));
  CHECK_THAT(single.weights, WithinRel(2e9 + 40e6, 1e-12));
  CHECK_THAT(single.optimizer, WithinRel(80e6, 1e-12));
  const States zero = states_of(p, {.dp = 4, .sharding = Sharding::zero2}, parameters(1e9));
  CHECK_THAT(zero.optimizer, WithinRel(40e6, 1e-12));
}

TEST_CASE("offloaded optimizer moves 16 bytes a parameter to the host") {
  // 7e9 parameters, 8 GPUs of one node: 12 of states and 4 of fp32 gradients each: 112e9.
  const Prepared p = prepare(llama2_7b(), run(Framework::deepspeed, Mode::full_ft));
  const workload::Plan plan{
      .dp = 8, .sharding = Sharding::zero3, .offload = workload::kOffloadOptimizer};
  const States s = states_of(p, plan, parameters(7e9));
  CHECK_THAT(s.host, WithinRel(16 * 7e9 / 8, 1e-12));
  CHECK(s.optimizer == 0);
}

TEST_CASE("preference tuning holds a frozen reference") {
  const auto weights = [](Mode mode) {
    return states_of(prepare(llama2_7b(), run(Framework::deepspeed, mode)), {}, parameters(1e9))
        .weights;
  };
  CHECK_THAT(weights(Mode::dpo) - weights(Mode::full_ft), WithinRel(2e9, 1e-12));
}

TEST_CASE("preference tuning with adapters needs no second model") {
  workload::Training t = run(Framework::hf, Mode::dpo);
  t.lora_parameters = 10e6;
  const States s = states_of(prepare(llama2_7b(), t), {}, parameters(1e9));
  CHECK_THAT(s.weights, WithinRel(2e9 + 40e6, 1e-12));
}

TEST_CASE("paged moments lie in host memory") {
  // 10e6 adapter parameters, two fp32 moments: 80e6 bytes.
  workload::Training t = run(Framework::hf, Mode::qlora);
  t.lora_parameters = 10e6;
  t.optimizer = Optimizer::adamw_paged;
  const States s = states_of(prepare(llama2_7b(), t), {}, parameters(1e9));
  CHECK(s.optimizer == 0);
  CHECK_THAT(s.host, WithinRel(80e6, 1e-12));
}

}  // namespace gpuadvisor::memory::test
