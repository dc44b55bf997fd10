// Runs the command line in this process.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/run.hpp"

namespace gpuadvisor::test {

inline cli::Output run_words(const std::vector<std::string>& words,
                             const cli::Environment& environment = {}) {
  return cli::run(words, environment);
}

/// Words separated by blanks.
inline cli::Output run_line(const std::string& line, const cli::Environment& environment = {}) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return run_words(words, environment);
}

}  // namespace gpuadvisor::test
