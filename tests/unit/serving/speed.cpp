#include "fixture.hpp"
#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>
#endif

using namespace gpuadvisor;
using namespace gpuadvisor::serving;

namespace {

struct Bench {
  catalog::Gpu gpu = fixture::a100();
  Model model = prepare(fixture::llama_8b());
  Request request;
  Plan plan;
  Estimate run(int gpus = 1) const {
    return estimate(model, request, plan, fixture::cluster(gpu, gpus));
  }
};

}  // namespace

TEST_CASE("a token costs at least the weights over the bandwidth") {
  Bench b;
  b.request.load = Load::batch;
  b.request.concurrency = 1;
  // 16.06 GB less the embedding (1.05 GB) at 2039 GB/s: 7.36 ms; launch and gaps add some.
  const double floor = (2 * 8030261248.0 - 2 * 525336576.0) / 2039e9;
  const Speed s = b.run().speed;
  CHECK(s.tpot_s > floor);
  CHECK(s.tpot_s < 2 * floor);
  CHECK(s.limit == Limit::bandwidth);
}

TEST_CASE("step terms sum to the step") {
  Bench b;
  const StepTime s =
      step_time(b.model, b.request, b.plan, fixture::cluster(b.gpu, 1), {16, 1000, 512, 256});
  CHECK_THAT(s.total(), WithinRel(s.weights + s.compute + s.kv_read + s.prompt_attention +
                                      s.elementwise + s.all_reduce + s.launch,
                                  1e-12));
  CHECK(s.all_reduce == 0);
  CHECK(s.prompt_attention > 0);
}

TEST_CASE("a batch takes its prompts and then its steps") {
  Bench b;
  b.request.load = Load::batch;
  b.request.concurrency = 8;
  const Speed s = b.run().speed;
  CHECK_THAT(s.output_tokens_per_s, WithinRel(8 * 256 / (s.ttft_s + 256 * s.tpot_s), 1e-9));
  CHECK_THAT(s.total_tokens_per_s, WithinRel(s.output_tokens_per_s * 1280 / 256, 1e-9));
}

TEST_CASE("replicas multiply rates and leave latencies") {
  Bench b;
  b.request.concurrency = 16;
  const Speed one = b.run(1).speed;
  b.plan.replicas = 4;
  b.request.concurrency = 64;
  const Speed four = b.run(4).speed;
  CHECK_THAT(four.output_tokens_per_s, WithinRel(4 * one.output_tokens_per_s, 1e-9));
  CHECK_THAT(four.tpot_s, WithinRel(one.tpot_s, 1e-9));
}

TEST_CASE("open load under saturation serves what arrives") {
  Bench b;
  b.request.load = Load::open;
  b.request.rate_rps = 2;
  const Speed s = b.run().speed;
  CHECK_THAT(s.requests_per_s, WithinRel(2.0, 1e-9));
  CHECK(s.utilisation < 1);
  // Little's law: sequences in flight = rate · output · time a token.
  CHECK_THAT(s.running, WithinRel(2 * 256 * s.tpot_s, 0.02));
  b.request.rate_rps = 1e4;
  const Speed full = b.run().speed;
  CHECK(full.utilisation > 1);
  CHECK(full.requests_per_s < 1e4);
  CHECK(full.ttft_s > 1);
}

TEST_CASE("speculative decoding gains what the acceptance promises") {
  Bench b;
  b.request.load = Load::batch;
  b.request.concurrency = 1;
  const double plain = b.run().speed.tpot_s;
  model::Architecture small = fixture::llama_8b();
  small.layers = 2;
  small.kinds[0].count = 2;
  const Model draft = prepare(small);
  b.request.draft.model = &draft;
  b.request.draft.tokens = 4;
  b.request.draft.acceptance = 0.8;
  // Tokens a step: (1 - 0.8^5) / 0.2 = 3.36; drafting and verifying cost part of it.
  const double with = b.run().speed.tpot_s;
  CHECK(with < plain);
  CHECK(with > plain / 3.37);
  b.request.draft.acceptance = 0;
  CHECK(b.run().speed.tpot_s > plain);
}

TEST_CASE("a prefix cache shortens the prompt") {
  Bench b;
  b.request.input_len = 8192;
  const double cold = b.run().speed.ttft_s;
  b.request.prefix_hit = 0.9;
  CHECK(b.run().speed.ttft_s < 0.4 * cold);
}

TEST_CASE("a cache that is too small bounds the batch") {
  Bench b;
  b.gpu.memory_usable_bytes = 22 * kGiB;
  b.request.load = Load::saturated;
  const Estimate e = b.run();
  CHECK(e.speed.limit == Limit::kv_capacity);
  CHECK(e.speed.running <= e.memory.kv_tokens / 1024);
}

TEST_CASE("a pipeline passes every layer and shares the load between its stages") {
  Bench b;
  const catalog::Cluster c = fixture::cluster(b.gpu, 2);
  b.plan.pp = 2;
  const StepTime one = step_time(b.model, b.request, Plan{}, c, {8, 1000, 0, 0});
  const StepTime two = step_time(b.model, b.request, b.plan, c, {16, 1000, 0, 0});
  // Two groups of eight: the time of a pass is that of eight and one hand-over.
  CHECK_THAT(two.total() - two.all_reduce, WithinRel(one.total(), 1e-9));
  CHECK(two.all_reduce > 0);
  CHECK(two.all_reduce < 1e-4);
}

TEST_CASE("a slice of a card has its share of the speed") {
  Bench b;
  catalog::Instance slice;
  slice.gpu_fraction = 0.25;
  catalog::Cluster c = fixture::cluster(b.gpu, 1);
  const StepTime whole = step_time(b.model, b.request, b.plan, c, {8, 1000, 0, 0});
  c.instance = &slice;
  const StepTime quarter = step_time(b.model, b.request, b.plan, c, {8, 1000, 0, 0});
  CHECK_THAT(quarter.weights, WithinRel(4 * whole.weights, 1e-9));
  CHECK(quarter.launch == whole.launch);
}

TEST_CASE("token times split the time of a request") {
  Bench b;
  const Speed s = b.run().speed;
  // 1024 prompt and 256 output tokens a request.
  CHECK_THAT(1024 * s.input_token_s + 256 * s.output_token_s,
             WithinRel(1 / s.requests_per_s, 1e-9));
  CHECK(s.output_token_s > 5 * s.input_token_s);
}

TEST_CASE("need counts the cache of all running sequences") {
  Bench b;
  const Memory one = estimate_memory(b.model, b.request, b.plan, fixture::cluster(b.gpu, 1));
  const Estimate e = b.run();
  // 15 more sequences of 1280 tokens at 131,072 bytes.
  CHECK_THAT(e.memory.need - one.need, WithinRel(15 * 1280 * 131072.0, 1e-9));
  CHECK(e.memory.need <= e.memory.reserved);
}

#if __has_include(<rapidcheck.h>)
TEST_CASE("steps never get shorter with more work") {
  const Bench b;
  const catalog::Cluster c = fixture::cluster(b.gpu, 8);
  const bool ok = rc::check([&] {
    Request request;
    request.engine = static_cast<Engine>(*rc::gen::inRange(0, 9));
    request.quant = static_cast<Quant>(*rc::gen::inRange(0, 10));
    Plan plan;
    plan.tp = 1 << *rc::gen::inRange(0, 4);
    StepWork work{static_cast<double>(*rc::gen::inRange(1, 256)),
                  static_cast<double>(*rc::gen::inRange(1, 30000)), 0, 0};
    const double base = step_time(b.model, request, plan, c, work).total();
    StepWork more = work;
    more.sequences += 1;
    RC_ASSERT(step_time(b.model, request, plan, c, more).total() >= base * (1 - 1e-12));
    more = work;
    more.context += 1000;
    RC_ASSERT(step_time(b.model, request, plan, c, more).total() >= base * (1 - 1e-12));
    more = work;
    more.prompt_tokens = *rc::gen::inRange(2, 8192);
    more.prompt_context = more.prompt_tokens / 2;
    RC_ASSERT(step_time(b.model, request, plan, c, more).total() >= base * (1 - 1e-12));
  });
  CHECK(ok);
}
#endif
