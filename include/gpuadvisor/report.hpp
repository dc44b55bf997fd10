// How an answer looks: a table for people, JSON for programs, CSV for spreadsheets,
// Markdown for documents, all of the same result and byte for byte the same in every
// locale. Nothing is computed here and nothing is written: each function gives a text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpuadvisor/accuracy.hpp"
#include "gpuadvisor/advisor.hpp"
#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::report {

/// Version of the JSON documents: grows when a key changes its meaning.
inline constexpr std::string_view kSchemaVersion = "1";
/// Version of the program ("0.1.0").
[[nodiscard]] std::string_view tool_version();

enum class Format : std::uint8_t { table, json, csv, markdown };
[[nodiscard]] std::optional<Format> format_from_string(std::string_view name);
[[nodiscard]] std::span<const std::string_view> format_names();

/// What a table may use. Other formats look only at `all_rejected` (CSV and Markdown
/// then list the rejected candidates instead of the results).
struct Style {
  int columns = 0;            ///< width of the terminal; 0: nothing is cut or wrapped
  bool colour = false;        ///< ANSI escapes
  bool explain = false;       ///< every term of memory, time and cost
  bool all_rejected = false;  ///< every rejected candidate, not one line a family
};

/// One model with its counts; `name` is what the user called it.
struct ModelFacts {
  std::string name;
  model::Architecture architecture;
  model::ParameterCounts counts;
  std::string hub_id, check, source, notes;
  std::string file_kind;       ///< of a model read from files: "config", "gguf", ...
  std::string quantization;    ///< of its weights; empty: none
  double weights_bytes = 0;    ///< 0: parameters in the data type of the architecture
  double lora_parameters = 0;  ///< of an adapter
};

/// One yes or no of `check`.
struct Check {
  std::string name;
  bool ok = false;
  std::string message;
};

/// Facts around a document that is not a ranking.
struct Frame {
  std::string_view catalog_date;
  std::span<const advisor::Warning> warnings;
};

[[nodiscard]] std::string render(const advisor::Ranking& ranking, Format format,
                                 const Style& style);

[[nodiscard]] std::string render_instances(std::span<const catalog::Instance* const> instances,
                                           const Frame& frame, Format format, const Style& style);
/// One instance with every fact and its source; `gpu` may be null.
[[nodiscard]] std::string render_instance(const catalog::Instance& instance,
                                          const catalog::Gpu* gpu, const Frame& frame,
                                          Format format, const Style& style);
[[nodiscard]] std::string render_models(std::span<const ModelFacts> models, const Frame& frame,
                                        Format format, const Style& style);
[[nodiscard]] std::string render_model(const ModelFacts& model, const Frame& frame, Format format,
                                       const Style& style);
[[nodiscard]] std::string render_accuracy(const accuracy::Report& report, const Frame& frame,
                                          Format format, const Style& style);
[[nodiscard]] std::string render_checks(std::span<const Check> checks, const Frame& frame,
                                        Format format, const Style& style);

}  // namespace gpuadvisor::report
