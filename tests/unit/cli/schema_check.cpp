#include "schema_check.hpp"

#include <fstream>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace gpuadvisor::test {

std::vector<std::string> schema_errors(const std::string& schema, const nlohmann::json& document) {
  std::ifstream in(std::string(GPUADVISOR_SOURCE_DIR) + "/data/schema/" + schema + ".schema.json");
  const nlohmann::json text = nlohmann::json::parse(in);
  valijson::Schema parsed;
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(text), parsed);

  valijson::Validator validator;
  valijson::ValidationResults results;
  std::vector<std::string> errors;
  if (validator.validate(parsed, valijson::adapters::NlohmannJsonAdapter(document), &results))
    return errors;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    std::string path;
    for (const std::string& part : error.context) path += part;
    errors.push_back(path + ": " + error.description);
  }
  return errors;
}

}  // namespace gpuadvisor::test
