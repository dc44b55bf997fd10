#include "gpuadvisor/model.hpp"
#include "test_support/catch.hpp"
#include "test_support/memory_files.hpp"

using namespace gpuadvisor;
using test::little;
using test::MemoryFile;

namespace {

std::string text(const std::string& value) { return little<std::uint64_t>(value.size()) + value; }
std::string key_u32(const std::string& key, std::uint32_t value) {
  return text(key) + little<std::uint32_t>(4) + little(value);
}
std::string key_text(const std::string& key, const std::string& value) {
  return text(key) + little<std::uint32_t>(8) + text(value);
}

struct GgufBuilder {
  std::string metadata, table;
  std::uint64_t keys = 0, tensors = 0, offset = 0;
  GgufBuilder& meta(const std::string& bytes) {
    metadata += bytes;
    ++keys;
    return *this;
  }
  /// dims with the row length first, as the file lists them.
  GgufBuilder& add(const std::string& name, const std::vector<std::uint64_t>& dims,
                   std::uint32_t type, std::uint64_t bytes) {
    table += text(name) + little<std::uint32_t>(static_cast<std::uint32_t>(dims.size()));
    for (const auto size : dims) table += little(size);
    table += little(type) + little(offset);
    offset += (bytes + 31) / 32 * 32;
    ++tensors;
    return *this;
  }
  [[nodiscard]] std::string header() const {
    return "GGUF" + little<std::uint32_t>(3) + little(tensors) + little(keys) + metadata + table;
  }
  [[nodiscard]] std::uint64_t size() const { return header().size() + 32 + offset; }
};

/// One layer: hidden 256, 4 heads of 64, 2 key-value heads, MLP 512, V 1024, Q4_K.
GgufBuilder small_llama() {
  GgufBuilder b;
  b.meta(key_text("general.architecture", "llama")).meta(key_text("general.name", "small"));
  b.meta(key_u32("llama.embedding_length", 256)).meta(key_u32("llama.block_count", 1));
  b.meta(key_u32("llama.attention.head_count", 4))
      .meta(key_u32("llama.attention.head_count_kv", 2));
  b.meta(key_u32("llama.feed_forward_length", 512)).meta(key_u32("llama.context_length", 4096));
  const auto q4 = [](std::uint64_t values) { return values / 256 * 144; };
  b.add("token_embd.weight", {256, 1024}, 12, q4(256 * 1024))
      .add("output.weight", {256, 1024}, 14, 256 * 1024 / 256 * 210);
  b.add("output_norm.weight", {256}, 0, 1024);
  b.add("blk.0.attn_q.weight", {256, 256}, 12, q4(65536))
      .add("blk.0.attn_k.weight", {256, 128}, 12, q4(32768));
  b.add("blk.0.attn_v.weight", {256, 128}, 12, q4(32768))
      .add("blk.0.attn_output.weight", {256, 256}, 12, q4(65536));
  b.add("blk.0.ffn_gate.weight", {256, 512}, 12, q4(131072))
      .add("blk.0.ffn_up.weight", {256, 512}, 12, q4(131072));
  b.add("blk.0.ffn_down.weight", {512, 256}, 12, q4(131072));
  b.add("blk.0.attn_norm.weight", {256}, 0, 1024).add("blk.0.ffn_norm.weight", {256}, 0, 1024);
  return b;
}

std::string refusal(const std::string& bytes, std::uint64_t claimed) {
  MemoryFile file(bytes, claimed);
  const auto read = model::read_gguf(file, "x.gguf");
  if (read) return "";
  CHECK(read.error().code == ErrorCode::input);
  return read.error().message;
}

bool mentions(const std::string& message, const char* part) {
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a GGUF file gives exact counts bytes and shape") {
  const auto b = small_llama();
  MemoryFile file(b.header(), b.size());
  const auto read = model::read_gguf(file, "x.gguf");
  if (!read) FAIL(read.error().message);
  // 2 * 262,144 + 65,536 * 2 + 32,768 * 2 + 3 * 131,072 + 3 * 256
  CHECK(read->parameters_total == 524288.0 + 131072 + 65536 + 393216 + 768);
  CHECK(read->warnings.empty());
  CHECK(read->name == "small");
  CHECK(read->architecture.parameters_reported == 0);  // the shape counts the same
  CHECK(read->architecture.kv_heads == 2);
  CHECK(read->architecture.head_dim == 64);
  CHECK(read->quantization.run_as == "gguf");
  // Values / 256 blocks: 851,968 of Q4_K at 144 bytes, 262,144 of Q6_K at 210, 768 of F32.
  CHECK(read->weights_bytes == 851968.0 / 256 * 144 + 262144.0 / 256 * 210 + 768 * 4);
}

TEST_CASE("hostile GGUF files are refused") {
  const auto good = small_llama();
  const std::string bytes = good.header();
  // Cut anywhere, the header is refused.
  for (std::size_t cut = 0; cut < bytes.size(); cut += 7) {
    INFO(cut);
    CHECK_FALSE(refusal(bytes.substr(0, cut), cut).empty());
  }
  CHECK(mentions(refusal(bytes, bytes.size() + 40), "truncated"));
  CHECK(mentions(refusal("GGUX" + std::string(40, '\0'), 44), "GGUF"));
  CHECK(mentions(refusal("GGUF" + little<std::uint32_t>(0x03000000) + std::string(40, '\0'), 48),
                 "big-endian"));
  CHECK(mentions(refusal("GGUF" + little<std::uint32_t>(9) + std::string(40, '\0'), 48),
                 "version 9"));
  const std::string head = "GGUF" + little<std::uint32_t>(3);
  CHECK(
      mentions(refusal(head + little<std::uint64_t>(~0ull) + little<std::uint64_t>(1), 1ull << 40),
               "limits"));
  const std::string one_key = head + little<std::uint64_t>(0) + little<std::uint64_t>(1);
  // Strings and arrays that claim more than the file holds.
  CHECK_FALSE(refusal(one_key + little<std::uint64_t>(1ull << 62), 1ull << 63).empty());
  CHECK(mentions(
      refusal(one_key + text("a") + little<std::uint32_t>(8) + little<std::uint64_t>(1ull << 40),
              1ull << 50),
      "2^30"));
  const std::string array = one_key + text("a.b") + little<std::uint32_t>(9);
  CHECK(mentions(
      refusal(array + little<std::uint32_t>(4) + little<std::uint64_t>(1ull << 40), 1ull << 50),
      "array"));
  CHECK_FALSE(
      refusal(array + little<std::uint32_t>(8) + little<std::uint64_t>(1u << 30), 1ull << 50)
          .empty());
  std::string nested = array;
  for (int i = 0; i < 64; ++i) nested += little<std::uint32_t>(9) + little<std::uint64_t>(1);
  CHECK(mentions(refusal(nested, 1ull << 40), "nested"));
  CHECK(mentions(
      refusal(one_key + text("a") + little<std::uint32_t>(77) + std::string(64, '\0'), 200),
      "unknown value type"));
  CHECK(mentions(refusal(one_key + text(std::string("a\x01", 2)) + little<std::uint32_t>(4) +
                             std::string(64, '\0'),
                         200),
                 "control"));
  auto twice = small_llama();
  twice.meta(key_u32("llama.block_count", 1));
  CHECK(mentions(refusal(twice.header(), twice.size()), "twice"));
  auto same = small_llama();
  same.add("output.weight", {256}, 0, 1024);
  CHECK(mentions(refusal(same.header(), same.size()), "twice"));
  auto unknown = small_llama();
  unknown.add("x", {256}, 4, 1024);
  CHECK(mentions(refusal(unknown.header(), unknown.size()), "unknown type"));
  auto ragged = small_llama();
  ragged.add("x", {100}, 12, 1024);
  CHECK(mentions(refusal(ragged.header(), ragged.size()), "whole blocks"));
  auto huge = small_llama();
  huge.add("x", {1ull << 40, 1ull << 40}, 0, 1024);
  CHECK(mentions(refusal(huge.header(), huge.size()), "2^64"));
  auto overlapping = small_llama();
  overlapping.offset = 0;
  overlapping.add("x", {256}, 0, 1024);
  CHECK(mentions(refusal(overlapping.header(), 1ull << 30), "overlap"));
}
