#include <algorithm>
#include <charconv>
#include <string>

#include "gpuadvisor/serving.hpp"

namespace gpuadvisor::serving {
namespace {

constexpr std::array<std::string_view, 9> kEngines = {"vllm",         "sglang",   "tensorrt-llm",
                                                      "transformers", "lmdeploy", "llama.cpp",
                                                      "autoawq",      "zhilight", "other"};

constexpr std::array<std::string_view, static_cast<std::size_t>(Quant::count_)> kQuants = {
    "none",        "fp32",         "fp8",          "int8",        "fp4",         "mxfp4",
    "gptq-int4",   "gptq-int8",    "awq-int4",     "nf4",         "nf4-dq",      "int8-bnb",
    "gguf-f32",    "gguf-f16",     "gguf-q8_0",    "gguf-q6_k",   "gguf-q5_k_m", "gguf-q5_k_s",
    "gguf-q5_0",   "gguf-q5_1",    "gguf-q4_k_m",  "gguf-q4_k_s", "gguf-q4_0",   "gguf-q4_1",
    "gguf-iq4_nl", "gguf-iq4_xs",  "gguf-q3_k_l",  "gguf-q3_k_m", "gguf-q3_k_s", "gguf-iq3_m",
    "gguf-iq3_s",  "gguf-iq3_xs",  "gguf-iq3_xxs", "gguf-q2_k",   "gguf-iq2_m",  "gguf-iq2_s",
    "gguf-iq2_xs", "gguf-iq2_xxs", "gguf-iq1_m",   "gguf-iq1_s"};

constexpr std::array<std::string_view, 7> kKvTypes = {"auto", "fp16", "fp8", "int8",
                                                      "q8_0", "q4_0", "fp4"};
constexpr std::array<std::string_view, 5> kLoads = {"batch", "closed", "saturated", "open",
                                                    "burst"};
constexpr std::array<std::string_view, 5> kLimits = {"compute", "bandwidth", "kv_capacity",
                                                     "all_reduce", "launch"};

struct Alias {
  std::string_view name;
  Quant quant;
};
constexpr Alias kAliases[] = {
    {"fp16", Quant::none},      {"bf16", Quant::none},      {"awq", Quant::awq_int4},
    {"gptq", Quant::gptq_int4}, {"nvfp4", Quant::fp4},      {"w8a8", Quant::int8},
    {"int4", Quant::awq_int4},  {"int8-w8a8", Quant::int8}, {"gguf-bf16", Quant::gguf_f16}};

template <class E, std::size_t N>
std::optional<E> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<E>(found - names.begin());
}

}  // namespace

std::string_view to_string(Engine value) { return kEngines[static_cast<std::size_t>(value)]; }
std::string_view to_string(Quant value) { return kQuants[static_cast<std::size_t>(value)]; }
std::string_view to_string(KvType value) { return kKvTypes[static_cast<std::size_t>(value)]; }
std::string_view to_string(Load value) { return kLoads[static_cast<std::size_t>(value)]; }
std::string_view to_string(Limit value) { return kLimits[static_cast<std::size_t>(value)]; }

std::optional<Engine> engine_from_string(std::string_view name) {
  return find_name<Engine>(kEngines, name);
}

std::optional<Quant> quant_from_string(std::string_view name) {
  for (const Alias& alias : kAliases)
    if (alias.name == name) return alias.quant;
  return find_name<Quant>(kQuants, name);
}

std::optional<KvType> kv_type_from_string(std::string_view name) {
  if (name == "bf16") return KvType::fp16;
  if (name == "fp8_e4m3" || name == "fp8_e5m2") return KvType::fp8;
  return find_name<KvType>(kKvTypes, name);
}

std::optional<Load> load_from_string(std::string_view name) {
  return find_name<Load>(kLoads, name);
}

std::string describe(const Plan& plan) {
  std::string text = plan.layer_split ? std::to_string(plan.split_gpus) + "-GPU layer split"
                                      : "TP" + std::to_string(plan.tp);
  if (plan.pp > 1) text += " x PP" + std::to_string(plan.pp);
  text += " x " + std::to_string(plan.replicas) + " replica";
  return plan.replicas == 1 ? text : text + "s";
}

std::span<const std::string_view> engine_names() { return kEngines; }
std::span<const std::string_view> quant_names() { return kQuants; }

std::int32_t parse_version(std::string_view text) {
  std::int32_t parts[3] = {0, 0, 0};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (count < 3) {
    const auto [next, error] = std::from_chars(at, end, parts[count]);
    if (error != std::errc{} || parts[count] < 0 || parts[count] > 999) break;
    ++count;
    if (next == end || *next != '.') break;
    at = next + 1;
  }
  if (count == 0) return 0;
  return parts[0] * 10000 + parts[1] * 100 + std::min(parts[2], 99);
}

}  // namespace gpuadvisor::serving
