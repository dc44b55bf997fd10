#include "memory/layer_bytes.hpp"
#include "support.hpp"
#include "test_support/catch.hpp"

namespace gpuadvisor::memory::test {
namespace {

using workload::Framework;
using workload::Mode;

Prepared korthikanti(int hidden, int heads) {
  workload::Training t = run(Framework::megatron, Mode::pretrain, 2048);
  t.attention = workload::Attention::eager;
  t.dropout = 0.1;
  return prepare(gpt(48, hidden, heads), t);
}

double kept(const Prepared& p, workload::Recompute r, double tp, bool sp) {
  return p.layer[0].kept[static_cast<std::size_t>(r)].at(tp, sp);
}

}  // namespace

TEST_CASE("a GPT layer keeps the bytes of Korthikanti 2022") {
  // 34·h + 5·a·s bytes a token; tensor parallel 10·h + 24·h/t + 5·a·s/t; with sequence
  // parallelism (34·h + 5·a·s)/t; selective drops 5·a·s; full keeps 2·h.
  // 22B: h 6144, a 64, s 2048: 34·6144 + 5·64·2048 = 208896 + 655360 = 864256.
  const Prepared p = korthikanti(6144, 64);
  using workload::Recompute;
  CHECK_THAT(kept(p, Recompute::none, 1, false), WithinRel(864256.0, 1e-12));
  CHECK_THAT(kept(p, Recompute::none, 8, false), WithinRel(61440 + (147456 + 655360) / 8.0, 1e-12));
  CHECK_THAT(kept(p, Recompute::none, 8, true), WithinRel(864256.0 / 8, 1e-12));
  CHECK_THAT(kept(p, Recompute::selective, 8, false), WithinRel(61440 + 147456 / 8.0, 1e-12));
  CHECK_THAT(kept(p, Recompute::selective, 8, true), WithinRel(208896 / 8.0, 1e-12));
  CHECK_THAT(kept(p, Recompute::full, 8, false), WithinRel(12288.0, 1e-12));
}

TEST_CASE("the published layer sizes of the four paper models") {
  // Table 2 of the paper in GiB, micro-batch 4 for 22B, else 1; tp 8.
  struct Case {
    int hidden, heads, batch;
    double whole, tensor, sequence;
  };
  for (const Case& c : {Case{6144, 64, 4, 6.59375, 1.234375, 0.82421875},
                        Case{12288, 96, 1, 2.671875, 0.5390625, 0.333984375},
                        Case{20480, 128, 1, 3.828125, 0.8203125, 0.478515625},
                        Case{25600, 160, 1, 4.78515625, 1.025390625, 0.59814453125}}) {
    const Prepared p = korthikanti(c.hidden, c.heads);
    const double tokens = 2048.0 * c.batch / kGiB;
    CHECK_THAT(tokens * kept(p, workload::Recompute::none, 1, false), WithinRel(c.whole, 1e-9));
    CHECK_THAT(tokens * kept(p, workload::Recompute::none, 8, false), WithinRel(c.tensor, 1e-9));
    CHECK_THAT(tokens * kept(p, workload::Recompute::none, 8, true), WithinRel(c.sequence, 1e-9));
  }
}

TEST_CASE("flash attention keeps row statistics instead of scores") {
  // Llama-3-8B fused, a token: two norms 2·4h = 32768; q,k,v 2·(4096 + 2·1024) = 12288;
  // output 8192; statistics 4·32 = 128; MLP 6f = 86016. Sum 139392.
  const Prepared p = prepare(llama3_8b(), run(Framework::megatron, Mode::pretrain));
  CHECK_THAT(kept(p, workload::Recompute::none, 1, false), WithinRel(139392.0, 1e-12));
  // Only the norms are divided by sequence parallelism alone: 32768/4 + 106624/4.
  CHECK_THAT(kept(p, workload::Recompute::none, 4, true), WithinRel(139392.0 / 4, 1e-12));
}

TEST_CASE("plain torch keeps more and frozen weights less") {
  // Full training, eager: norms 2·8h, MLP 8f; adapters frozen: norms 2·4h, MLP 6f plus
  // adapters on q and v: (2 + 1 + 2)·h each.
  const Prepared full = prepare(llama2_7b(), run(Framework::hf, Mode::full_ft));
  const double attention = 2 * 3 * 4096 + 2 * 4096 + 4 * 32;
  CHECK_THAT(kept(full, workload::Recompute::none, 1, false),
             WithinRel(16 * 4096 + attention + 8 * 11008, 1e-12));
  workload::Training lora = run(Framework::hf, Mode::lora);
  lora.lora.targets = model::kTargetQ | model::kTargetV;
  const Prepared frozen = prepare(llama2_7b(), lora);
  CHECK_THAT(kept(frozen, workload::Recompute::none, 1, false),
             WithinRel(8 * 4096 + attention + 6 * 11008 + 2 * 5 * 4096, 1e-12));
}

TEST_CASE("an expert layer keeps the tokens it dispatches") {
  // Mixtral fused: 12·E = 96 router, K·(2h + 6fe) = 2·(8192 + 86016) = 188416.
  const Prepared dense = prepare(llama3_8b(), run(Framework::megatron, Mode::pretrain));
  const Prepared moe = prepare(mixtral(), run(Framework::megatron, Mode::pretrain));
  const double difference = kept(moe, workload::Recompute::none, 1, false) -
                            kept(dense, workload::Recompute::none, 1, false);
  CHECK_THAT(difference, WithinRel(96.0 + 188416.0 - 86016.0, 1e-12));
}

TEST_CASE("micro-batches in flight by schedule") {
  workload::Training t = run(Framework::megatron, Mode::pretrain);
  const Prepared p = prepare(llama3_8b(), t);
  workload::Plan plan{.pp = 4, .grad_accum = 16};
  CHECK_THAT(in_flight(context(p, plan), 0), WithinRel(4.0, 1e-12));
  CHECK_THAT(in_flight(context(p, plan), 3), WithinRel(1.0, 1e-12));
  plan.vpp = 2;  // (2·3 + 4 + 1)/2 = 5.5 on the first, (0 + 4 + 1)/2 on the last
  CHECK_THAT(in_flight(context(p, plan), 0), WithinRel(5.5, 1e-12));
  CHECK_THAT(in_flight(context(p, plan), 3), WithinRel(2.5, 1e-12));
  plan.vpp = 1;
  plan.schedule = workload::Schedule::gpipe;
  CHECK_THAT(in_flight(context(p, plan), 2), WithinRel(16.0, 1e-12));
  plan.schedule = workload::Schedule::one_f_one_b;
  plan.grad_accum = 2;  // fewer micro-batches than stages
  CHECK_THAT(in_flight(context(p, plan), 0), WithinRel(2.0, 1e-12));
}

}  // namespace gpuadvisor::memory::test
