#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "embed/embed.hpp"

namespace gpuadvisor::embed {
namespace {

enum class FieldKind { name, enumerator, flag, number };

struct Field {
  const char* key;
  FieldKind kind;
  const char* type = "";  ///< enum of an enumerator
};

// Members of workload::FrameworkProfile, in order.
constexpr std::array kFields = {
    Field{"id", FieldKind::name},
    Field{"id", FieldKind::enumerator, "Framework"},
    Field{"kernel_profile", FieldKind::enumerator, "KernelProfile"},
    Field{"recipe", FieldKind::enumerator, "StateRecipe"},
    Field{"vocab_parallel", FieldKind::flag},
    Field{"pad_vocab", FieldKind::flag},
    Field{"sequence_parallel", FieldKind::flag},
    Field{"foreach_optimizer", FieldKind::flag},
    Field{"fused_norm", FieldKind::flag},
    Field{"fused_rope", FieldKind::flag},
    Field{"dropout_default", FieldKind::flag},
    Field{"attention_kernel", FieldKind::enumerator, "AttentionKernel"},
    Field{"host_layer_s", FieldKind::number},
    Field{"host_peft_s", FieldKind::number},
    Field{"host_gptq_s", FieldKind::number},
    Field{"host_zero3_s", FieldKind::number},
    Field{"host_fsdp_s", FieldKind::number},
    Field{"loss_bytes", FieldKind::number},
    Field{"optimizer_bytes", FieldKind::number},
    Field{"grad_reduce_bytes", FieldKind::number},
    Field{"grad_overlap", FieldKind::number},
    Field{"overlap_param_gather", FieldKind::flag},
    Field{"tp_overlap", FieldKind::flag},
    Field{"tp_backward_overlap", FieldKind::flag},
    Field{"p2p_overlap", FieldKind::flag},
    Field{"checkpoint_early_stop", FieldKind::flag},
    Field{"reduce_every_micro_batch", FieldKind::flag},
    Field{"allreduce_then_shard", FieldKind::flag},
    Field{"owner_broadcast", FieldKind::flag},
    Field{"selective_by_operator", FieldKind::flag},
    Field{"context_all_to_all", FieldKind::flag},
    Field{"adapter_in_bytes", FieldKind::number},
    Field{"adapter_out_bytes", FieldKind::number},
};

// Members of workload::MemoryTraits, in order; a missing one keeps its default.
constexpr std::array kMemoryFields = {
    Field{"gradient_buffer", FieldKind::flag},
    Field{"no_sync_gradients", FieldKind::flag},
    Field{"repeats_kv", FieldKind::flag},
    Field{"joint_qkv", FieldKind::flag},
    Field{"adapter_index_copy", FieldKind::flag},
    Field{"unties_head", FieldKind::flag},
    Field{"keeps_gathered_in_pipeline", FieldKind::flag},
    Field{"pipeline_splits_micro_batch", FieldKind::flag},
    Field{"dummy_weight_gradients", FieldKind::flag},
    Field{"legacy_stack", FieldKind::flag},
    Field{"adapter_bytes", FieldKind::number},
    Field{"head_bytes", FieldKind::number},
    Field{"head_reserved_bytes", FieldKind::number},
    Field{"head_full_bytes", FieldKind::number},
    Field{"head_tp_bytes", FieldKind::number},
    Field{"head_fused_bytes", FieldKind::number},
    Field{"head_compiled_bytes", FieldKind::number},
    Field{"logits_kept_bytes", FieldKind::number},
    Field{"fragmentation", FieldKind::number},
};

std::string enumerator(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

Result<std::string> literal(const nlohmann::ordered_json& record, const Field& field,
                            const std::string& where) {
  if (!record.contains(field.key))
    return fail(ErrorCode::input, fmt::format("'{}' is missing", field.key), where);
  const auto& value = record[field.key];
  switch (field.kind) {
    case FieldKind::name:
      if (value.is_string()) return string_literal(value.get<std::string>());
      break;
    case FieldKind::enumerator:
      if (value.is_string())
        return fmt::format("{}::{}", field.type, enumerator(value.get<std::string>()));
      break;
    case FieldKind::flag:
      if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
      break;
    case FieldKind::number:
      if (value.is_number() && value.get<double>() >= 0) return double_literal(value.get<double>());
      break;
  }
  return fail(ErrorCode::input, fmt::format("'{}' has a wrong type or value", field.key), where);
}

bool known_keys(const nlohmann::ordered_json& record, std::span<const Field> fields) {
  for (const auto& item : record.items()) {
    const auto known = [&](const Field& field) { return item.key() == field.key; };
    if (item.key() != "basis" && item.key() != "memory" &&
        std::none_of(fields.begin(), fields.end(), known))
      return false;
  }
  return true;
}

Result<std::string> memory_traits(const nlohmann::ordered_json& traits, const std::string& where) {
  if (!known_keys(traits, kMemoryFields)) return fail(ErrorCode::input, "unknown key", where);
  std::string text;
  for (const Field& field : kMemoryFields) {
    if (!traits.contains(field.key)) continue;
    auto value = literal(traits, field, where);
    if (!value) return value;
    text += fmt::format("{}.{} = {}", text.empty() ? "" : ", ", field.key, *value);
  }
  return "MemoryTraits{" + text + "}";
}

Result<std::string> profile_line(const nlohmann::ordered_json& record, const std::string& where) {
  if (!known_keys(record, kFields)) return fail(ErrorCode::input, "unknown key", where);
  std::string line = "  {";
  for (const Field& field : kFields) {
    auto text = literal(record, field, where);
    if (!text) return text;
    line += *text + ", ";
  }
  if (!record.contains("memory")) return fail(ErrorCode::input, "'memory' is missing", where);
  auto traits = memory_traits(record["memory"], where + ".memory");
  if (!traits) return traits;
  return line + *traits + "},\n";
}

}  // namespace

Result<void> frameworks(std::span<const std::string> arguments) {
  if (arguments.size() != 2) return fail(ErrorCode::usage, "expected IN OUT", "frameworks");
  auto document = read_json(arguments[0]);
  if (!document) return tl::unexpected(document.error());
  std::string text =
      "// Generated from data/frameworks.json; do not edit.\n#pragma once\n\n"
      "#include \"gpuadvisor/workload.hpp\"\n\nnamespace gpuadvisor::workload {\n"
      "inline constexpr FrameworkProfile kFrameworkProfiles[] = {\n";
  std::set<std::string> seen;
  for (const auto& record : document->at("frameworks")) {
    const std::string id = record.value("id", std::string());
    const std::string where = arguments[0] + ": " + id;
    if (!seen.insert(id).second) return fail(ErrorCode::input, "duplicate framework", where);
    auto line = profile_line(record, where);
    if (!line) return tl::unexpected(line.error());
    text += *line;
  }
  return write_text(arguments[1], text + "};\n}  // namespace gpuadvisor::workload\n");
}

}  // namespace gpuadvisor::embed
