#include "gpuadvisor/model.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using model::LoraSpec;

namespace {

const model::Architecture& preset(const char* id) { return model::find_preset(id)->architecture; }

}  // namespace

TEST_CASE("adapter sizes by hand") {
  // Llama-2-7B, rank 8, q and v: 32 layers of 2 x 8 x (4096 + 4096).
  LoraSpec lora;
  lora.targets = model::kTargetQ | model::kTargetV;
  CHECK(model::lora_parameters(preset("llama-2-7b"), lora) == 4194304);
  // All linear layers: + k, o: 4 x 8 x 8192; MLP 3 x 8 x (4096 + 11008).
  lora.targets = model::kTargetAllLinear;
  CHECK(model::lora_parameters(preset("llama-2-7b"), lora) == 32.0 * 8 * (4 * 8192 + 3 * 15104));
  // DoRA adds one magnitude a row: 4 x 4096 + 2 x 11008 + 4096.
  lora.dora = true;
  CHECK(model::lora_parameters(preset("llama-2-7b"), lora) ==
        32.0 * (8 * (4 * 8192 + 3 * 15104) + 5 * 4096 + 2 * 11008));
  // A joint qkv matrix has one adapter: 8 x (4096 + 3 x 4096).
  LoraSpec joint;
  joint.targets = model::kTargetQ | model::kTargetK | model::kTargetV;
  joint.fused_qkv = true;
  CHECK(model::lora_parameters(preset("llama-2-7b"), joint) == 32.0 * 8 * 4 * 4096);
  // Every expert has its own: Mixtral 8 x 3 x 8 x (4096 + 14336) a layer.
  LoraSpec experts;
  experts.targets = model::kTargetMlp;
  CHECK(model::lora_parameters(preset("mixtral-8x7b"), experts) == 32.0 * 8 * 3 * 8 * 18432);
  // Rank 32 for q only: 32 x 8192 + 8 x 8192.
  LoraSpec ranks;
  ranks.targets = model::kTargetQ | model::kTargetV;
  ranks.rank_of[0] = 32;
  CHECK(model::lora_parameters(preset("llama-2-7b"), ranks) == 32.0 * 40 * 8192);
}

TEST_CASE("adapters grow with the rank and with the targets") {
  for (const char* id :
       {"llama-3-8b", "deepseek-v3", "qwen3-next-80b-a3b", "gpt2", "t5-base", "minimax-text-01"}) {
    INFO(id);
    double last = 0;
    for (int rank : {1, 2, 8, 64}) {
      LoraSpec lora;
      lora.rank = rank;
      lora.targets = model::kTargetAllLinear;
      const double now = model::lora_parameters(preset(id), lora);
      CHECK(now > last);
      CHECK(now ==
            rank * model::lora_parameters(
                       preset(id), LoraSpec{1, model::kTargetAllLinear, false, false, false, {}}));
      last = now;
      lora.targets = model::kTargetQ;
      CHECK(model::lora_parameters(preset(id), lora) < now);
    }
  }
}

TEST_CASE("module names of every stack are known") {
  const auto& llama = preset("llama-3-8b");
  CHECK(model::target_bits("q_proj", llama) == model::kTargetQ);
  CHECK(model::target_bits("qkv_proj", llama) ==
        (model::kTargetQ | model::kTargetK | model::kTargetV));
  CHECK(model::target_bits("gate_up_proj", llama) == (model::kTargetGate | model::kTargetUp));
  CHECK(model::target_bits("all-linear", llama) == model::kTargetAllLinear);
  CHECK(model::target_bits("query", llama) == model::kTargetQ);
  CHECK(model::target_bits("projection", llama) == model::kTargetO);
  CHECK(model::target_bits("mlp", llama) == model::kTargetMlp);
  CHECK(model::target_bits("head", llama) == model::kTargetHead);
  CHECK(model::target_bits("model.layers.3.self_attn.q_proj", llama) == model::kTargetQ);
  CHECK(model::target_bits("banana", llama) == 0);
  // Qwen-1: c_proj ends both blocks; w2 gates, w1 does not.
  const auto& qwen = preset("qwen-7b");
  CHECK(model::target_bits("c_attn", qwen) ==
        (model::kTargetQ | model::kTargetK | model::kTargetV));
  CHECK(model::target_bits("c_proj", qwen) == (model::kTargetO | model::kTargetDown));
  CHECK(model::target_bits("mlp.c_proj", qwen) == model::kTargetDown);
  CHECK(model::target_bits("attn.c_proj", qwen) == model::kTargetO);
  CHECK(model::target_bits("w1", qwen) == model::kTargetUp);
  CHECK(model::target_bits("w2", qwen) == model::kTargetGate);
  CHECK(model::target_bits("w2", preset("mixtral-8x7b")) == model::kTargetDown);
}
