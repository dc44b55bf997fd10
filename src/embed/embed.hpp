// Commands of the host tool: each reads checked JSON and writes one C++ file.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::embed {

/// Reads a whole JSON file.
Result<nlohmann::ordered_json> read_json(const std::string& path);
/// Writes `text` to `path`, whole or not at all.
Result<void> write_text(const std::string& path, const std::string& text);
/// `value` as a C++ literal that gives the same double back.
std::string double_literal(double value);
/// `text` as a C++ string literal.
std::string string_literal(const std::string& text);

/// data/calibration.json -> inline constants, one namespace a section.
Result<void> calibration(std::span<const std::string> arguments);
/// data/calibration.json, bands -> constant error bands.
Result<void> bands(std::span<const std::string> arguments);
/// data/frameworks.json -> constant framework profiles.
Result<void> frameworks(std::span<const std::string> arguments);
/// DATA_DIR -> tables of all catalog records; reads with the catalog's own strict reader.
Result<void> catalog(std::span<const std::string> arguments);
/// data/models/*.json -> the table of presets, each count checked.
Result<void> models(std::span<const std::string> arguments);

}  // namespace gpuadvisor::embed
