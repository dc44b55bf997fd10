// PEFT's adapter_config.json (LoRA, 2106.09685).
#include <algorithm>
#include <bit>

#include <nlohmann/json.hpp>

#include "gpuadvisor/model.hpp"
#include "model/fields.hpp"

namespace gpuadvisor::model {
namespace {

/// Joint modules carry one adapter for what they fuse.
bool is_fused_qkv(std::string_view name) {
  for (const std::string_view fused :
       {"qkv_proj", "query_key_value", "c_attn", "W_pack", "Wqkv", "wqkv", "qkv"})
    if (name == fused || name.ends_with("." + std::string(fused))) return true;
  return false;
}

std::vector<std::string> read_targets(Fields& f) {
  const nlohmann::json* value = f.find("target_modules");
  if (value != nullptr && value->is_string()) return {value->get<std::string>()};
  return f.texts("target_modules");
}

/// Module names inside a regular expression: its words that are known modules.
std::uint32_t bits_of_expression(std::string_view expression, const Architecture& a) {
  std::uint32_t bits = 0;
  std::string word;
  for (std::size_t i = 0; i <= expression.size(); ++i) {
    const char c = i < expression.size() ? expression[i] : ' ';
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (letter) {
      word += c;
      continue;
    }
    if (word.size() > 1) bits |= target_bits(word, a);
    word.clear();
  }
  return bits;
}

void add_target(const std::string& name, const Architecture& a, Adapter& adapter,
                std::vector<std::string>& warnings) {
  std::uint32_t bits = target_bits(name, a);
  if (bits == 0) bits = bits_of_expression(name, a);
  if (bits == 0)
    warnings.push_back("target module \"" + name.substr(0, 80) + "\" is not known and not counted");
  adapter.lora.targets |= bits;
  if (is_fused_qkv(name)) adapter.lora.fused_qkv = true;
  if (name == "gate_up_proj" || (name == "dense_h_to_4h" && a.family == "chatglm"))
    adapter.lora.fused_gate_up = true;
}

void read_rank_pattern(Fields& f, const Architecture& a, Adapter& adapter,
                       std::vector<std::string>& warnings) {
  auto pattern = f.object("rank_pattern");
  if (!pattern) return;
  for (const std::string& name : pattern->keys()) {
    const auto rank = pattern->integer({name});
    std::uint32_t bits = target_bits(name, a);
    if (bits == 0) bits = bits_of_expression(name, a);
    if (name.find("layers.") != std::string::npos)
      warnings.push_back("rank_pattern \"" + name.substr(0, 80) + "\": applied to all layers");
    for (; bits != 0; bits &= bits - 1)
      adapter.lora.rank_of[static_cast<std::size_t>(std::countr_zero(bits))] = rank;
  }
  if (pattern->error()) f.complain("rank_pattern", "whole numbers");
}

double saved_module(std::string_view name, const Architecture& a) {
  const ParameterCounts counts = count_parameters(a);
  const std::uint32_t bits = target_bits(name, a);
  if ((bits & (kTargetHead | kTargetEmbedding)) != 0) return counts.embedding;
  return 0;
}

}  // namespace

Result<ModelFile> read_adapter(std::string_view json, std::string_view where) {
  auto document = parse_json(json, where);
  if (!document) return tl::unexpected(document.error());
  if (!document->is_object())
    return fail(ErrorCode::input, "expected a JSON object", std::string(where));
  Fields f(*document, std::string(where));
  ModelFile out;
  out.kind = "adapter";
  Adapter adapter;
  adapter.peft_type = f.text({"peft_type"});
  if (adapter.peft_type.empty())
    return fail(ErrorCode::input, "no peft_type: this is not an adapter configuration",
                std::string(where));
  adapter.base_model = f.text({"base_model_name_or_path"});
  adapter.lora.rank = f.integer({"r"}, 8);
  adapter.alpha = f.integer({"lora_alpha"}, 8);
  adapter.lora.dora = f.boolean({"use_dora"}, false);
  adapter.lora.targets = 0;
  adapter.targets = read_targets(f);
  if (adapter.peft_type != "LORA" && adapter.peft_type != "ADALORA")
    out.warnings.push_back("peft_type " + adapter.peft_type.substr(0, 40) +
                           " is not LoRA: its parameters are not counted");
  const auto base = adapter.base_model.empty() ? Result<const Preset*>(fail(ErrorCode::input, ""))
                                               : resolve_preset(adapter.base_model, where);
  Architecture a;
  if (base) {
    const Preset& preset = **base;
    a = preset.architecture;
    out.name = preset.id;
    out.model_type = a.family;
    out.architecture = a;
    out.architecture.name = {};
    out.parameters_total = preset.parameters_total;
    out.parameters_active = preset.parameters_active;
    out.checkpoint_parameters = preset.checkpoint_parameters;
    out.weights_bytes = preset.weights_bytes;
  } else {
    out.exact = false;
    out.warnings.push_back("base model \"" + adapter.base_model.substr(0, 120) +
                           "\" is no preset: give its folder with --model-file");
  }
  for (const std::string& name : adapter.targets) add_target(name, a, adapter, out.warnings);
  read_rank_pattern(f, a, adapter, out.warnings);
  const auto saved = f.texts("modules_to_save");
  if (f.error()) return tl::unexpected(*f.error());
  if (adapter.lora.rank < 1 || adapter.lora.rank > 65536)
    return fail(ErrorCode::input, "r: expected a rank from 1 to 65536", std::string(where));
  if (base) {
    adapter.lora_parameters = lora_parameters(a, adapter.lora);
    for (const std::string& name : saved) adapter.saved_parameters += saved_module(name, a);
  }
  out.adapter = std::move(adapter);
  return out;
}

}  // namespace gpuadvisor::model
