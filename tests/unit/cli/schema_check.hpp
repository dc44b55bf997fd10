// Validates a document against a schema of data/schema.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace gpuadvisor::test {

/// What is wrong, one line each; empty when the document is valid. `schema` is the
/// file's name without ".schema.json".
std::vector<std::string> schema_errors(const std::string& schema, const nlohmann::json& document);

}  // namespace gpuadvisor::test
