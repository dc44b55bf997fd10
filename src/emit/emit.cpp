#include "gpuadvisor/emit.hpp"

#include <array>

#include <fmt/format.h>

#include "emit/parts.hpp"

namespace gpuadvisor::emit {
namespace {

constexpr auto kNames = std::to_array<std::string_view>(
    {"deepspeed", "fsdp", "megatron", "torchtitan", "slurm", "vllm", "sglang", "tensorrt-llm",
     "llama.cpp", "aliyun", "terraform", "pai-dlc", "pai-eas"});

bool serves(Target target) {
  return target == Target::vllm || target == Target::sglang || target == Target::tensorrt_llm ||
         target == Target::llama_cpp || target == Target::pai_eas;
}

/// Orders of machines fit both kinds of job.
bool orders(Target target) { return target == Target::aliyun || target == Target::terraform; }

}  // namespace

std::string_view to_string(Target target) { return kNames[static_cast<std::size_t>(target)]; }

std::optional<Target> target_from_string(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Target>(i);
  return std::nullopt;
}

std::span<const std::string_view> target_names() { return kNames; }

Target usual_target(const Job& job) {
  if (job.row->serving) {
    switch (job.query->serve.engine) {
      case serving::Engine::sglang:
        return Target::sglang;
      case serving::Engine::tensorrt_llm:
        return Target::tensorrt_llm;
      case serving::Engine::llama_cpp:
        return Target::llama_cpp;
      default:
        return Target::vllm;
    }
  }
  switch (job.row->training.framework.id) {
    case workload::Framework::megatron:
    case workload::Framework::nemo:
      return Target::megatron;
    case workload::Framework::torchtitan:
      return Target::torchtitan;
    case workload::Framework::fsdp:
      return Target::fsdp;
    default:
      return Target::deepspeed;
  }
}

std::optional<workload::Framework> framework_of(Target target) {
  switch (target) {
    case Target::deepspeed:
      return workload::Framework::deepspeed;
    case Target::fsdp:
      return workload::Framework::fsdp;
    case Target::megatron:
      return workload::Framework::megatron;
    case Target::torchtitan:
      return workload::Framework::torchtitan;
    default:
      return std::nullopt;
  }
}

Result<std::string> file(const Job& job, Target target) {
  if (!orders(target) && serves(target) != job.row->serving.has_value())
    return fail(ErrorCode::usage,
                fmt::format("'{}' {}, but the job is {}", to_string(target),
                            serves(target) ? "serves a model" : "trains a model",
                            job.row->serving ? "serving" : "training"),
                "--for", "choose a target of the other kind, or another --mode");
  switch (target) {
    case Target::deepspeed:
      return deepspeed(job);
    case Target::fsdp:
      return fsdp(job);
    case Target::megatron:
      return megatron(job);
    case Target::torchtitan:
      return torchtitan(job);
    case Target::slurm:
      return slurm(job);
    case Target::aliyun:
      return aliyun(job);
    case Target::terraform:
      return terraform(job);
    case Target::pai_dlc:
      return pai_dlc(job);
    case Target::pai_eas:
      return pai_eas(job);
    default:
      return serve_script(job, target);
  }
}

}  // namespace gpuadvisor::emit
