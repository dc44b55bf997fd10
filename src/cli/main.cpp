#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/run.hpp"

namespace {

void stop(int) { _exit(gpuadvisor::cli::kInterrupted); }

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, stop);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shows as an error of write
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return gpuadvisor::cli::deliver(
      gpuadvisor::cli::run(arguments, gpuadvisor::cli::read_environment()));
}
