// Families beside the presets, against counts that their publishers state; odd and
// hostile configurations are refused, never guessed.
#include "gpuadvisor/model.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;

namespace {

struct Published {
  const char* what;
  const char* json;
  double parameters;
};

const Published kPublished[] = {
    {"mamba-130m",
     R"({"model_type":"mamba","hidden_size":768,"num_hidden_layers":24,"state_size":16,
      "conv_kernel":4,"expand":2,"time_step_rank":48,"use_bias":false,"use_conv_bias":true,"vocab_size":50280})",
     129135360},
    {"falcon-mamba-7b",
     R"({"model_type":"falcon_mamba","hidden_size":4096,"num_hidden_layers":64,"state_size":16,
      "conv_kernel":4,"intermediate_size":8192,"time_step_rank":256,"vocab_size":65024,"tie_word_embeddings":false})",
     7272665088},
    {"mamba2-130m",
     R"({"model_type":"mamba2","hidden_size":768,"num_hidden_layers":24,"state_size":128,
      "conv_kernel":4,"num_heads":24,"head_dim":64,"n_groups":1,"vocab_size":50288,"tie_word_embeddings":true})",
     128989632},
    {"Jamba-v0.1",
     R"({"model_type":"jamba","hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,
      "num_attention_heads":32,"num_key_value_heads":8,"vocab_size":65536,"num_experts":16,"num_experts_per_tok":2,
      "attn_layer_offset":4,"attn_layer_period":8,"expert_layer_offset":1,"expert_layer_period":2,
      "mamba_d_state":16,"mamba_d_conv":4,"mamba_expand":2,"mamba_dt_rank":256,"mamba_conv_bias":true,
      "mamba_proj_bias":false,"tie_word_embeddings":false})",
     51570323328},
    {"Nemotron-Nano-9B-v2",
     R"({"model_type":"nemotron_h","hidden_size":4480,"intermediate_size":15680,
      "num_hidden_layers":56,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,
      "mamba_num_heads":128,"mamba_head_dim":80,"n_groups":8,"ssm_state_size":128,"conv_kernel":4,
      "hybrid_override_pattern":"M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-",
      "tie_word_embeddings":false})",
     8888227328},
    {"stablelm-2-1.6b",
     R"({"model_type":"stablelm","hidden_size":2048,"intermediate_size":5632,"num_hidden_layers":24,
      "num_attention_heads":32,"num_key_value_heads":32,"vocab_size":100352,"use_qkv_bias":true})",
     1644515328},
    {"stablelm-3b-4e1t",
     R"({"model_type":"stablelm","hidden_size":2560,"intermediate_size":6912,"num_hidden_layers":32,
      "num_attention_heads":32,"vocab_size":50304})",
     2795443200},
    {"EXAONE-3.0-7.8B",
     R"({"model_type":"exaone","hidden_size":4096,"intermediate_size":14336,"num_layers":32,
      "num_attention_heads":32,"num_key_value_heads":8,"vocab_size":102400})",
     7818448896},
    {"MiniCPM-2B",
     R"({"model_type":"minicpm","hidden_size":2304,"intermediate_size":5760,"num_hidden_layers":40,
      "num_attention_heads":36,"num_key_value_heads":36,"vocab_size":122753})",
     2724880896},
    {"gpt-neo-1.3B",
     R"({"model_type":"gpt_neo","hidden_size":2048,"intermediate_size":null,"num_layers":24,
      "num_heads":16,"vocab_size":50257,"max_position_embeddings":2048,"window_size":256})",
     1315575808},
    {"glm-4-9b-chat-hf",
     R"({"model_type":"glm","hidden_size":4096,"intermediate_size":13696,"num_hidden_layers":40,
      "num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,"vocab_size":151552,"attention_bias":true})",
     9399951360},
};

std::string refusal(const std::string& json) {
  const auto read = model::read_config(json, "config.json");
  if (read) return "";
  CHECK(read.error().code == ErrorCode::input);
  CHECK_FALSE(read.error().where.empty());
  return read.error().message;
}

bool mentions(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

std::string llama(const std::string& more) {
  return R"({"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,)"
         R"("vocab_size":1000)" +
         (more.empty() ? "" : "," + more) + "}";
}

}  // namespace

TEST_CASE("families beside the presets keep their counts") {
  for (const Published& one : kPublished) {
    INFO(one.what);
    const auto read = model::read_config(one.json, one.what);
    if (!read) FAIL(read.error().message);
    CHECK(read->parameters_total == one.parameters);
    CHECK(read->warnings.empty());
  }
}

TEST_CASE("structures that cannot be counted are refused") {
  CHECK(mentions(refusal(llama(R"("block_configs":[{}])")), "block_configs"));
  CHECK(mentions(
      refusal(
          R"({"model_type":"stablelm","hidden_size":64,"use_parallel_residual":true,"num_hidden_layers":2,
    "num_attention_heads":4,"vocab_size":10,"intermediate_size":64})"),
      "use_parallel_residual"));
  CHECK(mentions(refusal(llama(R"("layer_types":["full_attention","perpetual"])")), "perpetual"));
  CHECK(mentions(refusal(llama(R"("layer_types":["full_attention"])")), "one entry a layer"));
  CHECK(mentions(
      refusal(
          R"({"model_type":"nemotron_h","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,
    "vocab_size":10,"intermediate_size":64,"hybrid_override_pattern":"ME","mamba_num_heads":4})"),
      "'E'"));
}

TEST_CASE("towers that are not known are said") {
  const auto read = model::read_config(
      R"({"model_type":"qwen2_audio","audio_config":{"d_model":1280},"text_config":)" + llama("") +
          "}",
      "config.json");
  REQUIRE(read);
  CHECK_FALSE(read->exact);
  REQUIRE(read->warnings.size() == 1);
  CHECK(mentions(read->warnings[0], "audio_config"));
}

TEST_CASE("hostile configurations are refused") {
  CHECK(mentions(refusal(""), "JSON"));
  CHECK(mentions(refusal("[]"), "object"));
  CHECK(mentions(refusal("{}"), "model_type"));
  CHECK(mentions(refusal(llama("") + "x"), "JSON"));
  CHECK(mentions(refusal(llama(R"("hidden_size":65)")), "duplicate"));
  CHECK(mentions(refusal(std::string(100000, '[')), "deep"));
  CHECK(mentions(refusal("{\"a\":" + std::string(70, '[') + std::string(70, ']') + "}"), "deep"));
  CHECK(mentions(refusal(std::string(17u << 20, ' ')), "limit"));
  const char* const wrong[] = {"-1",  "1.5",   "\"4\"",       "true",
                               "[4]", "1e300", "99999999999", "18446744073709551616"};
  for (const char* value : wrong) {
    INFO(value);
    const std::string json =
        std::string(R"({"model_type":"llama","hidden_size":64,"intermediate_size":128,)") +
        R"("num_hidden_layers":2,"num_attention_heads":)" + value + R"(,"vocab_size":1000})";
    CHECK(mentions(refusal(json), "num_attention_heads"));
  }
  for (const char* missing : {"hidden_size", "intermediate_size", "num_hidden_layers",
                              "num_attention_heads", "vocab_size"}) {
    std::string json = llama("");
    const auto at = json.find(missing);
    json.replace(at, std::string(missing).size(), "absent");
    INFO(missing);
    CHECK_FALSE(refusal(json).empty());
  }
  CHECK(mentions(refusal(llama(R"("num_key_value_heads":8)")), "key-value"));
  CHECK(mentions(
      refusal(
          R"({"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":4000,
    "num_attention_heads":4,"vocab_size":1000})"),
      "1024 layers"));
  CHECK(mentions(
      refusal(
          R"({"model_type":"mixtral","hidden_size":64,"intermediate_size":128,"num_hidden_layers":4,
    "num_attention_heads":4,"vocab_size":1000,"num_local_experts":8,"num_experts_per_tok":9})"),
      "top-k"));
}
