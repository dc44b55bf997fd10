#include "cli/arguments.hpp"

#include <algorithm>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "run_line.hpp"
#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>
#endif

using namespace gpuadvisor;
using test::run_line;
using test::run_words;

TEST_CASE("flags may stand before and behind the command") {
  const std::vector<std::string> front = {"--params",  "7B",     "-o",  "csv",
                                          "recommend", "--mode", "lora"};
  const std::vector<std::string> back = {"recommend", "--mode", "lora", "--params=7B", "-ocsv"};
  CHECK(run_words(front).text == run_words(back).text);
  CHECK(run_words(front).status == 0);
}

TEST_CASE("values stay text until they are read") {
  const std::vector<std::string> words = {"recommend", "--params", "-1", "--gpu",
                                          "A10,L20",   "--gpu",    "T4"};
  const auto arguments = cli::split_arguments(words);
  REQUIRE(arguments);
  CHECK(arguments->value("params") == "-1");
  CHECK(arguments->list("gpu") == std::vector<std::string>{"A10", "L20", "T4"});
  CHECK(arguments->words == std::vector<std::string>{"recommend"});
  CHECK_FALSE(arguments->has("mode"));
}

TEST_CASE("a flag given twice with the same value is no error") {
  CHECK(run_line("recommend --params 7B --params 7B --mode lora").status == 0);
}

TEST_CASE("help works at each level and fits 80 columns") {
  std::vector<std::string> lines = {
      "--help",         "-h",         "help", "help recommend", "recommend --help",
      "catalog --help", "help models"};
  for (const cli::Command& command : cli::all_commands())
    lines.push_back(std::string(command.name) + " --help");
  for (const std::string& line : lines) {
    const cli::Output output = run_line(line);
    INFO(line);
    CHECK(output.status == 0);
    CHECK(output.notes.empty());
    CHECK(output.text.rfind("Example: gpuadvisor ", 0) == 0);
    std::istringstream text(output.text);
    for (std::string row; std::getline(text, row);) {
      INFO(row);
      CHECK(row.size() <= 80);
    }
  }
}

TEST_CASE("every example of the help parses") {
  for (const cli::Command& command : cli::all_commands()) {
    const std::string example(command.example.substr(0, command.example.find(" >")));
    std::string line = example.substr(std::string("gpuadvisor ").size());
    line.erase(std::remove(line.begin(), line.end(), '\''), line.end());
    const auto at = line.find("3000 CNY");
    if (at != std::string::npos) line.replace(at, 8, "3000CNY");
    INFO(line);
    CHECK(run_line(line).status != cli::kUsage);
  }
}

TEST_CASE("each flag has one meaning within a command") {
  for (const cli::Command& command : cli::all_commands()) {
    std::vector<std::string> names;
    for (const cli::Flag& flag : cli::all_flags()) {
      if ((flag.commands & command.bit) == 0) continue;
      names.emplace_back(flag.name);
      if (flag.shorthand != 0) names.emplace_back(1, flag.shorthand);
    }
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  }
}

TEST_CASE("version names tool, catalog and schema") {
  const cli::Output output = run_line("--version");
  CHECK(output.status == 0);
  CHECK_THAT(output.text, ContainsSubstring("gpuadvisor 0.") && ContainsSubstring("catalog 20") &&
                              ContainsSubstring("schema 1"));
}

TEST_CASE("completion of each shell holds commands and flags") {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const cli::Output output = run_line("completion " + shell);
    CHECK(output.status == 0);
    CHECK_THAT(output.text, ContainsSubstring("recommend") && ContainsSubstring("params"));
  }
}

#if __has_include(<rapidcheck.h>)
TEST_CASE("any words give an exit status and no exception") {
  CHECK(rc::check("random words", [](const std::vector<std::string>& words) {
    const cli::Output output = run_words(words);
    RC_ASSERT(output.status >= 0 && output.status <= 4);
    if (output.status == cli::kUsage) RC_ASSERT(output.text.empty());
  }));
  CHECK(rc::check("random values of real flags", [] {
    const auto flags = cli::all_flags();
    std::vector<std::string> words = {"recommend", "--mode", "lora", "--params", "7B"};
    const auto& flag = flags[*rc::gen::inRange<std::size_t>(0, flags.size())];
    words.push_back("--" + std::string(flag.name));
    if (flag.takes_value()) words.push_back(*rc::gen::arbitrary<std::string>());
    const cli::Output output = run_words(words);
    RC_ASSERT(output.status >= 0 && output.status <= 3);
  }));
}
#endif
