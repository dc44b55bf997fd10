#include "model/quantization.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "model/fields.hpp"

namespace gpuadvisor::model {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxSkipped = 4096;

/// What one scale for `group` weights adds to each, in bits.
double per_group(double scale_bits, std::int32_t group) {
  return group > 0 ? scale_bits / group : 0.0;
}

struct Runnable {
  std::string_view method, format, run_as;
};
/// How the serving and tuning stacks name a storage; first match wins, empty is any.
constexpr Runnable kRunnable[] = {
    {"gptq", "int4", "gptq-int4"},
    {"gptq", "int8", "gptq-int8"},
    {"awq", "int4", "awq-int4"},
    {"bitsandbytes", "int8", "int8-bnb"},
    {"gguf", "", "gguf"},
    {"", "nf4", "nf4"},
    {"", "fp8", "fp8"},
    {"", "mxfp4", "fp4"},
    {"", "nvfp4", "fp4"},
    {"", "fp4", "fp4"},
    {"", "int4", "gptq-int4"},
    {"", "int8", "gptq-int8"},
};

void name_run(Quantization& q) {
  q.run_as = "none";
  for (const Runnable& entry : kRunnable)
    if ((entry.method.empty() || entry.method == q.method) &&
        (entry.format.empty() || entry.format == q.format)) {
      q.run_as = q.double_quant && entry.run_as == "nf4" ? "nf4-dq" : entry.run_as;
      return;
    }
}

std::string integer_format(double bits) { return "int" + std::to_string(static_cast<int>(bits)); }

void set_integer(Quantization& q, double bits, std::int32_t group, bool zeros) {
  q.bits = bits;
  q.format = integer_format(bits);
  q.group_size = group;
  q.zero_points = zeros;
  q.bits_stored = bits + per_group(16.0 + (zeros ? bits : 0.0), group);
}

void set_block_fp8(Fields& f, Quantization& q) {
  q.format = "fp8";
  q.bits = 8;
  const auto block = f.integers("weight_block_size");
  const double values = block.size() == 2 ? 1.0 * block[0] * block[1] : 0.0;
  q.bits_stored = 8.0 + (values > 0 ? 32.0 / values : 0.0);
}

void set_bitsandbytes(Fields& f, Quantization& q) {
  if (f.boolean({"load_in_4bit", "_load_in_4bit"}, false)) {
    const std::string type = f.text({"bnb_4bit_quant_type"});
    q.format = type.empty() ? "fp4" : type;
    q.double_quant = f.boolean({"bnb_4bit_use_double_quant"}, false);
    q.bits = 4;
    q.group_size = 64;
    // A 32-bit scale for 64 weights, or 8 bits and a 32-bit scale for 256 of those.
    q.bits_stored = 4.0 + (q.double_quant ? 8.0 / 64.0 + 32.0 / (64.0 * 256.0) : 32.0 / 64.0);
  } else if (f.boolean({"load_in_8bit", "_load_in_8bit"}, false)) {
    q.format = "int8";
    q.bits = q.bits_stored = 8;
  }
}

/// A `weights` entry of a config group: num_bits, type, group_size.
void set_group(Fields& weights, Quantization& q) {
  const double bits = weights.integer({"num_bits"}, 8);
  const std::string type = weights.text({"type"});
  const auto group = weights.integer_or_negative("group_size", 0);
  if (type == "float" && bits == 4) {
    q.format = "nvfp4";
    q.bits = 4;
    q.group_size = group > 0 ? group : 16;
    q.bits_stored = 4.0 + per_group(8.0, q.group_size);
  } else if (type == "float") {
    q.format = "fp8";
    q.bits = q.bits_stored = bits;
  } else {
    set_integer(q, bits, std::max(group, 0), !weights.boolean({"symmetric"}, true));
  }
}

void set_config_groups(Fields& f, Quantization& q) {
  const auto groups = f.object("config_groups");
  if (!groups) return;
  bool first = true;
  for (const std::string& name : groups->keys()) {
    const auto group = groups->object(name);
    const auto weights = group ? group->object("weights") : std::nullopt;
    if (!weights) continue;
    Quantization one;
    Fields fields = *weights;
    set_group(fields, one);
    if (fields.error()) f.complain("config_groups", "valid weights");
    if (!first && one.format != q.format) {
      q.format = "mixed";
      q.bits_stored = std::max(q.bits_stored, one.bits_stored);
      continue;
    }
    q.format = one.format;
    q.bits = one.bits;
    q.bits_stored = one.bits_stored;
    q.group_size = one.group_size;
    q.zero_points = one.zero_points;
    first = false;
  }
}

/// ModelOpt's quant_algo.
void set_algorithm(Fields& f, Quantization& q) {
  const std::string algorithm = f.text({"quant_algo"});
  const auto group = f.integer({"group_size"}, 0);
  if (algorithm.rfind("NVFP4", 0) == 0 || algorithm == "W4A8_NVFP4_FP8") {
    q.format = "nvfp4";
    q.bits = 4;
    q.group_size = group > 0 ? group : 16;
    q.bits_stored = 4.0 + per_group(8.0, q.group_size);
  } else if (algorithm.rfind("FP8", 0) == 0 || algorithm == "MXFP8") {
    q.format = "fp8";
    q.bits = 8;
    q.bits_stored = algorithm == "MXFP8" ? 8.25 : 8.0;
  } else if (algorithm.rfind("W4A16", 0) == 0 || algorithm.rfind("W4A8", 0) == 0) {
    set_integer(q, 4, group > 0 ? group : 128, false);
  } else if (algorithm.rfind("W8A", 0) == 0 || algorithm.rfind("INT8", 0) == 0) {
    set_integer(q, 8, 0, false);
  } else if (algorithm == "MIXED_PRECISION") {
    q.format = "mixed";
    q.bits = q.bits_stored = 8;
  }
}

void set_kv_cache(Fields& f, Quantization& q) {
  const std::string algorithm = f.text({"kv_cache_quant_algo"});
  if (algorithm == "FP8" || algorithm == "INT8") q.kv_cache_bits = 8;
  if (algorithm == "NVFP4") q.kv_cache_bits = 4;
  if (auto scheme = f.object("kv_cache_scheme")) q.kv_cache_bits = scheme->integer({"num_bits"}, 0);
}

void set_skipped(Fields& f, Quantization& q) {
  for (const std::string_view key : {"modules_to_not_convert", "ignore", "exclude_modules",
                                     "llm_int8_skip_modules", "ignored_layers"})
    for (std::string& name : f.texts(key))
      if (q.skipped.size() < kMaxSkipped) q.skipped.push_back(std::move(name));
}

Result<Quantization> finish(Fields& f, Quantization q) {
  set_kv_cache(f, q);
  set_skipped(f, q);
  if (f.error()) return tl::unexpected(*f.error());
  if (q.bits < 0 || q.bits > 16)
    return fail(ErrorCode::input, "expected at most 16 bits a weight", f.where());
  name_run(q);
  return q;
}

}  // namespace

double dtype_bits(std::string_view dtype) {
  if (dtype == "float32") return 32;
  if (dtype.substr(0, 6) == "float8" || dtype == "int8" || dtype == "uint8") return 8;
  return 16;
}

Result<Quantization> read_quantization(const json& object, std::string_view where) {
  if (!object.is_object())
    return fail(ErrorCode::input, "quantization_config: expected an object", std::string(where));
  Fields f(object, std::string(where) + ": quantization_config");
  Quantization q;
  q.method = f.text({"quant_method"});
  if (q.method.empty())
    q.method = f.has("quant_algo")     ? "modelopt"
               : f.has("load_in_4bit") ? "bitsandbytes"
                                       : "unknown";
  const double bits = f.integer({"bits", "w_bit", "nbits"}, 4);
  const auto group = f.integer_or_negative("group_size", f.integer({"q_group_size"}, 128));
  if (q.method == "gptq" || q.method == "gptqmodel" || q.method == "auto-round") {
    q.method = q.method == "gptqmodel" ? "gptq" : q.method;
    set_integer(q, bits, std::max(group, 0), true);  // zero points are stored even when symmetric
  } else if (q.method == "awq") {
    set_integer(q, bits, std::max(group, 0), f.boolean({"zero_point"}, true));
  } else if (q.method == "bitsandbytes") {
    set_bitsandbytes(f, q);
  } else if (q.method == "fp8" || q.method == "fbgemm_fp8") {
    set_block_fp8(f, q);
  } else if (q.method == "mxfp4") {
    q.format = "mxfp4";
    q.bits = 4;
    q.group_size = 32;
    q.bits_stored = 4.0 + 8.0 / 32.0;
  } else if (f.has("config_groups")) {
    set_config_groups(f, q);
  } else if (f.has("quant_algo")) {
    set_algorithm(f, q);
  } else if (f.has("bits") || f.has("nbits")) {
    set_integer(q, bits, std::max(group, 0), false);
  }
  return finish(f, std::move(q));
}

Result<Quantization> read_modelopt(const json& document, std::string_view where) {
  if (!document.is_object())
    return fail(ErrorCode::input, "expected a JSON object", std::string(where));
  Fields top(document, std::string(where));
  const auto inner = top.object("quantization");
  if (!inner) return fail(ErrorCode::input, "no quantization object", std::string(where));
  Fields f = *inner;
  Quantization q;
  q.method = "modelopt";
  set_algorithm(f, q);
  return finish(f, std::move(q));
}

}  // namespace gpuadvisor::model
