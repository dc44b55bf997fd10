// How wrong the models are: every published measurement predicted from its own
// configuration by the same functions that recommend uses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/memory.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/units.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::accuracy {

/// One compared quantity of one row. Exactly one of relative_error, correct,
/// skipped is set.
struct Outcome {
  std::string id, kind, quantity, quality;
  std::string method, framework, gpu, source;  ///< groups of the summary
  std::string plan;  ///< how the GPUs split the work: "TP+PP+zero1", "one GPU"; a group too
  double predicted = 0, measured = 0;
  std::optional<double> relative_error;
  std::optional<bool> correct;
  std::optional<std::string> skipped;
};

struct Summary {
  std::string kind, group;  ///< "all", "quality A", "gpu A100-SXM4-80GB", ...
  std::size_t rows = 0, skipped = 0;
  double median_abs_error = 0, p90_abs_error = 0, mean_abs_error = 0, bias = 0;
  std::size_t right = 0, judged = 0;  ///< fits/oom rows
};

struct Options {
  bool with_speed_memory = false;
  std::string explain_id;  ///< one row's whole breakdown
};

struct Report {
  std::vector<Outcome> outcomes;
  std::vector<Summary> summaries;
  std::vector<std::string> warnings;
  std::string explanation;
};

struct Document {
  std::string file, text;
};

/// Predicts every row of the documents. Lenient about rows, strict about JSON:
/// only broken JSON or a document without `rows` is an error.
[[nodiscard]] Result<Report> run(const catalog::Catalog& catalog,
                                 std::span<const Document> documents, const Options& options);

/// Predicted against measured on log-log axes as one SVG document, a panel a kind and
/// unit. Skipped and fits/oom rows are left out.
[[nodiscard]] std::string plot_svg(const Report& report);

/// Error bands from the outcomes of quality A and B: by kind, method and GPU class, each
/// alone, and over all, where at least `kFewestForBand` figures exist. They are kept in
/// data/calibration.json, which workload::memory_band and speed_band answer from.
struct ErrorBand {
  std::string kind, method, gpu_class;  ///< empty: all
  std::size_t rows = 0;
  double p50 = 0, p90 = 0;
};
inline constexpr std::size_t kFewestForBand = 8;
[[nodiscard]] std::vector<ErrorBand> error_bands(const Report& report,
                                                 const catalog::Catalog& catalog);

/// The measurements that ship with the program.
[[nodiscard]] std::vector<Document> embedded_measurements();

// --- one training row, for models under test ------------------------------------
struct TrainingRow {
  std::string id, kind, quality, source;
  model::Architecture architecture;
  workload::Training training;
  workload::Plan plan;
  catalog::Cluster cluster;
  std::string quantity;  ///< max_allocated_gib, step_time_s, ...
  double measured = 0;
  memory::StageChoice stage = memory::StageChoice::worst;
};

}  // namespace gpuadvisor::accuracy
