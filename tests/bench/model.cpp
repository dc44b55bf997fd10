// Reading models: a config.json, and the index of a 70B model with its shards.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <string>

#include "gpuadvisor/model.hpp"
#include "test_support/memory_files.hpp"

namespace {

using namespace gpuadvisor;

constexpr const char* kConfig =
    R"({"model_type":"llama","hidden_size":8192,"intermediate_size":28672,"num_hidden_layers":80,)"
    R"("num_attention_heads":64,"num_key_value_heads":8,"vocab_size":128256,"torch_dtype":"bfloat16"})";

/// Llama-3-70B as published: 723 tensors in 30 shards.
test::MemoryFolder seventy_billion() {
  std::map<int, test::SafetensorsBuilder> shards;
  std::string map;
  int count = 0;
  const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& shape) {
    const int shard = 1 + count++ * 30 / 723;
    shards[shard].add(name, "BF16", shape, 16);
    map += (map.empty() ? "\"" : ",\"") + name + "\":\"model-" + std::to_string(10000 + shard) +
           "-of-10030.safetensors\"";
  };
  add("model.embed_tokens.weight", {128256, 8192});
  for (int layer = 0; layer < 80; ++layer) {
    const std::string p = "model.layers." + std::to_string(layer) + ".";
    add(p + "self_attn.q_proj.weight", {8192, 8192});
    add(p + "self_attn.k_proj.weight", {1024, 8192});
    add(p + "self_attn.v_proj.weight", {1024, 8192});
    add(p + "self_attn.o_proj.weight", {8192, 8192});
    add(p + "mlp.gate_proj.weight", {28672, 8192});
    add(p + "mlp.up_proj.weight", {28672, 8192});
    add(p + "mlp.down_proj.weight", {8192, 28672});
    add(p + "input_layernorm.weight", {8192});
    add(p + "post_attention_layernorm.weight", {8192});
  }
  add("model.norm.weight", {8192});
  add("lm_head.weight", {128256, 8192});
  test::MemoryFolder folder;
  folder.files["config.json"] = kConfig;
  folder.files["model.safetensors.index.json"] =
      R"({"metadata":{"total_size":141107412992},"weight_map":{)" + map + "}}";
  for (const auto& [number, builder] : shards) {
    const std::string name = "model-" + std::to_string(10000 + number) + "-of-10030.safetensors";
    folder.files[name] = builder.header();
    folder.claimed[name] = builder.size();
  }
  return folder;
}

void read_config(benchmark::State& state) {
  for (auto _ : state) {
    auto read = model::read_config(kConfig, "config.json");
    benchmark::DoNotOptimize(read);
  }
}
BENCHMARK(read_config)->Unit(benchmark::kMicrosecond);

void read_70b_folder(benchmark::State& state) {
  const auto folder = seventy_billion();
  for (auto _ : state) {
    auto read = model::read_model(folder, "", "70b");
    if (!read || read->parameters_total != 70553706496.0) std::abort();
    benchmark::DoNotOptimize(read);
  }
}
BENCHMARK(read_70b_folder)->Unit(benchmark::kMillisecond);

void count_70b(benchmark::State& state) {
  const auto& a = model::find_preset("llama-3-70b")->architecture;
  for (auto _ : state) benchmark::DoNotOptimize(model::count_parameters(a));
}
BENCHMARK(count_70b)->Unit(benchmark::kNanosecond);

}  // namespace
