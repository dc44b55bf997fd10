// The file that the user runs next, written from the same plan that was estimated:
// framework configurations, launch scripts, serving commands and cloud orders.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gpuadvisor/advisor.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::emit {

enum class Target : std::uint8_t {
  deepspeed,   ///< ds_config.json
  fsdp,        ///< accelerate configuration, YAML
  megatron,    ///< arguments of pretrain_gpt.py, a shell script
  torchtitan,  ///< job configuration, TOML
  slurm,       ///< sbatch script
  vllm,        ///< command lines of the four engines
  sglang,
  tensorrt_llm,
  llama_cpp,
  aliyun,     ///< `aliyun ecs RunInstances`
  terraform,  ///< alicloud_instance
  pai_dlc,    ///< training job of PAI, JSON
  pai_eas,    ///< inference service of PAI, JSON
};

[[nodiscard]] std::string_view to_string(Target target);
[[nodiscard]] std::optional<Target> target_from_string(std::string_view name);
[[nodiscard]] std::span<const std::string_view> target_names();

/// What the targets read: one ranked result and the question it answers.
struct Job {
  const advisor::Query* query = nullptr;
  const advisor::ResultRow* row = nullptr;
};

/// The target that a launch of this result usually needs.
[[nodiscard]] Target usual_target(const Job& job);

/// The framework whose plans the target can express; nothing when any will do. Rank
/// with this framework before writing the file.
[[nodiscard]] std::optional<workload::Framework> framework_of(Target target);

/// One whole file. Holds exactly the recommended settings; what only the user knows
/// (paths, image, network ids) is an environment variable that the file demands.
/// Errors (usage): the target cannot express the plan, such as pipeline stages in
/// DeepSpeed's JSON or a serving plan in a training framework.
[[nodiscard]] Result<std::string> file(const Job& job, Target target);

}  // namespace gpuadvisor::emit
