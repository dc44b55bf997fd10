#include <algorithm>

#include "frameworks_data.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::workload {
namespace {

constexpr bool in_enum_order() {
  std::size_t index = 0;
  for (const FrameworkProfile& profile : kFrameworkProfiles)
    if (static_cast<std::size_t>(profile.id) != index++) return false;
  return index == static_cast<std::size_t>(Framework::other) + 1;
}
static_assert(in_enum_order(),
              "data/frameworks.json needs one record a framework, in the order of the enum");

// What plain torch, fused and whole-program kernels move for the loss, bytes a logit,
// and for the optimizer, bytes a parameter (data/frameworks.json states the same).
constexpr double kPlainLossBytes = 34;
constexpr double kFusedLossBytes = 8;
constexpr double kFusedOptimizerBytes = 30;

}  // namespace

const FrameworkProfile& framework_profile(Framework framework) {
  return kFrameworkProfiles[static_cast<std::size_t>(framework)];
}

FrameworkProfile adapt_profile(FrameworkProfile profile, KernelProfile kernels) {
  const KernelProfile own = profile.kernel_profile;
  profile.kernel_profile = kernels;
  if (kernels == own) return profile;
  if (kernels == KernelProfile::fused && own == KernelProfile::eager) {
    profile.loss_bytes = std::min(profile.loss_bytes, kFusedLossBytes);
    profile.optimizer_bytes = std::min(profile.optimizer_bytes, kFusedOptimizerBytes);
    profile.host_layer_s =
        std::min(profile.host_layer_s, framework_profile(Framework::megatron).host_layer_s);
    profile.fused_norm = true;
  }
  if (kernels == KernelProfile::compiled)
    profile.host_layer_s =
        std::min(profile.host_layer_s, framework_profile(Framework::torchtitan).host_layer_s);
  if (kernels == KernelProfile::eager) {
    profile.loss_bytes = std::max(profile.loss_bytes, kPlainLossBytes);
    profile.fused_norm = false;
  }
  return profile;
}

Framework generic_framework(KernelProfile kernels, Sharding sharding) {
  switch (kernels) {
    case KernelProfile::fused:
      return Framework::megatron;
    case KernelProfile::compiled:
      return Framework::torchtitan;
    case KernelProfile::mpt:
      return Framework::llm_foundry;
    case KernelProfile::eager:
      break;
  }
  switch (sharding) {
    case Sharding::zero1:
    case Sharding::zero2:
    case Sharding::zero3:
      return Framework::deepspeed;
    case Sharding::fsdp:
    case Sharding::fsdp_grad_op:
    case Sharding::hsdp:
      return Framework::fsdp;
    case Sharding::none:
      break;
  }
  return Framework::hf;
}

StateRecipe effective_recipe(const Training& training, Sharding sharding) {
  if (training.precision == Precision::bf16_pure) return StateRecipe::hf_16bit;
  if (training.recipe == StateRecipe::megatron) return training.recipe;
  switch (sharding) {
    case Sharding::zero1:
    case Sharding::zero2:
    case Sharding::zero3:
      return StateRecipe::deepspeed;
    case Sharding::fsdp:
    case Sharding::fsdp_grad_op:
    case Sharding::hsdp:
      return StateRecipe::fsdp_mixed;
    case Sharding::none:
      break;
  }
  return training.recipe;
}

}  // namespace gpuadvisor::workload
