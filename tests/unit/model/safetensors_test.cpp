#include "gpuadvisor/model.hpp"
#include "test_support/catch.hpp"
#include "test_support/memory_files.hpp"

using namespace gpuadvisor;
using test::little;
using test::MemoryFile;
using test::MemoryFolder;
using test::SafetensorsBuilder;

namespace {

/// A two-layer llama of hidden 64, 4 heads of 16, 2 key-value heads, MLP 128, V 1000.
SafetensorsBuilder small_llama() {
  SafetensorsBuilder b;
  b.add("model.embed_tokens.weight", "BF16", {1000, 64}, 16);
  for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
    const std::string p = layer;
    b.add(p + "self_attn.q_proj.weight", "BF16", {64, 64}, 16)
        .add(p + "self_attn.k_proj.weight", "BF16", {32, 64}, 16);
    b.add(p + "self_attn.v_proj.weight", "BF16", {32, 64}, 16)
        .add(p + "self_attn.o_proj.weight", "BF16", {64, 64}, 16);
    b.add(p + "mlp.gate_proj.weight", "BF16", {128, 64}, 16)
        .add(p + "mlp.up_proj.weight", "BF16", {128, 64}, 16);
    b.add(p + "mlp.down_proj.weight", "BF16", {64, 128}, 16);
    b.add(p + "input_layernorm.weight", "BF16", {64}, 16)
        .add(p + "post_attention_layernorm.weight", "BF16", {64}, 16);
  }
  b.add("model.norm.weight", "BF16", {64}, 16).add("lm_head.weight", "BF16", {1000, 64}, 16);
  return b;
}

constexpr const char* kSmallConfig =
    R"({"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,)"
    R"("num_attention_heads":4,"num_key_value_heads":2,"vocab_size":1000,"torch_dtype":"bfloat16"})";

// 2 * 64,000 (table and head) + 2 * (4096 + 2048 + 2048 + 4096 + 3 * 8192 + 128) + 64
constexpr double kSmallTotal = 128000 + 2 * 36992 + 64;

std::string refusal(const std::string& bytes, std::uint64_t claimed) {
  MemoryFile file(bytes, claimed);
  const auto read = model::read_safetensors(file, "x.safetensors");
  if (read) return "";
  CHECK(read.error().code == ErrorCode::input);
  CHECK(read.error().where == "x.safetensors");
  return read.error().message;
}

std::string with_header(const std::string& json) {
  return little<std::uint64_t>(json.size()) + json;
}

std::string refusal_of_header(const std::string& json, std::uint64_t data) {
  const std::string bytes = with_header(json);
  return refusal(bytes, bytes.size() + data);
}

bool mentions(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a safetensors header alone gives the exact count and bytes") {
  const auto b = small_llama();
  MemoryFile file(b.header(), b.size());
  const auto read = model::read_safetensors(file, "model.safetensors");
  if (!read) FAIL(read.error().message);
  CHECK(read->parameters_total == kSmallTotal);
  CHECK(read->weights_bytes == 2 * kSmallTotal);
  CHECK(read->architecture.hidden == 64);
  CHECK(read->architecture.layers == 2);
  CHECK(read->architecture.ffn == 128);
  CHECK_FALSE(read->architecture.tied);
  CHECK_FALSE(read->warnings.empty());
}

TEST_CASE("a folder is read whole and checked against its configuration") {
  const auto b = small_llama();
  MemoryFolder folder;
  folder.files = {{"config.json", kSmallConfig}, {"model.safetensors", b.header()}};
  folder.claimed = {{"model.safetensors", b.size()}};
  const auto read = model::read_model(folder, "", "folder");
  if (!read) FAIL(read.error().message);
  CHECK(read->kind == "folder");
  CHECK(read->exact);
  CHECK(read->warnings.empty());
  CHECK(read->parameters_total == kSmallTotal);
  REQUIRE(read->tensors);
  CHECK(read->tensors->tensors == 21);

  // A configuration of three layers disagrees: said, and the tensors are taken.
  std::string other = kSmallConfig;
  other.replace(other.find("\"num_hidden_layers\":2"), 21, "\"num_hidden_layers\":3");
  folder.files["config.json"] = other;
  const auto disagree = model::read_model(folder, "", "folder");
  REQUIRE(disagree);
  CHECK(disagree->parameters_total == kSmallTotal);
  REQUIRE(disagree->warnings.size() == 1);
  CHECK(mentions(disagree->warnings[0], "202,048"));
}

TEST_CASE("an unknown model type with tensors is counted exactly") {
  const auto b = small_llama();
  MemoryFolder folder;
  folder.files = {{"config.json", R"({"model_type":"zebra9"})"}, {"model.safetensors", b.header()}};
  folder.claimed = {{"model.safetensors", b.size()}};
  const auto read = model::read_model(folder, "", "folder");
  if (!read) FAIL(read.error().message);
  CHECK(read->parameters_total == kSmallTotal);
  CHECK(mentions(read->warnings.front(), "zebra9"));
}

TEST_CASE("scales buffers prediction layers and head copies are told from weights") {
  auto b = small_llama();
  b.add("model.layers.0.self_attn.q_proj.weight_scale_inv", "F32", {1, 1}, 32);
  b.add("model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {8}, 32);
  b.add("model.layers.2.eh_proj.weight", "BF16", {64, 128}, 16);
  MemoryFolder folder;
  std::string tied = kSmallConfig;
  tied.insert(1, R"("tie_word_embeddings":true,)");
  folder.files = {{"config.json", tied}, {"model.safetensors", b.header()}};
  folder.claimed = {{"model.safetensors", b.size()}};
  const auto read = model::read_model(folder, "", "folder");
  if (!read) FAIL(read.error().message);
  CHECK(read->warnings.empty());
  CHECK(read->parameters_total == kSmallTotal - 64000);
  CHECK(read->tensors->side == 9);
  CHECK(read->tensors->mtp == 8192);
  CHECK(read->checkpoint_parameters == kSmallTotal + 9 + 8192);
}

TEST_CASE("packed weights count their values") {
  SafetensorsBuilder b;
  b.add("model.embed_tokens.weight", "F16", {1000, 64}, 16);
  b.add("model.layers.0.mlp.up_proj.qweight", "I32", {8, 128}, 32);  // 64 x 128 values of 4 bits
  b.add("model.layers.0.mlp.up_proj.qzeros", "I32", {1, 16}, 32);
  b.add("model.layers.0.mlp.up_proj.scales", "F16", {1, 128}, 16);
  b.add("model.layers.0.mlp.up_proj.g_idx", "I32", {64}, 32);
  MemoryFile file(b.header(), b.size());
  const auto read = model::read_safetensors(file, "");
  if (!read) FAIL(read.error().message);
  CHECK(read->tensors->parameters == 64000 + 64 * 128);
  CHECK(read->tensors->side == 16 + 128 + 64);
  CHECK_FALSE(read->exact);  // 4 bits are taken, not read
}

TEST_CASE("index and shards must name the same tensors") {
  const auto b = small_llama();
  MemoryFolder folder;
  folder.files = {
      {"config.json", kSmallConfig},
      {"m-00001-of-00001.safetensors", b.header()},
      {"model.safetensors.index.json",
       R"({"metadata":{"total_size":5},"weight_map":{"a":"m-00001-of-00001.safetensors"}})"}};
  folder.claimed = {{"m-00001-of-00001.safetensors", b.size()}};
  CHECK_FALSE(model::read_model(folder, "", "folder"));
  folder.files["model.safetensors.index.json"] = R"({"weight_map":{"a":"../../etc/passwd"}})";
  const auto outside = model::read_model(folder, "", "folder");
  REQUIRE_FALSE(outside);
  CHECK(mentions(outside.error().message, "outside the folder"));
  // Shards that are not here: bytes come from the index.
  folder.files.erase("m-00001-of-00001.safetensors");
  folder.files["model.safetensors.index.json"] =
      R"({"metadata":{"total_size":404096},"weight_map":{"a":"m-00001-of-00001.safetensors"}})";
  const auto index = model::read_model(folder, "model.safetensors.index.json", "folder");
  REQUIRE(index);
  CHECK(index->weights_bytes == 404096);
  CHECK(index->warnings.empty());
}

TEST_CASE("hostile safetensors headers are refused") {
  CHECK(mentions(refusal("", 0), "too short"));
  CHECK(
      mentions(refusal(little<std::uint64_t>(std::uint64_t{1} << 63) + "{}", 1ull << 40), "limit"));
  CHECK(mentions(refusal(little<std::uint64_t>(1'000'000'000) + "{}", 2'000'000'000), "limit"));
  // A claimed length that the file does not hold, and one that cannot be read.
  CHECK(mentions(refusal(little<std::uint64_t>(90'000'000) + "{}", 10), "ends inside"));
  CHECK(mentions(refusal(little<std::uint64_t>(90'000'000) + "{}", 1ull << 40), "ends inside"));
  CHECK(mentions(refusal(little<std::uint64_t>(2) + "[]", 10), "not a JSON object"));
  const std::string t = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)";
  CHECK(mentions(refusal_of_header(t + "[0,4]}}", 4), "do not fit"));
  CHECK(mentions(refusal_of_header(t + "[8,0]}}", 8), "expected data_offsets"));
  CHECK(mentions(refusal_of_header(t + "[4,12]}}", 12), "hole"));
  CHECK(mentions(refusal_of_header(t + "[0,8]}}", 4), "truncated"));
  CHECK(mentions(refusal_of_header(t + "[0,8]}}", 12), "after the last"));
  CHECK(mentions(
      refusal_of_header(
          t + "[0,8]},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 12),
      "overlap"));
  CHECK(mentions(
      refusal_of_header(
          t + "[0,8]},\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}", 16),
      "twice"));
  CHECK(mentions(refusal_of_header(R"({"a":{"dtype":"F99","shape":[],"data_offsets":[0,4]}})", 4),
                 "unknown dtype"));
  CHECK(mentions(refusal_of_header(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4),
                 "negative"));
  CHECK(
      mentions(refusal_of_header(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4),
               "not whole"));
  CHECK(mentions(
      refusal_of_header(R"({"a\u0007":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
      "control"));
  CHECK(mentions(refusal_of_header(R"({"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
                 "control"));
  CHECK(mentions(
      refusal_of_header(
          R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,4]}})", 4),
      "2^64"));
  CHECK(mentions(refusal_of_header("{\"a\":" + std::string(100000, '['), 4), "array"));
  CHECK(mentions(refusal_of_header("{\"a\":" + std::string(100000, '{'), 4), "broken"));
}
