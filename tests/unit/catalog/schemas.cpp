// The published schemas accept every file of data/, and refuse what the reader refuses.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "test_support/catch.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kData = fs::path(GPUADVISOR_SOURCE_DIR) / "data";

json read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return json::parse(std::string{std::istreambuf_iterator<char>(in), {}});
}

/// The faults of `document` by the schema of its format.
std::vector<std::string> faults(const json& document) {
  const auto format = document.at("format").get<std::string>();
  const json text = read(kData / "schema" / (format.substr(format.find('/') + 1) + ".schema.json"));
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema);
  valijson::ValidationResults results;
  valijson::Validator validator;
  std::vector<std::string> list;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results))
    return list;
  for (const auto& error : results) {
    std::string place;
    for (const auto& part : error.context) place += part;
    list.push_back(place + ": " + error.description);
  }
  if (list.empty()) list.emplace_back("refused");
  return list;
}

std::vector<fs::path> catalog_files() {
  std::vector<fs::path> files{kData / "wrong_names.json", kData / "rates.json"};
  for (const char* part : {"gpus", "instances", "prices"})
    for (const auto& entry : fs::recursive_directory_iterator(kData / part))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
  return files;
}

}  // namespace

TEST_CASE("every catalog file follows its schema") {
  const auto files = catalog_files();
  CHECK(files.size() > 48 + 50 + 10);
  for (const fs::path& path : files) {
    INFO(path.filename().string());
    const auto found = faults(read(path));
    CHECK(found.empty());
    for (const std::string& fault : found) WARN(fault);
  }
}

TEST_CASE("GPU files carry the name of their id") {
  for (const auto& entry : fs::directory_iterator(kData / "gpus"))
    CHECK(read(entry.path()).at("id").get<std::string>() == entry.path().stem().string());
}

TEST_CASE("the schemas refuse what the reader refuses") {
  const json gpu = read(kData / "gpus" / "A10.json");
  const std::vector<std::pair<std::string, json>> changes{{"/tdp", 150},
                                                          {"/tdp", "150 GB"},
                                                          {"/memory/nominal", "-24 GB"},
                                                          {"/memory/usble", "1 GB"},
                                                          {"/checked", "now"},
                                                          {"/multiprocessors", 0}};
  for (const auto& [path, value] : changes) {
    INFO(path);
    json changed = gpu;
    changed[json::json_pointer(path)] = value;
    CHECK_FALSE(faults(changed).empty());
  }
  json without = gpu;
  without.erase("sources");
  CHECK_FALSE(faults(without).empty());
}

TEST_CASE("every source under a licence is listed, share-alike ones with their terms") {
  const auto text = [](const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const std::string sources = text(kData / "SOURCES.md");
  CHECK_THAT(text(kData / "instances" / "LICENSE"), ContainsSubstring("by-sa/4.0"));
  for (const fs::path& path : catalog_files()) {
    const json document = read(path);
    if (!document.contains("sources") || !document["sources"].is_array()) continue;
    for (const json& source : document["sources"]) {
      INFO(path.filename().string());
      CHECK_THAT(sources, ContainsSubstring(source.at("text").get<std::string>()));
      const bool share_alike = source.value("licence", "") == "CC-BY-SA-4.0";
      CHECK((!share_alike || path.parent_path().parent_path().filename() == "instances"));
    }
  }
}
