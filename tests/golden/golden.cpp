// Every case of tests/golden/cases: NAME.cmd holds the arguments of one run ('quotes' keep
// blanks, @ is this folder, --own-catalog leaves the frozen catalog out), NAME.approved what it
// must write. Runs use the frozen catalog of tests/golden/catalog, so that a new price breaks
// nothing. GPUADVISOR_ACCEPT=1 writes what came out as approved.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "test_support/catch.hpp"

namespace fs = std::filesystem;
using namespace gpuadvisor;

namespace {

const fs::path kFolder = fs::path(GPUADVISOR_SOURCE_DIR) / "tests" / "golden";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Words of a command line; single quotes keep blanks, @ is the golden folder.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  bool any = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
      any = true;
    } else if (!quoted && (c == ' ' || c == '\n')) {
      if (any) words.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c == '@' ? kFolder.string() : std::string(1, c);
      any = true;
    }
  }
  if (any) words.push_back(word);
  return words;
}

/// The path of this machine must not stand in an approved file.
std::string without_folder(std::string text) {
  const std::string folder = kFolder.string();
  for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
    text.replace(at, folder.size(), "@");
  return text;
}

std::string run_case(const fs::path& command) {
  cli::Environment environment;
  environment.catalog = (kFolder / "catalog").string();
  auto words = words_of(read(command));
  const bool frozen = std::find(words.begin(), words.end(), "--own-catalog") == words.end();
  std::erase(words, "--own-catalog");
  const auto says = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const bool takes_catalog =
      !words.empty() && !says("help") && !says("--help") && !says("completion");
  if (frozen && takes_catalog) words.push_back("--catalog-only");
  if (!frozen) environment.catalog.clear();
  const cli::Output output = cli::run(words, environment);
  return without_folder("exit " + std::to_string(output.status) + "\n--- stdout\n" + output.text +
                        "--- stderr\n" + output.notes);
}

std::vector<fs::path> all_cases() {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(kFolder / "cases"))
    if (entry.path().extension() == ".cmd") cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  return cases;
}

}  // namespace

TEST_CASE("every golden case writes what was approved") {
  const bool accept = std::getenv("GPUADVISOR_ACCEPT") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const auto cases = all_cases();
  CHECK(cases.size() >= 25);
  for (const fs::path& command : cases) {
    const fs::path approved = fs::path(command).replace_extension(".approved");
    const std::string result = run_case(command);
    if (accept) std::ofstream(approved, std::ios::binary) << result;
    INFO(command.filename().string() << ": GPUADVISOR_ACCEPT=1 accepts the new text");
    CHECK(result == read(approved));
  }
}

TEST_CASE("errors write nothing on standard output") {
  for (const fs::path& command : all_cases()) {
    const std::string result = run_case(command);
    const bool refused = result.find("\n--- stderr\nerror:") != std::string::npos;
    INFO(command.filename().string());
    if (refused) CHECK(result.find("--- stdout\n--- stderr\n") != std::string::npos);
  }
}
