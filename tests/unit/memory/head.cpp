#include "memory/terms.hpp"
#include "support.hpp"
#include "test_support/catch.hpp"

namespace gpuadvisor::memory::test {
namespace {

using workload::Framework;
using workload::Mode;

double head_bytes(const workload::Training& t, const workload::Plan& plan) {
  const Prepared p = prepare(llama3_8b(), t);
  const PlanContext c = context(p, plan);
  return head(c, stage_parameters(c, plan.pp - 1)).allocated;
}

}  // namespace

TEST_CASE("logits of plain torch cost 12 bytes each") {
  // 2048 tokens · 128256 · 12 = 3,152,019,456.
  const auto t = run(Framework::hf, Mode::full_ft, 2048);
  CHECK_THAT(head_bytes(t, {}), WithinRel(3152019456.0, 1e-12));
}

TEST_CASE("a parallel vocabulary is padded and divided") {
  // 128256 pads to a multiple of 128·8: 129024; 4096 tokens · 129024/8 · 6.
  const auto t = run(Framework::megatron, Mode::pretrain);
  CHECK_THAT(head_bytes(t, {.tp = 8}), WithinRel(4096.0 * 129024 / 8 * 6, 1e-12));
}

TEST_CASE("a fused linear loss works on a chunk of tokens") {
  // V/h = 31.3, so 32 chunks: 12/32 bytes a logit.
  auto t = run(Framework::hf, Mode::full_ft, 2048);
  t.loss = workload::Loss::fused;
  CHECK_THAT(head_bytes(t, {}), WithinRel(3152019456.0 / 32, 1e-12));
}

TEST_CASE("only the last stage holds logits") {
  const Prepared p = prepare(llama3_8b(), run(Framework::megatron, Mode::pretrain));
  const workload::Plan plan{.pp = 4, .grad_accum = 8};
  CHECK(head(context(p, plan), stage_parameters(context(p, plan), 0)).allocated == 0);
  CHECK(head(context(p, plan), stage_parameters(context(p, plan), 3)).allocated > 0);
}

}  // namespace gpuadvisor::memory::test
