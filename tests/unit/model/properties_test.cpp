// What must hold for any architecture, on random ones.
#include <functional>
#include <vector>

#include "gpuadvisor/model.hpp"
#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>

using namespace gpuadvisor;
using model::Architecture;

namespace {

bool holds(const char* what, const std::function<void()>& property) {
  return rc::check(what, property);
}

/// Any decoder: dense, experts, latent attention, hybrid layers.
Architecture any_architecture() {
  Architecture a;
  a.head_dim = 8 * *rc::gen::inRange(2, 17);
  a.kv_heads = *rc::gen::inRange(1, 9);
  a.heads = a.kv_heads * *rc::gen::inRange(1, 9);
  a.hidden = 64 * *rc::gen::inRange(1, 129);
  a.ffn = 64 * *rc::gen::inRange(1, 513);
  a.vocab = *rc::gen::inRange(100, 300000);
  a.gated = *rc::gen::arbitrary<bool>();
  a.tied = *rc::gen::arbitrary<bool>();
  a.qkv_bias = *rc::gen::arbitrary<bool>();
  a.mlp_bias = *rc::gen::arbitrary<bool>();
  a.norm_bias = *rc::gen::arbitrary<bool>();
  a.qk_norm = *rc::gen::inRange(0, 4);
  if (*rc::gen::arbitrary<bool>()) {
    a.experts = *rc::gen::inRange(2, 257);
    a.experts_per_token = *rc::gen::inRange(1, a.experts + 1);
    a.expert_ffn = 64 * *rc::gen::inRange(1, 65);
    a.shared_ffn = 64 * *rc::gen::inRange(0, 9);
  }
  const bool latent = *rc::gen::arbitrary<bool>();
  if (latent) {
    a.q_lora_rank = *rc::gen::element(0, 512);
    a.kv_lora_rank = 512;
    a.qk_nope_dim = 128;
    a.qk_rope_dim = 64;
    a.v_head_dim = 128;
    a.head_dim = 192;
  }
  const int layers = *rc::gen::inRange(1, 129);
  std::vector<model::LayerKind> kinds(static_cast<std::size_t>(layers));
  for (auto& kind : kinds) {
    kind.mixer =
        latent ? model::Mixer::mla : *rc::gen::element(model::Mixer::full, model::Mixer::sliding);
    kind.window = kind.mixer == model::Mixer::sliding ? 1024 : 0;
    kind.moe = a.experts > 0 && *rc::gen::arbitrary<bool>();
    kind.ffn = kind.moe ? 0 : a.ffn;
  }
  RC_ASSERT(model::set_layer_kinds(a, kinds));
  return a;
}

double sum_of_layers(const Architecture& a, const model::ParameterCounts& counts) {
  double sum = 0;
  for (int layer = 0; layer < a.layers; ++layer)
    sum += counts.layer[a.kind_of_layer[static_cast<std::size_t>(layer)]].total();
  return sum;
}

}  // namespace

TEST_CASE("layers and embeddings sum to the total") {
  CHECK(holds("sum", [] {
    const Architecture a = any_architecture();
    const auto counts = model::count_parameters(a);
    const double outside =
        counts.embedding + counts.positions + counts.head + counts.final_norm + counts.other;
    RC_ASSERT(sum_of_layers(a, counts) + outside == counts.total);
    RC_ASSERT(counts.active <= counts.total);
    RC_ASSERT(counts.active > 0);
  }));
  for (const model::Preset& preset : model::presets()) {
    const auto& a = preset.architecture;
    const auto counts = model::count_parameters(a);
    INFO(preset.id);
    CHECK(sum_of_layers(a, counts) + counts.embedding + counts.positions + counts.head +
              counts.final_norm + counts.encoder + counts.vision + counts.other ==
          counts.total);
  }
}

TEST_CASE("counts flops and cache grow with every size") {
  CHECK(holds("monotone", [] {
    const Architecture a = any_architecture();
    const auto larger = [&](auto change) {
      Architecture b = a;
      change(b);
      RC_ASSERT(model::count_parameters(b).total > model::count_parameters(a).total);
      RC_ASSERT(model::forward_flops_per_token(b, 2048).total() >=
                model::forward_flops_per_token(a, 2048).total());
      RC_ASSERT(model::kv_bytes_per_token(b, 2) >= model::kv_bytes_per_token(a, 2));
    };
    larger([](Architecture& b) { b.vocab += 1; });
    larger([](Architecture& b) { b.heads += b.kv_heads; });
    if (a.layers < 128) larger([](Architecture& b) { model::set_layers(b, b.layers * 2); });
    RC_ASSERT(model::kv_bytes_per_sequence(a, 3000, 2) <=
              3000 * model::kv_bytes_per_token(a, 2) + 1);
    RC_ASSERT(model::kv_bytes_per_sequence(a, 3001, 2) >= model::kv_bytes_per_sequence(a, 3000, 2));
    RC_ASSERT(model::forward_flops_per_token(a, 8192).attention >=
              model::forward_flops_per_token(a, 1024).attention);
  }));
}

TEST_CASE("cutting layers keeps the pattern and the sum") {
  CHECK(holds("set_layers", [] {
    const Architecture a = any_architecture();
    const int wanted = *rc::gen::inRange(1, 257);
    Architecture b = a;
    model::set_layers(b, wanted);
    RC_ASSERT(b.layers == wanted);
    int sum = 0;
    for (int kind = 0; kind < b.kind_count; ++kind)
      sum += b.kinds[static_cast<std::size_t>(kind)].count;
    RC_ASSERT(sum == wanted);
    for (int layer = 0; layer < wanted; ++layer) {
      const auto& now = b.kinds[b.kind_of_layer[static_cast<std::size_t>(layer)]];
      const auto& then = a.kinds[a.kind_of_layer[static_cast<std::size_t>(layer % a.layers)]];
      RC_ASSERT(now == then);
    }
  }));
}

TEST_CASE("any synthetic size is within one percent") {
  CHECK(holds("synthesize", [] {
    const auto total =
        static_cast<double>(*rc::gen::inRange<std::int64_t>(1'000'000, 2'000'000'000'000));
    const auto made = model::synthesize(total, std::nullopt);
    RC_ASSERT(made.has_value());
    const double size = model::count_parameters(made->architecture).total;
    RC_ASSERT(size >= 0.99 * total);
    RC_ASSERT(size <= 1.01 * total);
  }));
}
#endif
