#include "cli/environment.hpp"

#include <algorithm>
#include <sstream>

#include "run_line.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using test::run_line;

namespace {

constexpr const char* kLine = "catalog list --gpu A10";

bool is_coloured(const std::string& text) { return text.find('\x1b') != std::string::npos; }

cli::Environment terminal(int columns) {
  cli::Environment environment;
  environment.output_is_terminal = true;
  environment.terminal_columns = columns;
  environment.term = "xterm";
  return environment;
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) width = std::max(width, line.size());
  return width;
}

}  // namespace

TEST_CASE("colour only on a terminal and never against NO_COLOR") {
  CHECK_FALSE(is_coloured(run_line(kLine).text));
  CHECK(is_coloured(run_line(kLine, terminal(120)).text));
  auto environment = terminal(120);
  environment.no_color = "1";
  CHECK_FALSE(is_coloured(run_line(kLine, environment).text));
  environment = terminal(120);
  environment.term = "dumb";
  CHECK_FALSE(is_coloured(run_line(kLine, environment).text));
  environment = {};
  environment.force_color = "1";
  CHECK(is_coloured(run_line(kLine, environment).text));
  CHECK(is_coloured(run_line(std::string(kLine) + " --color always").text));
  CHECK_FALSE(is_coloured(run_line(std::string(kLine) + " --no-color", terminal(120)).text));
  CHECK_FALSE(is_coloured(run_line(std::string(kLine) + " -o json", terminal(120)).text));
}

TEST_CASE("a table keeps to the terminal and is whole in a pipe") {
  const std::string line = "recommend --params 7B --mode lora --no-color";
  for (const int columns : {80, 120, 200}) {
    INFO(columns);
    CHECK(widest(run_line(line, terminal(columns)).text) <= static_cast<std::size_t>(columns));
  }
  auto environment = terminal(200);
  environment.columns = "90";
  CHECK(widest(run_line(line, environment).text) <= 90);
  CHECK_THAT(run_line(line).text, ContainsSubstring("score fit/link/cost"));
}

TEST_CASE("GPUADVISOR_CATALOG names an overlay") {
  cli::Environment environment;
  environment.catalog = std::string(GPUADVISOR_SOURCE_DIR) + "/tests/golden/catalog";
  const auto only = run_line("catalog list -o csv --catalog-only", environment);
  CHECK(only.status == 0);
  CHECK(std::count(only.text.begin(), only.text.end(), '\n') == 15);  // header and 14 types
  CHECK(run_line("catalog list -o csv", environment).text.size() > only.text.size());
  environment.catalog = "/nowhere";
  CHECK(run_line("catalog list", environment).status == cli::kBadInput);
}
