// The whole program but its streams: arguments in, texts and exit status out.
#pragma once

#include <span>
#include <string>

#include "cli/commands.hpp"
#include "cli/environment.hpp"

namespace gpuadvisor::cli {

/// Never throws; errors become one text for standard error and an exit status.
[[nodiscard]] Output run(std::span<const std::string> argv, const Environment& environment);

/// Writes both texts; a closed pipe is quiet, a full disk an error. Returns the exit status.
[[nodiscard]] int deliver(const Output& output);

}  // namespace gpuadvisor::cli
