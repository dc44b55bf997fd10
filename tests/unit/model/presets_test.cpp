#include <cmath>
#include <set>

#include "gpuadvisor/model.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;

TEST_CASE("every preset equals its reported count or names the difference") {
  REQUIRE(model::presets().size() >= 213);
  for (const model::Preset& preset : model::presets()) {
    INFO(preset.id);
    const auto counts = model::count_parameters(preset.architecture);
    CHECK(counts.total == preset.parameters_total);
    CHECK(counts.active == preset.parameters_active);
    double stored = preset.parameters_total;
    for (const auto& extra : preset.checkpoint_extra) {
      CHECK_FALSE(extra.what.empty());
      stored += extra.count;
    }
    CHECK(stored == preset.checkpoint_parameters);
    CHECK_FALSE(preset.source.empty());
    if (preset.check != "exact" && preset.check != "exact_with_named_extra") continue;
    bool matched = false;
    for (const auto& reported : preset.reported)
      matched = matched || reported.count == counts.total || reported.count == stored ||
                reported.what.find("class head") != std::string_view::npos;
    CHECK(matched);
  }
}

TEST_CASE("presets are sorted and their names are their own") {
  std::set<std::string_view> seen;
  std::string_view last;
  for (const model::Preset& preset : model::presets()) {
    CHECK(last < preset.id);
    last = preset.id;
    CHECK(seen.insert(preset.id).second);
    CHECK(model::find_preset(preset.id) == &preset);
    CHECK(preset.architecture.name == preset.id);
  }
  CHECK(model::find_preset("") == nullptr);
  CHECK(model::find_preset("zzz") == nullptr);
}

TEST_CASE("prediction layers are counted as the files store them") {
  // GLM-4.5: Hub total 358,337,791,296 with the layer and its embedding and head
  // copies; DeepSeek-V3: 684,531,386,000 less 41,540,496 block scales.
  auto glm = model::find_preset("glm-4.5")->architecture;
  REQUIRE(glm.mtp_layers == 1);
  CHECK(model::count_parameters(glm).checkpoint == 356785898816.0);
  glm.mtp_own_embedding = true;
  CHECK(model::count_parameters(glm).checkpoint == 358337791296.0);
  auto v3 = model::find_preset("deepseek-v3")->architecture;
  v3.mtp_own_embedding = true;
  CHECK(model::count_parameters(v3).checkpoint == 684531386000.0 - 41540496.0);
  // Qwen3-Next: a full-attention layer in a model of mostly linear ones.
  auto next = model::find_preset("qwen3-next-80b-a3b")->architecture;
  next.mtp_layers = 1;  // stored, though the configuration does not name it
  CHECK(model::count_parameters(next).checkpoint == 81324862720.0);
  CHECK(model::count_parameters(model::find_preset("qwen3.5-35b-a3b")->architecture).checkpoint ==
        35951822704.0);
}

TEST_CASE("the cache of a token and of a sequence") {
  // Llama-3-8B: 32 layers, 8 heads of 128, key and value, 2 bytes.
  const auto& llama = model::find_preset("llama-3-8b")->architecture;
  CHECK(model::kv_bytes_per_token(llama, 2) == 32.0 * 2 * 8 * 128 * 2);
  CHECK(model::kv_bytes_per_sequence(llama, 1000, 2) == 1000.0 * 131072);
  // DeepSeek-V3: 61 layers of 512 + 64; V3.2 adds indexer keys of 128.
  CHECK(model::kv_bytes_per_token(model::find_preset("deepseek-v3")->architecture, 1) == 35136);
  CHECK(model::kv_bytes_per_token(model::find_preset("deepseek-v3.2")->architecture, 1) ==
        35136 + 61 * 128);
  // Qwen3-Next: 12 full layers of 2 x 2 x 256; 36 states of 548,864.
  const auto& next = model::find_preset("qwen3-next-80b-a3b")->architecture;
  CHECK(model::kv_bytes_per_token(next, 1) == 12288);
  CHECK(model::kv_bytes_per_sequence(next, 10, 1) == 12288 * 10 + 19759104);
  // Gemma-3-1B: 22 of 26 layers see 512 tokens; 512 elements a layer and token.
  const auto& gemma = model::find_preset("gemma-3-1b")->architecture;
  CHECK(model::kv_bytes_per_sequence(gemma, 8192, 1) == 512.0 * (22 * 512 + 4 * 8192));
  CHECK(model::kv_bytes_per_token(model::find_preset("bert-base-uncased")->architecture, 2) == 0);
}

TEST_CASE("forward flops of a token") {
  // Llama-2-7B at 4096: layers 2 * 32 * 202,375,168; attention 32 layers of
  // 2 * 2048 (mean context) * 2 * 4096; head 2 * 32000 * 4096.
  const auto flops =
      model::forward_flops_per_token(model::find_preset("llama-2-7b")->architecture, 4096);
  CHECK(flops.matmul == 2.0 * 32 * 202375168);
  CHECK(flops.attention == 32.0 * 2 * 2048 * 8192);
  CHECK(flops.head == 2.0 * 32000 * 4096);
  // Mixtral uses 2 of 8 experts: 2 * (active - embeddings - norms) + router is in.
  const auto* mixtral = model::find_preset("mixtral-8x7b");
  const auto moe = model::forward_flops_per_token(mixtral->architecture, 0);
  CHECK(moe.matmul + moe.head == 2.0 * (mixtral->parameters_active - 32000.0 * 4096 - 65.0 * 4096));
}

TEST_CASE("presets are found by id hub id and loose names") {
  struct Name {
    const char* given;
    const char* id;
  };
  const Name names[] = {
      {"llama-3.1-70b", "llama-3.1-70b"},
      {"meta-llama/Llama-3.1-70B", "llama-3.1-70b"},
      {"Llama-3.1-70B-Instruct", "llama-3.1-70b"},
      {"meta-llama/Meta-Llama-3.1-70B-Instruct", "llama-3.1-70b"},
      {"llama3.1-70b", "llama-3.1-70b"},
      {"LLAMA_3.1_70B", "llama-3.1-70b"},
      {"Qwen/Qwen2.5-72B-Instruct", "qwen2.5-72b"},
      {"Qwen/Qwen2.5-72B-Instruct-AWQ", "qwen2.5-72b"},
      {"Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "qwen2.5-7b"},
      {"Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b"},
      {"meta-llama/Llama-2-7b-hf", "llama-2-7b"},
      {"deepseek-ai/DeepSeek-R1-0528", "deepseek-r1"},
      {"mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"},
      {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
      {"google/gemma-2-9b-it", "gemma-2-9b"},
      {"TheBloke/Llama-2-13B-chat-GPTQ", "llama-2-13b"},
      {"unsloth/llama-3-8b-bnb-4bit", "llama-3-8b"},
      {"openai/gpt-oss-120b", "gpt-oss-120b"},
      {"moonshotai/Kimi-K2-Instruct", "kimi-k2"},
      {"google-t5/t5-base", "t5-base"},
  };
  for (const Name& name : names) {
    INFO(name.given);
    const auto found = model::resolve_preset(name.given, "--model");
    if (!found) FAIL(found.error().hint);
    CHECK((*found)->id == name.id);
  }
}

TEST_CASE("a wrong model name is corrected by near misses") {
  const auto found = model::resolve_preset("lama-3.1-70b", "--model");
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::usage);
  CHECK(found.error().where == "--model");
  CHECK(found.error().hint.find("llama-3.1-70b") != std::string::npos);
  CHECK_FALSE(model::resolve_preset("", "--model"));
  CHECK_FALSE(model::resolve_preset(std::string(100000, 'a'), "--model"));
}

TEST_CASE("every preset is found by its own hub id") {
  for (const model::Preset& preset : model::presets()) {
    if (preset.hub_id.empty()) continue;
    INFO(preset.hub_id);
    const auto found = model::resolve_preset(preset.hub_id, "");
    REQUIRE(found);
    CHECK((*found)->hub_id == preset.hub_id);
  }
}

TEST_CASE("all sizes give a shape within one percent") {
  for (double total = 1e6; total <= 1e16; total *= 1.17) {
    INFO(total);
    const auto made = model::synthesize(total, std::nullopt);
    REQUIRE(made);
    const auto& a = made->architecture;
    CHECK(std::abs(model::count_parameters(a).total - total) <= 0.01 * total);
    CHECK(a.heads % a.kv_heads == 0);
    CHECK(a.hidden % 8 == 0);
    CHECK(a.learned_positions == 0);
  }
  CHECK(model::synthesize(1e16, std::nullopt));
  CHECK_FALSE(model::synthesize(1.1e16, std::nullopt));
  CHECK_FALSE(model::synthesize(10, std::nullopt));
  CHECK_FALSE(model::synthesize(std::nan(""), std::nullopt));
}

TEST_CASE("known sizes take the shape that people mean") {
  const auto seventy = model::synthesize(70e9, std::nullopt);
  CHECK(seventy->architecture.layers == 80);
  CHECK(seventy->architecture.hidden == 8192);
  CHECK(seventy->architecture.ffn == 28672);
  const auto seven = model::synthesize(7e9, std::nullopt);
  CHECK(seven->architecture.layers == 32);
  CHECK(seven->architecture.heads == 32);
  const auto gpt3 = model::synthesize(175e9, std::nullopt);
  CHECK(gpt3->architecture.layers == 96);
  CHECK(gpt3->architecture.hidden == 12288);
}

TEST_CASE("total and active sizes give experts") {
  for (const auto& size : {std::pair{47e9, 13e9},
                           {30e9, 3e9},
                           {235e9, 22e9},
                           {671e9, 37e9},
                           {1e12, 32e9},
                           {8e9, 1e9}}) {
    INFO(size.first);
    const auto made = model::synthesize(size.first, size.second);
    if (!made) FAIL(made.error().message);
    const auto counts = model::count_parameters(made->architecture);
    CHECK(std::abs(counts.total / size.first - 1) <= 0.01);
    CHECK(std::abs(counts.active / size.second - 1) <= 0.12);
    CHECK(made->architecture.experts > made->architecture.experts_per_token);
  }
  CHECK_FALSE(model::synthesize(1e9, 2e9));
  CHECK_FALSE(model::synthesize(1e9, 0.0));
}

TEST_CASE("expert shapes keep their sizes and can be divided") {
  const double cases[][2] = {{671e9, 37e9}, {235e9, 22e9}, {30e9, 3e9},   {47e9, 13e9},
                             {1e12, 32e9},  {100e9, 10e9}, {16e9, 2.4e9}, {57e9, 14e9},
                             {8e9, 1e9},    {1e14, 1e12}};
  for (const auto& [total, active] : cases) {
    const auto made = model::synthesize(total, active);
    REQUIRE(made.has_value());
    INFO(total << " " << active << ": " << made->note);
    const auto counts = model::count_parameters(made->architecture);
    CHECK(std::abs(counts.total / total - 1) <= 0.01);
    CHECK(std::abs(counts.active / active - 1) <= 0.12);
    // Eight ranks can share the experts, as they can in published models.
    CHECK(made->architecture.experts % 8 == 0);
  }
}
