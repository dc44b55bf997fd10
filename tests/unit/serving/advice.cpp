#include "fixture.hpp"

#include <algorithm>

#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::serving;

TEST_CASE("the largest context is the last one that fits") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  catalog::Cluster c = fixture::cluster(gpu, 1);
  CHECK(largest_context(model, request, Plan{}, c) == 131072);
  c.gpu_memory_bytes = 24 * kGiB;
  const double most = largest_context(model, request, Plan{}, c);
  // Pool 0.9·24 GiB - 16.06e9 - 1.267e9 - 0.08 GiB at 131,072 bytes a token.
  const double pool = 0.9 * 24 * kGiB - 2 * 8030261248.0 - 38.6 * 256 * 128256 - 0.08 * kGiB;
  CHECK_THAT(most, WithinAbs(pool / 131072, 2));
  c.gpu_memory_bytes = 8 * kGiB;
  CHECK(largest_context(model, request, Plan{}, c) == 0);
}

TEST_CASE("throughput beyond the knee gains little") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  const catalog::Cluster c = fixture::cluster(gpu, 1);
  const Saturation knee = saturation(model, request, Plan{}, c);
  CHECK(knee.concurrency > 8);
  request.load = Load::saturated;
  const double most = estimate(model, request, Plan{}, c).speed.output_tokens_per_s;
  CHECK(knee.output_tokens_per_s <= most * 1.0001);
  CHECK(knee.output_tokens_per_s > 0.5 * most);
}

TEST_CASE("targets are met, and a little more load misses them") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  const catalog::Cluster c = fixture::cluster(gpu, 1);
  Request request;
  request.tpot_target_s = 0.020;
  request.ttft_target_s = 1;
  for (const Load load : {Load::closed, Load::open}) {
    request.load = load;
    const auto found = meet_targets(model, request, Plan{}, c);
    REQUIRE(found);
    CHECK(found->speed.tpot_s <= 0.020);
    CHECK(found->speed.ttft_s <= 1);
    CHECK(found->speed.requests_per_s > 0.5);
    Request more = request;
    more.concurrency = found->speed.running * 1.2 + 2;
    more.rate_rps = found->speed.requests_per_s * 1.2;
    const Speed s = estimate(model, more, Plan{}, c).speed;
    CHECK((s.tpot_s > 0.020 || s.ttft_s > 1 || s.utilisation > 1));
  }
  request.tpot_target_s = 1e-4;
  CHECK_FALSE(meet_targets(model, request, Plan{}, c));
}

TEST_CASE("options fill the cluster and mark the front") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  request.concurrency = 64;
  const Quant formats[] = {Quant::none, Quant::awq_int4, Quant::fp4};
  const auto options = compare_options(model, request, fixture::cluster(gpu, 8), formats);
  REQUIRE(options.size() == 12);
  CHECK(options.front().pareto);
  double fastest = 1e9;
  for (const Option& o : options) {
    CHECK(o.plan.gpus() == 8);
    CHECK(o.estimate.memory.fits);
    CHECK(o.pareto == (o.estimate.speed.tpot_s < fastest));
    fastest = std::min(fastest, o.estimate.speed.tpot_s);
  }
}

TEST_CASE("what a card cannot run is refused with the reason") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  Plan plan;
  CHECK(refusal(model, request, plan, gpu).empty());
  plan.tp = 3;
  CHECK_FALSE(refusal(model, request, plan, gpu).empty());
  plan.tp = 1;
  request.quant = Quant::fp8;
  request.engine = Engine::tensorrt_llm;
  CHECK_FALSE(refusal(model, request, plan, gpu).empty());
  request.quant = Quant::gguf_q4_0;
  CHECK_FALSE(refusal(model, request, plan, gpu).empty());
}

TEST_CASE("pipelines are tried across nodes and over PCIe only") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  const Request request;
  const Quant formats[] = {Quant::none};
  const auto pipelines = [&](const catalog::Cluster& c) {
    int found = 0;
    for (const Option& o : compare_options(model, request, c, formats))
      found += o.plan.pp > 1 ? 1 : 0;
    return found;
  };
  catalog::Cluster c = fixture::cluster(gpu, 4);
  CHECK(pipelines(c) == 0);
  c.link = catalog::NodeLink::pcie;
  CHECK(pipelines(c) == 3);  // tp x pp: 1 x 2, 1 x 4, 2 x 2
  c.link = catalog::NodeLink::nvlink;
  c.gpus = 8;
  CHECK(pipelines(c) == 1);  // tp 4, a stage a node
}

TEST_CASE("engines without tensor parallelism split layers") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  request.engine = Engine::llama_cpp;
  request.version = 0;
  const Quant formats[] = {Quant::gguf_q4_k_m};
  for (const Option& o : compare_options(model, request, fixture::cluster(gpu, 4), formats)) {
    CHECK(o.plan.tp == 1);
    CHECK(o.plan.gpus() == 4);
    CHECK(o.plan.layer_split == (o.plan.split_gpus > 1));
  }
}

TEST_CASE("plans are told in words") {
  Plan plan;
  CHECK(describe(plan) == "TP1 x 1 replica");
  plan.tp = 8;
  plan.pp = 2;
  plan.replicas = 3;
  CHECK(describe(plan) == "TP8 x PP2 x 3 replicas");
}
