// Models: all presets in a list, or one with its architecture and counts.
#include <array>

#include <fmt/format.h>

#include "gpuadvisor/units.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/listing.hpp"

namespace gpuadvisor::report {
namespace {

std::string_view topology_name(model::Topology topology) {
  constexpr std::array<std::string_view, 5> kNames = {"decoder", "encoder", "encoder_decoder",
                                                      "vision", "diffusion"};
  return kNames[static_cast<std::size_t>(topology)];
}

double bytes_per_weight(std::string_view dtype) {
  if (dtype == "float32") return 4;
  if (dtype.substr(0, 6) == "float8") return 1;
  return 2;
}

double weights_bytes(const ModelFacts& facts) {
  if (facts.weights_bytes > 0) return facts.weights_bytes;
  return facts.counts.total * bytes_per_weight(facts.architecture.torch_dtype);
}

Json architecture_json(const model::Architecture& a) {
  Json json = Json::object();
  json["topology"] = topology_name(a.topology);
  json["layers"] = a.layers;
  json["hidden"] = a.hidden;
  json["heads"] = a.heads;
  json["kv_heads"] = a.kv_heads;
  json["head_dim"] = a.head_dim;
  json["ffn"] = a.ffn;
  json["gated_mlp"] = a.gated;
  json["vocab"] = a.vocab;
  json["max_positions"] = a.max_positions;
  json["tied_embeddings"] = a.tied;
  json["experts"] = a.experts;
  json["experts_per_token"] = a.experts_per_token;
  json["expert_ffn"] = a.expert_ffn;
  json["shared_ffn"] = a.shared_ffn;
  json["kv_lora_rank"] = a.kv_lora_rank;
  json["q_lora_rank"] = a.q_lora_rank;
  json["encoder_layers"] = a.encoder_layers;
  json["mtp_layers"] = a.mtp_layers;
  json["torch_dtype"] = a.torch_dtype;
  return json;
}

/// Keys that the list and the single document share.
Json summary_json(const ModelFacts& facts) {
  const model::Architecture& a = facts.architecture;
  Json json = Json::object();
  json["name"] = facts.name;
  json["family"] = text_or_null(a.family);
  json["hub_id"] = text_or_null(facts.hub_id);
  json["parameters_total"] = whole(facts.counts.total);
  json["parameters_active"] = whole(facts.counts.active);
  json["checkpoint_parameters"] = whole(facts.counts.checkpoint);
  json["weights_bytes"] = whole(weights_bytes(facts));
  json["kv_bytes_per_token"] = whole(model::kv_bytes_per_token(a, 2));
  return json;
}

Grid models_grid(std::span<const ModelFacts> models) {
  Grid grid;
  grid.columns = {{"name", "name"},
                  {"family", "family", Align::left, 3},
                  {"parameters_total", "parameters", Align::right},
                  {"parameters_active", "active", Align::right, 1},
                  {"layers", "layers", Align::right, 2},
                  {"hidden", "hidden", Align::right, 2},
                  {"heads", "heads", Align::right, 4},
                  {"kv_heads", "KV heads", Align::right, 4},
                  {"vocab", "vocabulary", Align::right, 5},
                  {"hub_id", "hub id", Align::left, 6}};
  for (const ModelFacts& facts : models) {
    const model::Architecture& a = facts.architecture;
    grid.rows.push_back({facts.name,
                         std::string(a.family),
                         {format_count(facts.counts.total), format_number(facts.counts.total, 0)},
                         {format_count(facts.counts.active), format_number(facts.counts.active, 0)},
                         fmt::format("{}", a.layers),
                         fmt::format("{}", a.hidden),
                         fmt::format("{}", a.heads),
                         fmt::format("{}", a.kv_heads),
                         fmt::format("{}", a.vocab),
                         facts.hub_id});
  }
  return grid;
}

Grid facts_grid(const ModelFacts& facts) {
  const model::Architecture& a = facts.architecture;
  const auto count = [](double value) {
    return fmt::format("{} ({})", format_number(value, 0), format_count(value));
  };
  Grid grid;
  grid.columns = {{"fact", "fact"}, {"value", "value"}};
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) grid.rows.push_back({std::string(name), std::move(value)});
  };
  add("name", facts.name);
  add("read from", facts.file_kind);
  add("family", std::string(a.family));
  add("hub id", facts.hub_id);
  add("parameters", count(facts.counts.total));
  add("active parameters", count(facts.counts.active));
  add("checkpoint parameters", count(facts.counts.checkpoint));
  add("weights",
      format_bytes(Bytes(weights_bytes(facts))) + " in " +
          (facts.quantization.empty() ? std::string(a.torch_dtype) : facts.quantization));
  add("adapter parameters",
      facts.lora_parameters > 0 ? count(facts.lora_parameters) : std::string());
  add("KV cache a token", format_bytes(Bytes(model::kv_bytes_per_token(a, 2))));
  add("layers", fmt::format("{}", a.layers));
  add("hidden", fmt::format("{}", a.hidden));
  add("heads", fmt::format("{} of {}, {} for keys and values", a.heads, a.head_dim, a.kv_heads));
  add("MLP width", fmt::format("{}{}", a.ffn, a.gated ? " (gated)" : ""));
  if (a.is_moe())
    add("experts", fmt::format("{} of width {}, {} used a token", a.experts, a.expert_ffn,
                               a.experts_per_token));
  add("vocabulary", fmt::format("{}{}", a.vocab, a.tied ? " (head tied)" : ""));
  add("longest sequence", a.max_positions > 0 ? fmt::format("{}", a.max_positions) : std::string());
  add("licence", std::string(a.licence));
  add("counts confirmed", facts.check);
  add("source", facts.source);
  add("notes", facts.notes);
  return grid;
}

}  // namespace

std::string render_models(std::span<const ModelFacts> models, const Frame& frame, Format format,
                          const Style& style) {
  if (format != Format::json) return grid_text(models_grid(models), format, style);
  Json json = document(frame.catalog_date);
  Json list = Json::array();
  for (const ModelFacts& facts : models) list.push_back(summary_json(facts));
  json["models"] = std::move(list);
  json["warnings"] = to_json(frame.warnings);
  return dump(json);
}

std::string render_model(const ModelFacts& facts, const Frame& frame, Format format,
                         const Style& style) {
  if (format != Format::json) return facts_text(facts_grid(facts), format, style);
  Json json = document(frame.catalog_date);
  json.update(summary_json(facts));
  json["file_kind"] = text_or_null(facts.file_kind);
  json["quantization"] = text_or_null(facts.quantization);
  json["lora_parameters"] =
      facts.lora_parameters > 0 ? whole(facts.lora_parameters) : Json(nullptr);
  json["licence"] = text_or_null(facts.architecture.licence);
  json["check"] = text_or_null(facts.check);
  json["source"] = text_or_null(facts.source);
  json["notes"] = text_or_null(facts.notes);
  json["architecture"] = architecture_json(facts.architecture);
  json["warnings"] = to_json(frame.warnings);
  return dump(json);
}

}  // namespace gpuadvisor::report
