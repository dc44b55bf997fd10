// The table of all flags: names, help and the commands they belong to. Help texts,
// parsing, suggestions and shell completion all read it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gpuadvisor::cli {

/// Commands as bits, for the flags that belong to several.
enum CommandBit : std::uint32_t {
  kRecommend = 1,
  kEstimate = 2,
  kPlan = 4,
  kCheck = 8,
  kCatalogList = 16,
  kCatalogShow = 32,
  kCatalogValidate = 64,
  kModelsList = 128,
  kModelsShow = 256,
  kModelsRead = 512,
  kAccuracy = 1024,
  kCompletion = 2048,
  kHelp = 4096,
  kEmit = 8192,
  kCompare = 16384,
};
inline constexpr std::uint32_t kJob = kRecommend | kEstimate | kPlan | kCheck | kEmit | kCompare;
inline constexpr std::uint32_t kCatalogCommands = kCatalogList | kCatalogShow | kCatalogValidate;
inline constexpr std::uint32_t kModelsCommands = kModelsList | kModelsShow | kModelsRead;
inline constexpr std::uint32_t kReports =
    (kJob & ~std::uint32_t{kEmit}) | kCatalogCommands | kModelsCommands | kAccuracy;
inline constexpr std::uint32_t kReadsCatalog = kReports | kEmit;
inline constexpr std::uint32_t kEverywhere = 0xffffffff;

enum class FlagGroup : std::uint8_t {
  common,
  model,
  run,
  serving,
  plan,
  cluster,
  limits,
  aim,
  output
};

struct Flag {
  std::string_view name;         ///< without dashes
  char shorthand = 0;            ///< one letter, or 0
  std::string_view placeholder;  ///< of its value; empty for a switch
  FlagGroup group = FlagGroup::common;
  std::uint32_t commands = kEverywhere;
  std::string_view help;
  bool list = false;  ///< several values: commas, or the flag again

  [[nodiscard]] bool takes_value() const { return !placeholder.empty(); }
};

/// All flags, in the order of the help text. A name may stand twice when commands
/// give it different forms (`--explain`).
[[nodiscard]] std::span<const Flag> all_flags();
[[nodiscard]] std::string_view title_of(FlagGroup group);

/// The flag of this name that the command takes, or null.
[[nodiscard]] const Flag* find_flag(std::string_view name, std::uint32_t command);

}  // namespace gpuadvisor::cli
