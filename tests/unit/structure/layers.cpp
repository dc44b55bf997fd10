// The structure of the source tree: layers include only what stands to their left,
// and the top level holds only what is allowed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "test_support/catch.hpp"

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kLayers = {"units",       "catalog", "model",  "workload", "memory",
                                          "performance", "serving", "cost",   "planner",  "advisor",
                                          "accuracy",    "emit",    "report", "cli"};

int layer_index(const std::string& name) {
  const auto found = std::find(kLayers.begin(), kLayers.end(), name);
  return found == kLayers.end() ? -1 : static_cast<int>(found - kLayers.begin());
}

/// The layer that an include names: "gpuadvisor/memory.hpp" or "memory/terms.hpp".
std::string included_layer(const std::string& line) {
  const auto open = line.find('"');
  const auto close = line.rfind('"');
  if (line.rfind("#include", 0) != 0 || open == std::string::npos || close <= open) return {};
  std::string path = line.substr(open + 1, close - open - 1);
  if (path.rfind("gpuadvisor/", 0) == 0) return path.substr(11, path.find('.') - 11);
  const auto slash = path.find('/');
  return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

std::vector<std::string> violations(const fs::path& file, int layer) {
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const int other = layer_index(included_layer(line));
    if (other > layer) found.push_back(file.string() + ": " + line);
  }
  return found;
}

bool is_source(const fs::path& path) {
  return path.extension() == ".cpp" || path.extension() == ".hpp";
}

}  // namespace

TEST_CASE("layers include only layers to their left") {
  const fs::path root = GPUADVISOR_SOURCE_DIR;
  std::vector<std::string> all;
  std::size_t files = 0;
  for (const auto& layer : kLayers) {
    const fs::path header = root / "include/gpuadvisor" / (layer + ".hpp");
    if (fs::exists(header))
      for (auto& text : violations(header, layer_index(layer))) all.push_back(text);
    if (!fs::exists(root / "src" / layer)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / "src" / layer)) {
      if (!is_source(entry.path())) continue;
      ++files;
      for (auto& text : violations(entry.path(), layer_index(layer))) all.push_back(text);
    }
  }
  INFO(files << " files read");
  for (const auto& text : all) UNSCOPED_INFO(text);
  CHECK(all.empty());
  CHECK(files > 0);
}

TEST_CASE("the layer check sees a violation") {
  CHECK(included_layer("#include \"gpuadvisor/memory.hpp\"") == "memory");
  CHECK(included_layer("#include \"planner/space.hpp\"") == "planner");
  CHECK(included_layer("#include <vector>").empty());
  CHECK(layer_index("units") < layer_index("cli"));
}

TEST_CASE("the top level holds only what is allowed") {
  const std::set<std::string> allowed = {"CMakeLists.txt", "src",       "include", "data",
                                         "tests",          "README.md", "LICENSE"};
  for (const auto& entry : fs::directory_iterator(GPUADVISOR_SOURCE_DIR)) {
    const std::string name = entry.path().filename().string();
    if (name.front() == '.' || name.rfind("build", 0) == 0) continue;
    INFO(name);
    CHECK(allowed.count(name) == 1);
  }
}
