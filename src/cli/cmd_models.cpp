// models list, show and read.
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/model_source.hpp"
#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/report.hpp"

namespace gpuadvisor::cli {
namespace {

report::ModelFacts facts_of(const model::Preset& preset) {
  report::ModelFacts facts;
  facts.name = preset.id;
  facts.architecture = preset.architecture;
  facts.counts = model::count_parameters(preset.architecture);
  facts.counts.checkpoint = preset.checkpoint_parameters;
  facts.weights_bytes = preset.weights_bytes;
  facts.hub_id = preset.hub_id;
  facts.check = preset.check;
  facts.source = preset.source;
  facts.notes = preset.notes;
  return facts;
}

report::ModelFacts facts_of(const model::ModelFile& file, const std::string& path) {
  report::ModelFacts facts;
  facts.name = file.name.empty() ? path : file.name;
  facts.architecture = file.architecture;
  facts.counts = model::count_parameters(file.architecture);
  facts.counts.total = file.parameters_total;
  facts.counts.active = file.parameters_active;
  facts.counts.checkpoint = file.checkpoint_parameters;
  facts.source = path;
  facts.check = file.exact ? "counted exactly" : "estimated";
  facts.file_kind = file.kind;
  facts.quantization = file.quantization.method;
  facts.weights_bytes = file.weights_bytes;
  facts.lora_parameters = file.adapter ? file.adapter->lora_parameters : 0;
  return facts;
}

/// How and with which catalog date to show models.
struct Setting {
  Presentation shown;
  catalog::Catalog catalog;
  [[nodiscard]] report::Frame frame() const { return {catalog.date(), {}}; }
};

Result<Setting> read_setting(const Arguments& arguments, const Environment& environment) {
  const auto shown = presentation(arguments, environment);
  if (!shown) return tl::unexpected(shown.error());
  auto catalog = load_catalog(arguments, environment);
  if (!catalog) return tl::unexpected(catalog.error());
  return Setting{*shown, std::move(*catalog)};
}

}  // namespace

Result<Output> run_models_list(const Arguments& arguments, const Environment& environment) {
  const auto setting = read_setting(arguments, environment);
  if (!setting) return tl::unexpected(setting.error());
  std::vector<report::ModelFacts> models;
  for (const model::Preset& preset : model::presets()) models.push_back(facts_of(preset));
  Output output;
  output.text =
      report::render_models(models, setting->frame(), setting->shown.format, setting->shown.style);
  return output;
}

Result<Output> run_models_show(const Arguments& arguments, const Environment& environment) {
  const auto setting = read_setting(arguments, environment);
  if (!setting) return tl::unexpected(setting.error());
  const auto preset = model::resolve_preset(arguments.words.front(), "MODEL");
  if (!preset) return tl::unexpected(preset.error());
  Output output;
  output.text = report::render_model(facts_of(**preset), setting->frame(), setting->shown.format,
                                     setting->shown.style);
  return output;
}

Result<Output> run_models_read(const Arguments& arguments, const Environment& environment) {
  const auto setting = read_setting(arguments, environment);
  if (!setting) return tl::unexpected(setting.error());
  const auto file = read_model_path(arguments.words.front());
  if (!file) return tl::unexpected(file.error());
  std::vector<advisor::Warning> warnings;
  for (const std::string& text : file->warnings)
    warnings.push_back({advisor::WarningCode::note, text});
  const report::Frame frame{setting->catalog.date(), warnings};
  Output output;
  output.text = report::render_model(facts_of(*file, arguments.words.front()), frame,
                                     setting->shown.format, setting->shown.style);
  if (setting->shown.format != report::Format::json)
    for (const std::string& text : file->warnings) output.notes += "warning: " + text + "\n";
  return output;
}

}  // namespace gpuadvisor::cli
