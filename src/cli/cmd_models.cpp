// models list, show and read.
#include <algorithm>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/flag_reader.hpp"
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

/// What `models list` keeps.
struct Filter {
  std::string family;
  double min_params = 0, max_params = 1e18;
  [[nodiscard]] bool keeps(const model::Preset& preset) const {
    return (family.empty() || preset.architecture.family == family) &&
           preset.parameters_total >= min_params && preset.parameters_total <= max_params;
  }
};

std::vector<std::string_view> families() {
  std::vector<std::string_view> names;
  for (const model::Preset& preset : model::presets()) names.push_back(preset.architecture.family);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<Filter> read_filter(const Arguments& arguments) {
  Filter filter;
  FlagReader reader(arguments);
  const auto known = families();
  reader.name("family", filter.family, known, [&](std::string_view name) {
    const bool found = std::find(known.begin(), known.end(), name) != known.end();
    return found ? std::optional<std::string>(name) : std::nullopt;
  });
  reader.count("min-params", filter.min_params, 0, 1e18);
  reader.count("max-params", filter.max_params, 0, 1e18);
  if (reader.error()) return tl::unexpected(*reader.error());
  if (filter.min_params > filter.max_params)
    return fail(ErrorCode::usage, "is larger than --max-params", "--min-params");
  return filter;
}

}  // namespace

Result<Output> run_models_list(const Arguments& arguments, const Environment& environment) {
  const auto setting = read_setting(arguments, environment);
  if (!setting) return tl::unexpected(setting.error());
  const auto filter = read_filter(arguments);
  if (!filter) return tl::unexpected(filter.error());
  std::vector<report::ModelFacts> models;
  for (const model::Preset& preset : model::presets())
    if (filter->keeps(preset)) models.push_back(facts_of(preset));
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
