#include "cli/commands.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "cli/flags.hpp"
#include "cli/suggest.hpp"

namespace gpuadvisor::cli {
namespace {

constexpr auto kCommands = std::to_array<Command>({
    {"recommend", kRecommend, "rank instances, counts and plans for a workload",
     "gpuadvisor recommend --params 70B --mode full-ft", "", false, run_recommend},
    {"estimate", kEstimate, "memory, time and cost of one plan on one cluster",
     "gpuadvisor estimate --model llama-3.1-8b --mode lora --gpu A10 --gpus 1", "", false,
     run_estimate},
    {"plan", kPlan, "the best parallel plans on one cluster",
     "gpuadvisor plan --params 70B --mode full-ft --gpu H20-96GB --gpus 32", "", false, run_plan},
    {"compare", kCompare, "named instances side by side for one workload",
     "gpuadvisor compare --params 7B --mode lora -i g5.xlarge,g6.xlarge", "", false, run_compare},
    {"check", kCheck, "yes or no for CI: fits, within budget, within deadline",
     "gpuadvisor check --params 7B --mode lora --gpu A10 --budget '3000 CNY'", "", false,
     run_check},
    {"emit", kEmit, "the launch file of the best result",
     "gpuadvisor emit --for deepspeed --params 7B --mode full-ft", "", false, run_emit},
    {"catalog list", kCatalogList, "instance types of the catalog",
     "gpuadvisor catalog list --gpu A10", "", false, run_catalog_list},
    {"catalog show", kCatalogShow, "one instance type with every fact and its source",
     "gpuadvisor catalog show ecs.gn7i-c8g1.2xlarge", "INSTANCE", true, run_catalog_show},
    {"catalog validate", kCatalogValidate, "check catalog files",
     "gpuadvisor catalog validate my-prices/", "PATH", false, run_catalog_validate},
    {"models list", kModelsList, "the models that --model knows", "gpuadvisor models list", "",
     false, run_models_list},
    {"models show", kModelsShow, "one model: architecture and exact counts",
     "gpuadvisor models show llama-3.1-70b", "MODEL", true, run_models_show},
    {"models read", kModelsRead, "the model in a file or folder",
     "gpuadvisor models read ./config.json", "PATH", true, run_models_read},
    {"accuracy", kAccuracy, "predicted against published measurements", "gpuadvisor accuracy", "",
     false, run_accuracy},
    {"completion", kCompletion, "shell completion for bash, zsh or fish; or the man page",
     "gpuadvisor completion bash > /etc/bash_completion.d/gpuadvisor", "SHELL", true,
     run_completion},
});

/// "list, show or validate": the commands of a group such as "catalog".
std::vector<std::string_view> group_members(std::string_view group) {
  std::vector<std::string_view> members;
  for (const Command& command : kCommands)
    if (command.name.size() > group.size() && command.name.substr(0, group.size()) == group &&
        command.name[group.size()] == ' ')
      members.push_back(command.name.substr(group.size() + 1));
  return members;
}

std::vector<std::string_view> first_words() {
  std::vector<std::string_view> words;
  for (const Command& command : kCommands) {
    const std::string_view word = command.name.substr(0, command.name.find(' '));
    if (words.empty() || words.back() != word) words.push_back(word);
  }
  words.push_back("help");
  return words;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands)
    if (command.name == name) return &command;
  return nullptr;
}

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

Result<const Command*> take_command(std::vector<std::string>& words) {
  if (const Command* command = find_command(words[0])) {
    words.erase(words.begin());
    return command;
  }
  const auto members = group_members(words[0]);
  if (members.empty())
    return fail(ErrorCode::usage, fmt::format("unknown command {}", quote(words[0])), {},
                hint_for(words[0], first_words(), "gpuadvisor --help lists the commands"));
  if (words.size() < 2)
    return fail(ErrorCode::usage,
                fmt::format("'{}' needs a command: {}", words[0], join(members, "or")), {},
                fmt::format("gpuadvisor {} --help", words[0]));
  if (const Command* command = find_command(words[0] + " " + words[1])) {
    words.erase(words.begin(), words.begin() + 2);
    return command;
  }
  return fail(ErrorCode::usage,
              fmt::format("unknown command {} of '{}'; expected {}", quote(words[1]), words[0],
                          join(members, "or")),
              {}, hint_for(words[1], members, ""));
}

}  // namespace gpuadvisor::cli
