#include "fixture.hpp"
#include "test_support/catch.hpp"

#include <cmath>

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>
#endif

using namespace gpuadvisor;
using namespace gpuadvisor::serving;

TEST_CASE("a token of grouped-query cache") {
  const Model model = prepare(fixture::llama_8b());
  Plan plan;
  // 32 layers · 2 · 8 heads · 128 · 2 bytes = 131,072.
  CHECK(kv_bytes(model, plan, 1, 2, true) == 131072);
  plan.tp = 8;
  CHECK(kv_bytes(model, plan, 1, 2, true) == 16384);
  plan.tp = 16;  // replicated: one head a rank
  CHECK(kv_bytes(model, plan, 1, 2, true) == 16384);
  CHECK(kv_bytes(model, plan, 10, 1, true) == 81920);
}

TEST_CASE("latent attention is never divided by tensor parallelism") {
  model::Architecture a = fixture::llama_8b();
  a.kv_lora_rank = 512;
  a.q_lora_rank = 1536;
  a.qk_nope_dim = 128;
  a.qk_rope_dim = 64;
  a.v_head_dim = 128;
  a.kinds[0].mixer = model::Mixer::mla;
  const Model model = prepare(a);
  Plan plan;
  plan.tp = 8;
  // 32 · (512 + 64) · 2 bytes = 36,864 a token on every rank.
  CHECK(kv_bytes(model, plan, 1, 2, true) == 36864);
}

TEST_CASE("sliding windows cap the cache of their layers") {
  model::Architecture a = fixture::llama_8b();
  a.kind_count = 2;
  a.kinds[1] = a.kinds[0];
  a.kinds[0].count = 8;
  a.kinds[1].count = 24;
  a.kinds[1].mixer = model::Mixer::sliding;
  a.kinds[1].window = 1024;
  for (int i = 8; i < 32; ++i) a.kind_of_layer[static_cast<std::size_t>(i)] = 1;
  const Model model = prepare(a);
  // 4096 bytes a layer and token: (8·10000 + 24·1024)·4096.
  CHECK(kv_bytes(model, Plan{}, 10000, 2, true) == 4096.0 * (80000 + 24576));
  CHECK(kv_bytes(model, Plan{}, 10000, 2, false) == 4096.0 * 320000);
}

TEST_CASE("vLLM blocks follow the budget") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  request.version = 700;
  request.max_model_len = 8192;
  request.gpu_memory_utilization = 0.9;
  const Memory m = estimate_memory(model, request, Plan{}, fixture::cluster(gpu, 1));
  // Activations: max(2·(3·14336 + 3·4096)·8192 = 905,969,664, 38.6·256·128256 =
  // 1,267,374,489.6); outside 0.08 GiB; budget 0.9·79.25 GiB.
  const double pool = 0.9 * 79.25 * kGiB - 2 * 8030261248.0 - 1267374489.6 - 0.08 * kGiB;
  CHECK_THAT(m.kv_pool, WithinRel(pool, 1e-9));
  CHECK(m.kv_blocks == std::floor(pool / (16 * 131072)));
  CHECK(m.kv_tokens == 16 * m.kv_blocks);
  CHECK_THAT(m.max_concurrency, WithinRel(pool / (8192 * 131072.0), 1e-9));
  CHECK(m.fits);
}

TEST_CASE("chunked prefill switches itself on above 32768 in old vLLM") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  request.version = 604;
  request.max_model_len = 29000;
  const double long_peak =
      estimate_memory(model, request, Plan{}, fixture::cluster(gpu, 1)).activations;
  request.max_model_len = 35000;
  const double chunked =
      estimate_memory(model, request, Plan{}, fixture::cluster(gpu, 1)).activations;
  CHECK_THAT(long_peak, WithinRel(2.0 * (3 * 14336 + 3 * 4096) * 29000, 1e-9));
  CHECK(chunked < long_peak);
}

TEST_CASE("an engine that cannot hold one sequence does not fit") {
  catalog::Gpu gpu = fixture::a100();
  gpu.memory_usable_bytes = 16 * kGiB;
  const Model model = prepare(fixture::llama_8b());
  Request request;
  const Memory m = estimate_memory(model, request, Plan{}, fixture::cluster(gpu, 1));
  CHECK_FALSE(m.fits);
  CHECK(m.kv_pool < 0);
  CHECK(m.kv_tokens == 0);
  CHECK(m.missing() > 0);
}

TEST_CASE("layers in host memory leave the GPU") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  request.engine = Engine::llama_cpp;
  request.quant = Quant::gguf_q8_0;
  const double whole = estimate_memory(model, request, Plan{}, fixture::cluster(gpu, 1)).weights;
  request.gpu_layers = 8;
  const Memory m = estimate_memory(model, request, Plan{}, fixture::cluster(gpu, 1));
  CHECK_THAT(m.weights, WithinRel(whole / 4, 1e-9));
  CHECK_THAT(m.host, WithinRel(whole * 3 / 4, 1e-9));
}

#if __has_include(<rapidcheck.h>)
TEST_CASE("cache and need grow with length and concurrency") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  const bool ok = rc::check([&] {
    Request request;
    request.engine = static_cast<Engine>(*rc::gen::inRange(0, 9));
    request.input_len = *rc::gen::inRange(1, 30000);
    request.output_len = *rc::gen::inRange(1, 4000);
    const Memory small = estimate_memory(model, request, Plan{}, fixture::cluster(gpu, 1));
    request.input_len += *rc::gen::inRange(1, 1000);
    const Memory large = estimate_memory(model, request, Plan{}, fixture::cluster(gpu, 1));
    RC_ASSERT(large.kv_bytes_per_sequence >= small.kv_bytes_per_sequence);
    RC_ASSERT(large.weights == small.weights);
    RC_ASSERT(large.max_concurrency <= small.max_concurrency * (1 + 1e-12));
  });
  CHECK(ok);
}
#endif
