// data/models/*.json -> constant presets. Each configuration goes through the same
// reader as a user's file, and its count must equal the recorded one.
#include <algorithm>
#include <filesystem>
#include <type_traits>

#include <fmt/format.h>

#include "embed/embed.hpp"
#include "gpuadvisor/model.hpp"
#include "model/config.hpp"
#include "model/fields.hpp"
#include "model/quantization.hpp"

namespace gpuadvisor::embed {
namespace {

using model::Architecture;
using nlohmann::json;

constexpr const char* kHead =
    "// Generated from data/models; do not edit.\n"
    "#include \"model/preset_table.hpp\"\n\n"
    "namespace gpuadvisor::model {\nnamespace {\n\n";

/// Writes designated initialisers of the members that differ from the default.
class Literal {
 public:
  template <class T>
  void member(std::string_view name, const T& value, const T& standard) {
    if (value == standard) return;
    text_ += fmt::format(".{} = {}, ", name, spell(value));
  }
  void raw(std::string_view name, const std::string& value) {
    text_ += fmt::format(".{} = {}, ", name, value);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::string spell(bool value) { return value ? "true" : "false"; }
  static std::string spell(double value) { return double_literal(value); }
  static std::string spell(std::string_view value) { return string_literal(std::string(value)); }
  template <class T>
  static std::string spell(T value) {
    if constexpr (std::is_enum_v<T>)
      return fmt::format("{}({})", type_name(value), static_cast<int>(value));
    else
      return fmt::format("{}", value);
  }
  static const char* type_name(model::Topology) { return "Topology"; }
  static const char* type_name(model::Norm) { return "Norm"; }
  static const char* type_name(model::Positions) { return "Positions"; }
  static const char* type_name(model::Mixer) { return "Mixer"; }

  std::string text_;
};

std::string kinds_literal(const Architecture& a) {
  std::string text = "{{";
  for (int i = 0; i < a.kind_count; ++i) {
    const model::LayerKind& kind = a.kinds[static_cast<std::size_t>(i)];
    text += fmt::format("{{{}, Mixer({}), {}, {}, {}}}, ", kind.count, static_cast<int>(kind.mixer),
                        kind.window, kind.moe, kind.ffn);
  }
  return text + "}}";
}

/// Kinds of the layers up to the last that is not of kind 0.
std::string layers_literal(const Architecture& a) {
  int end = a.layers;
  while (end > 0 && a.kind_of_layer[static_cast<std::size_t>(end - 1)] == 0) --end;
  std::string text = "{{";
  for (int i = 0; i < end; ++i)
    text += fmt::format("{},", a.kind_of_layer[static_cast<std::size_t>(i)]);
  return text + "}}";
}

std::string architecture_literal(const Architecture& a) {
  const Architecture d;
  Literal out;
#define GPUADVISOR_MEMBER(name) out.member(#name, a.name, d.name)
  GPUADVISOR_MEMBER(name);
  GPUADVISOR_MEMBER(family);
  GPUADVISOR_MEMBER(topology);
  GPUADVISOR_MEMBER(causal);
  GPUADVISOR_MEMBER(layers);
  GPUADVISOR_MEMBER(hidden);
  GPUADVISOR_MEMBER(heads);
  GPUADVISOR_MEMBER(kv_heads);
  GPUADVISOR_MEMBER(head_dim);
  GPUADVISOR_MEMBER(ffn);
  GPUADVISOR_MEMBER(vocab);
  GPUADVISOR_MEMBER(max_positions);
  GPUADVISOR_MEMBER(gated);
  GPUADVISOR_MEMBER(tied);
  GPUADVISOR_MEMBER(qkv_bias);
  GPUADVISOR_MEMBER(key_bias);
  GPUADVISOR_MEMBER(out_bias);
  GPUADVISOR_MEMBER(mlp_bias);
  GPUADVISOR_MEMBER(head_bias);
  GPUADVISOR_MEMBER(parallel_block);
  GPUADVISOR_MEMBER(attention_gate);
  GPUADVISOR_MEMBER(attention_sinks);
  GPUADVISOR_MEMBER(norm);
  GPUADVISOR_MEMBER(norm_bias);
  GPUADVISOR_MEMBER(norms_per_layer);
  GPUADVISOR_MEMBER(qk_norm);
  GPUADVISOR_MEMBER(positions);
  GPUADVISOR_MEMBER(learned_positions);
  GPUADVISOR_MEMBER(final_norm);
  GPUADVISOR_MEMBER(embedding_dim);
  GPUADVISOR_MEMBER(experts);
  GPUADVISOR_MEMBER(experts_per_token);
  GPUADVISOR_MEMBER(expert_ffn);
  GPUADVISOR_MEMBER(shared_ffn);
  GPUADVISOR_MEMBER(router_bias);
  GPUADVISOR_MEMBER(shared_gate);
  GPUADVISOR_MEMBER(q_lora_rank);
  GPUADVISOR_MEMBER(kv_lora_rank);
  GPUADVISOR_MEMBER(qk_nope_dim);
  GPUADVISOR_MEMBER(qk_rope_dim);
  GPUADVISOR_MEMBER(v_head_dim);
  GPUADVISOR_MEMBER(index_heads);
  GPUADVISOR_MEMBER(index_head_dim);
  GPUADVISOR_MEMBER(linear_key_heads);
  GPUADVISOR_MEMBER(linear_key_dim);
  GPUADVISOR_MEMBER(linear_value_heads);
  GPUADVISOR_MEMBER(linear_value_dim);
  GPUADVISOR_MEMBER(linear_conv);
  GPUADVISOR_MEMBER(ssm_inner);
  GPUADVISOR_MEMBER(ssm_state);
  GPUADVISOR_MEMBER(ssm_conv);
  GPUADVISOR_MEMBER(ssm_heads);
  GPUADVISOR_MEMBER(ssm_groups);
  GPUADVISOR_MEMBER(ssm_dt_rank);
  GPUADVISOR_MEMBER(ssm_conv_bias);
  GPUADVISOR_MEMBER(ssm_bias);
  GPUADVISOR_MEMBER(ssm_norm);
  GPUADVISOR_MEMBER(ssm_inner_norms);
  GPUADVISOR_MEMBER(encoder_layers);
  GPUADVISOR_MEMBER(encoder_ffn);
  GPUADVISOR_MEMBER(cross_attention);
  GPUADVISOR_MEMBER(mtp_layers);
  GPUADVISOR_MEMBER(mtp_own_embedding);
  GPUADVISOR_MEMBER(vision_parameters);
  GPUADVISOR_MEMBER(pooler_parameters);
  GPUADVISOR_MEMBER(extra_parameters);
  if (a.kind_count > 0) out.raw("kinds", kinds_literal(a));
  GPUADVISOR_MEMBER(kind_count);
  if (a.kind_count > 1) out.raw("kind_of_layer", layers_literal(a));
  GPUADVISOR_MEMBER(parameters_reported);
  GPUADVISOR_MEMBER(torch_dtype);
  GPUADVISOR_MEMBER(licence);
#undef GPUADVISOR_MEMBER
  return "{" + out.text() + "}";
}

std::string joined(const json& list) {
  std::string text;
  for (const json& entry : list) text += (text.empty() ? "" : "; ") + entry.get<std::string>();
  return text;
}

struct Generated {
  std::string id, reported, preset;
};

std::string counts_literal(const json& list, std::string_view name) {
  std::string text = fmt::format("constexpr ReportedCount {}[] = {{\n", name);
  for (const json& entry : list)
    text += fmt::format(
        "    {{{}, {}, {}}},\n", double_literal(entry.at("count").get<double>()),
        string_literal(entry.at("what").get<std::string>() +
                       (entry.contains("match") ? "; " + entry["match"].get<std::string>() : "")),
        string_literal(entry.value("source", "")));
  return text + "};\n";
}

Result<Generated> generate(const std::string& path, std::size_t index) {
  auto document = read_json(path);
  if (!document) return tl::unexpected(document.error());
  auto parsed = model::parse_json(document->dump(), path);
  if (!parsed) return tl::unexpected(parsed.error());
  const json& entry = *parsed;
  auto read = model::read_config_json(entry.at("config"), path);
  if (!read) return tl::unexpected(read.error());
  Architecture a = read->architecture;
  const auto id = entry.at("id").get<std::string>();
  const auto licence = entry.value("licence", "");
  a.name = id;
  a.licence = licence;
  const auto total = entry.at("parameters_total").get<double>();
  const auto active = entry.at("parameters_active").get<double>();
  if (entry.at("check") == "reported_only") a.parameters_reported = total;
  const model::ParameterCounts counts = model::count_parameters(a);
  if (counts.total != total || counts.active != active)
    return fail(ErrorCode::input,
                fmt::format("counts {:.0f} total, {:.0f} active; recorded {:.0f}, {:.0f}",
                            counts.total, counts.active, total, active),
                path);
  double checkpoint = total;
  double side = 0;  // scales are in the stored bits of a quantised weight
  const json extra = entry.value("checkpoint_extra", json::array());
  double mtp = 0;  // stored like the other layers
  for (const json& part : extra) {
    const auto count = part.at("count").get<double>();
    const auto what = part.at("what").get<std::string>();
    checkpoint += count;
    if (what == "MTP layer")
      mtp += count;
    else if (what.find("scales") == std::string::npos)
      side += count;
  }
  const double layer_bits = read->quantization.bits_stored > 0 ? read->quantization.bits_stored
                                                               : model::dtype_bits(a.torch_dtype);
  const double bytes = model::stored_weights_bytes(a, read->quantization, a.torch_dtype, side) +
                       mtp * layer_bits / 8.0;
  Generated out;
  out.id = id;
  const json& reported = entry.at("reported");
  std::string reported_name = "{}", extra_name = "{}";
  if (!reported.empty())
    out.reported += counts_literal(reported, reported_name = fmt::format("kReported{}", index));
  if (!extra.empty())
    out.reported += counts_literal(extra, extra_name = fmt::format("kExtra{}", index));
  const auto text = [&](const char* key) { return string_literal(entry.value(key, "")); };
  out.preset = fmt::format(
      "    {{{}, {}, {}, {},\n     {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", string_literal(id),
      text("hub_id"), text("task"), architecture_literal(a), double_literal(total),
      double_literal(active), double_literal(checkpoint), text("check"),
      string_literal(joined(entry.at("sources"))), text("notes"), reported_name,
      double_literal(bytes), double_literal(model::kv_bytes_per_token(a, 2.0)), extra_name);
  return out;
}

}  // namespace

Result<void> models(std::span<const std::string> arguments) {
  if (arguments.size() != 2) return fail(ErrorCode::usage, "expected DIR OUT", "models");
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(arguments[0]))
    if (file.path().extension() == ".json") paths.push_back(file.path().string());
  std::sort(paths.begin(), paths.end());
  std::vector<Generated> all;
  std::string problems;
  for (const std::string& path : paths) {
    try {
      auto one = generate(path, all.size());
      if (one)
        all.push_back(std::move(*one));
      else
        problems += "\n  " + one.error().where + ": " + one.error().message;
    } catch (const std::exception& error) {
      return fail(ErrorCode::input, error.what(), path);
    }
  }
  if (!problems.empty()) return fail(ErrorCode::input, problems, "models");
  std::sort(all.begin(), all.end(),
            [](const Generated& x, const Generated& y) { return x.id < y.id; });
  std::string text = kHead;
  for (const Generated& one : all) text += one.reported;
  text += "\nconstexpr Preset kPresets[] = {\n";
  for (const Generated& one : all) text += one.preset;
  text +=
      "};\n\n}  // namespace\n\nstd::span<const Preset> preset_table() { return kPresets; }\n\n"
      "}  // namespace gpuadvisor::model\n";
  return write_text(arguments[1], text);
}

}  // namespace gpuadvisor::embed
