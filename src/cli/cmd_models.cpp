// models list, show and read.
#include "cli/commands.hpp"
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
  facts.hub_id = preset.hub_id;
  facts.check = preset.check;
  facts.source = preset.source;
  facts.notes = preset.notes;
  return facts;
}

report::Frame frame() { return {catalog::Catalog::embedded().date(), {}}; }

}  // namespace

Result<Output> run_models_list(const Arguments& arguments, const Environment& environment) {
  const auto shown = presentation(arguments, environment);
  if (!shown) return tl::unexpected(shown.error());
  std::vector<report::ModelFacts> models;
  for (const model::Preset& preset : model::presets()) models.push_back(facts_of(preset));
  Output output;
  output.text = report::render_models(models, frame(), shown->format, shown->style);
  return output;
}

Result<Output> run_models_show(const Arguments& arguments, const Environment& environment) {
  const auto shown = presentation(arguments, environment);
  if (!shown) return tl::unexpected(shown.error());
  const auto preset = model::resolve_preset(arguments.words.front(), "MODEL");
  if (!preset) return tl::unexpected(preset.error());
  Output output;
  output.text = report::render_model(facts_of(**preset), frame(), shown->format, shown->style);
  return output;
}

Result<Output> run_models_read(const Arguments& arguments, const Environment&) {
  return fail(ErrorCode::usage, "model files cannot be read yet", arguments.words.front());
}

}  // namespace gpuadvisor::cli
