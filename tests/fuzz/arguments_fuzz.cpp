// Any command line must end in a status from 0 to 4, and leave standard output empty
// when it is refused. Words are separated by line breaks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      words.emplace_back();
    } else if (data[i] != '/') {  // no path outside the working folder
      words.back().push_back(static_cast<char>(data[i]));
    }
  }
  const gpuadvisor::cli::Output output = gpuadvisor::cli::run(words, {});
  if (output.status < 0 || output.status > 4) std::abort();
  if (output.status == gpuadvisor::cli::kInternal) std::abort();
  if (output.status == gpuadvisor::cli::kUsage && !output.text.empty()) std::abort();
  return 0;
}
