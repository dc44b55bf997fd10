// Every stored configuration reads to its recorded count, to the parameter.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "gpuadvisor/model.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using nlohmann::json;

namespace {

const std::string kFolder = std::string(GPUADVISOR_SOURCE_DIR) + "/tests/data/hf_configs/";

std::string text_of(const std::string& name) {
  std::ifstream in(kFolder + name, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

json expected() {
  auto document = json::parse(text_of("expected.json"));
  return document.at("files");
}

}  // namespace

TEST_CASE("every stored configuration is counted exactly") {
  int counted = 0;
  const json files = expected();
  for (const auto& item : files.items()) {
    const json& want = item.value();
    if (want.at("params_total").is_null()) continue;
    INFO(item.key());
    const auto read = model::read_config(text_of(item.key()), item.key());
    if (!read) FAIL(read.error().message);
    CHECK(read->parameters_total == want["params_total"].get<double>());
    CHECK(read->exact);
    if (want.contains("params_active") && !want["params_active"].is_null())
      CHECK(read->parameters_active == want["params_active"].get<double>());
    ++counted;
  }
  CHECK(counted == 97);
}

TEST_CASE("every stored adapter is counted exactly") {
  for (const char* name : {"adapter_config.json", "adapter_config_rank-pattern.json"}) {
    INFO(name);
    const auto read = model::read_adapter(text_of(name), name);
    if (!read) FAIL(read.error().message);
    REQUIRE(read->adapter);
    CHECK(read->adapter->lora_parameters == expected().at(name).at("lora_params").get<double>());
  }
  // modules_to_save: a full copy of the 32000 x 4096 head.
  const auto saved = model::read_adapter(text_of("adapter_config_rank-pattern.json"), "");
  CHECK(saved->adapter->saved_parameters == 131072000.0);
}

TEST_CASE("quantisation settings of every kind are read") {
  struct Want {
    const char* file;
    const char* method;
    const char* format;
    const char* run_as;
    double bits;
    int group;
  };
  const Want wants[] = {
      {"quant_llama-2-7b-chat-gptq.json", "gptq", "int4", "gptq-int4", 4, 128},
      {"quant_qwen2.5-7b-instruct-awq.json", "awq", "int4", "awq-int4", 4, 128},
      {"quant_llama-3-8b-bnb-nf4.json", "bitsandbytes", "nf4", "nf4-dq", 4, 64},
      {"quant_llama-3-8b-bnb-int8.json", "bitsandbytes", "int8", "int8-bnb", 8, 0},
      {"quant_qwen3-32b-fp8.json", "fp8", "fp8", "fp8", 8, 0},
      {"quant_minimax-m2.5-nvfp4.json", "modelopt", "nvfp4", "fp4", 4, 16},
      {"quant_kimi-k2.5-compressed-tensors.json", "compressed-tensors", "int4", "gptq-int4", 4, 32},
  };
  for (const Want& want : wants) {
    INFO(want.file);
    const auto read = model::read_config(text_of(want.file), want.file);
    if (!read) FAIL(read.error().message);
    CHECK(read->quantization.method == want.method);
    CHECK(read->quantization.format == want.format);
    CHECK(read->quantization.run_as == want.run_as);
    CHECK(read->quantization.bits == want.bits);
    CHECK(read->quantization.group_size == want.group);
  }
}

TEST_CASE("a quantised file takes the bytes of its parts") {
  // Llama-2-7B GPTQ: 32 layers of 4*4096^2 + 3*4096*11008 = 202,375,168 weights at
  // 4 + (16 + 4)/128 bits; 262,410,240 others (two tables of 131,072,000, norms) at 16.
  const auto read = model::read_config(text_of("quant_llama-2-7b-chat-gptq.json"), "");
  REQUIRE(read);
  const double layers = 32.0 * 202375168.0 * (4.0 + 20.0 / 128.0) / 8.0;
  CHECK_THAT(read->weights_bytes, Catch::Matchers::WithinRel(layers + 262410240.0 * 2.0, 1e-12));
}

TEST_CASE("a vision tower that is not known is said and not guessed") {
  const auto read = model::read_config(text_of("quant_kimi-k2.5-compressed-tensors.json"), "");
  REQUIRE(read);
  CHECK_FALSE(read->exact);
  REQUIRE(read->warnings.size() == 1);
  CHECK(read->parameters_total == 1026408232448.0);  // the text part is Kimi-K2
}

TEST_CASE("an unknown model type is refused by name") {
  const auto read =
      model::read_config(R"({"model_type": "zebra9", "hidden_size": 8})", "config.json");
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::input);
  CHECK(read.error().message.find("zebra9") != std::string::npos);
  CHECK_FALSE(read.error().hint.empty());
}
