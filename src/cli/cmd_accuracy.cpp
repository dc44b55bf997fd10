// accuracy: the shipped measurements, or the user's own.
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "gpuadvisor/accuracy.hpp"
#include "gpuadvisor/report.hpp"

namespace gpuadvisor::cli {
namespace {

constexpr std::size_t kLargestMeasurements = 256U << 20U;

Result<std::vector<accuracy::Document>> read_measurements(const std::vector<std::string>& paths) {
  if (paths.empty()) return accuracy::embedded_measurements();
  std::vector<accuracy::Document> documents;
  for (const std::string& path : paths) {
    auto text = read_file(path, kLargestMeasurements);
    if (!text) return tl::unexpected(text.error());
    documents.push_back({path, std::move(*text)});
  }
  return documents;
}

}  // namespace

Result<Output> run_accuracy(const Arguments& arguments, const Environment& environment) {
  const bool plot = arguments.value("output") == "svg";
  auto shown = plot ? Result<Presentation>() : presentation(arguments, environment);
  if (!shown) return tl::unexpected(shown.error());
  const auto loaded = load_catalog(arguments, environment);
  if (!loaded) return tl::unexpected(loaded.error());
  const auto documents = read_measurements(arguments.list("file"));
  if (!documents) return tl::unexpected(documents.error());
  accuracy::Options options;
  options.with_speed_memory = arguments.has("with-speed-memory");
  options.explain_id = arguments.value("explain").value_or("");
  const auto report = accuracy::run(*loaded, *documents, options);
  if (!report) return tl::unexpected(report.error());
  Output output;
  output.text =
      plot ? accuracy::plot_svg(*report)
           : report::render_accuracy(*report, {loaded->date(), {}}, shown->format, shown->style);
  if (shown->format != report::Format::json)
    for (const std::string& warning : report->warnings)
      output.notes += "warning: " + warning + "\n";
  return output;
}

}  // namespace gpuadvisor::cli
