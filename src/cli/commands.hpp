// The table of commands, and what one gives back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/environment.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::cli {

/// Exit statuses (README, --help).
enum ExitStatus : int {
  kSuccess = 0,
  kNegative = 1,  ///< check says no, nothing fits, the given plan does not fit
  kUsage = 2,
  kBadInput = 3,
  kInternal = 4,
  kInterrupted = 130,
};

/// What a command writes and the exit status.
struct Output {
  std::string text;   ///< standard output, whole
  std::string notes;  ///< standard error
  int status = kSuccess;
};

struct Command {
  std::string_view name;  ///< "catalog list"
  std::uint32_t bit = 0;
  std::string_view summary;
  std::string_view example;
  std::string_view positional;  ///< placeholder of its one argument, or empty
  bool positional_required = false;
  Result<Output> (*run)(const Arguments&, const Environment&) = nullptr;
};

[[nodiscard]] std::span<const Command> all_commands();

/// The command that the words of the line start with; removes them. An error names
/// near misses, or the subcommands of a group.
[[nodiscard]] Result<const Command*> take_command(std::vector<std::string>& words);

// One function a command.
[[nodiscard]] Result<Output> run_recommend(const Arguments& arguments,
                                           const Environment& environment);
[[nodiscard]] Result<Output> run_estimate(const Arguments& arguments,
                                          const Environment& environment);
[[nodiscard]] Result<Output> run_plan(const Arguments& arguments, const Environment& environment);
[[nodiscard]] Result<Output> run_check(const Arguments& arguments, const Environment& environment);
[[nodiscard]] Result<Output> run_compare(const Arguments& arguments,
                                         const Environment& environment);
[[nodiscard]] Result<Output> run_emit(const Arguments& arguments, const Environment& environment);
[[nodiscard]] Result<Output> run_catalog_list(const Arguments& arguments,
                                              const Environment& environment);
[[nodiscard]] Result<Output> run_catalog_show(const Arguments& arguments,
                                              const Environment& environment);
[[nodiscard]] Result<Output> run_catalog_validate(const Arguments& arguments,
                                                  const Environment& environment);
[[nodiscard]] Result<Output> run_models_list(const Arguments& arguments,
                                             const Environment& environment);
[[nodiscard]] Result<Output> run_models_show(const Arguments& arguments,
                                             const Environment& environment);
[[nodiscard]] Result<Output> run_models_read(const Arguments& arguments,
                                             const Environment& environment);
[[nodiscard]] Result<Output> run_accuracy(const Arguments& arguments,
                                          const Environment& environment);
[[nodiscard]] Result<Output> run_completion(const Arguments& arguments,
                                            const Environment& environment);

}  // namespace gpuadvisor::cli
