#include <array>
#include <string>

#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::workload {
namespace {

// Spellings in the order of the enumerators.
template <class E>
struct Names;

template <>
struct Names<Mode> {
  static constexpr auto list =
      std::to_array<std::string_view>({"pretrain", "full-ft", "lora", "qlora", "dpo", "serve"});
};
template <>
struct Names<Precision> {
  static constexpr auto list =
      std::to_array<std::string_view>({"bf16", "fp16", "fp8", "fp32", "bf16-pure"});
};
template <>
struct Names<Optimizer> {
  static constexpr auto list = std::to_array<std::string_view>(
      {"adamw", "adamw-8bit", "adamw-paged", "adafactor", "sgd", "lion", "muon", "galore"});
};
template <>
struct Names<Recompute> {
  static constexpr auto list = std::to_array<std::string_view>(
      {"none", "selective", "selective_op", "selective_layer", "full"});
};
template <>
struct Names<Attention> {
  static constexpr auto list = std::to_array<std::string_view>({"flash", "eager"});
};
template <>
struct Names<AttentionKernel> {
  static constexpr auto list = std::to_array<std::string_view>({"fa1", "fa2", "fa3"});
};
template <>
struct Names<KernelProfile> {
  static constexpr auto list =
      std::to_array<std::string_view>({"fused", "eager", "compiled", "mpt"});
};
template <>
struct Names<Loss> {
  static constexpr auto list =
      std::to_array<std::string_view>({"plain", "fused", "compiled", "chunked"});
};
template <>
struct Names<Quant> {
  static constexpr auto list =
      std::to_array<std::string_view>({"none", "nf4", "nf4-dq", "int8-bnb", "gptq-int4",
                                       "gptq-int8", "awq-int4", "fp8", "fp4", "gguf"});
};
template <>
struct Names<Sharding> {
  static constexpr auto list = std::to_array<std::string_view>(
      {"none", "zero1", "zero2", "zero3", "fsdp", "fsdp-grad-op", "hsdp"});
};
template <>
struct Names<Schedule> {
  static constexpr auto list =
      std::to_array<std::string_view>({"1f1b", "interleaved", "gpipe", "zb-1p", "zb-2p"});
};
template <>
struct Names<Framework> {
  static constexpr auto list = std::to_array<std::string_view>(
      {"hf", "deepspeed", "fsdp", "megatron", "megatron-deepspeed", "torchtitan", "torchtune",
       "litgpt", "llm-foundry", "nemo", "internevo", "paddle", "maxtext", "llm.c", "oneflow",
       "pytorch", "unsloth", "other"});
};
template <>
struct Names<StateRecipe> {
  static constexpr auto list = std::to_array<std::string_view>(
      {"megatron", "deepspeed", "fsdp_mixed", "hf_16bit", "hf_amp"});
};

/// Other spellings that people and frameworks use, read but never printed.
struct Alias {
  std::string_view spelling, name;
};
constexpr auto kAliases = std::to_array<Alias>({
    {"adam", "adamw"},
    {"adamw-fused", "adamw"},
    {"adamw-torch", "adamw"},
    {"adam-8bit", "adamw-8bit"},
    {"adam8bit", "adamw-8bit"},
    {"adamw8bit", "adamw-8bit"},
    {"paged-adamw", "adamw-paged"},
    {"paged-adamw-32bit", "adamw-paged"},
    {"paged-adamw-8bit", "adamw-paged"},
    {"pagedadamw8bit", "adamw-paged"},
    {"adamw-paged-8bit", "adamw-paged"},
    {"adamw-8bit-paged", "adamw-paged"},
    {"sdpa", "flash"},
    {"flash-attention", "flash"},
    {"flash-attention-2", "flash"},
    {"math", "eager"},
    {"ddp", "none"},
    {"fsdp2", "fsdp"},
    {"fsdp1", "fsdp"},
    {"liger", "fused"},
    {"cce", "fused"},
    {"core-attn", "selective"},
    {"true", "full"},
    {"false", "none"},
    {"sft", "full-ft"},
    {"full", "full-ft"},
    {"bnb-nf4", "nf4"},
    {"int8", "int8-bnb"},
    {"llamafactory", "hf"},
    {"llama-factory", "hf"},
    {"ms-swift", "hf"},
    {"swift", "hf"},
    {"axolotl", "hf"},
    {"trl", "hf"},
    {"peft", "hf"},
    {"megatron-lm", "megatron"},
    {"megatron-core", "megatron"},
    {"megatron-bridge", "nemo"},
    {"zero-bubble", "zb-1p"},
    {"dpo-lora", "dpo"},
});

template <class E>
std::optional<E> find_name(std::string_view name) {
  const auto& list = Names<E>::list;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

/// Lower case, and one kind of joint: "Paged_AdamW_8bit" is "paged-adamw-8bit".
std::string fold(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return folded;
}

template <class E>
std::string_view name_of(E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < Names<E>::list.size() ? Names<E>::list[index] : std::string_view("?");
}

}  // namespace

template <class E>
std::span<const std::string_view> names_of() {
  return Names<E>::list;
}

template <class E>
std::optional<E> from_string(std::string_view name) {
  if (const auto exact = find_name<E>(name)) return exact;
  const std::string folded = fold(name);
  for (std::size_t i = 0; i < Names<E>::list.size(); ++i)
    if (fold(Names<E>::list[i]) == folded) return static_cast<E>(i);
  for (const Alias& alias : kAliases)
    if (alias.spelling == folded)
      if (const auto known = find_name<E>(alias.name)) return known;
  return std::nullopt;
}

// One line an enum: the printer, and the instances of the two templates.
#define GPUADVISOR_NAMES(E)                                        \
  std::string_view to_string(E value) { return name_of(value); }   \
  template std::optional<E> from_string<E>(std::string_view name); \
  template std::span<const std::string_view> names_of<E>();

GPUADVISOR_NAMES(Mode)
GPUADVISOR_NAMES(Precision)
GPUADVISOR_NAMES(Optimizer)
GPUADVISOR_NAMES(Recompute)
GPUADVISOR_NAMES(Attention)
GPUADVISOR_NAMES(AttentionKernel)
GPUADVISOR_NAMES(KernelProfile)
GPUADVISOR_NAMES(Loss)
GPUADVISOR_NAMES(Quant)
GPUADVISOR_NAMES(Sharding)
GPUADVISOR_NAMES(Schedule)
GPUADVISOR_NAMES(Framework)
GPUADVISOR_NAMES(StateRecipe)
#undef GPUADVISOR_NAMES

}  // namespace gpuadvisor::workload
