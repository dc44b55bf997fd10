#include "planner/framework_rules.hpp"

namespace gpuadvisor::planner {
namespace {

using workload::Framework;
using workload::Recompute;
using workload::Sharding;
using Shardings = Set<Sharding>;
using Dimensions = Set<Dimension>;
using Recomputes = Set<Recompute>;

constexpr Shardings kAllShardings{Sharding::none,  Sharding::zero1, Sharding::zero2,
                                  Sharding::zero3, Sharding::fsdp,  Sharding::fsdp_grad_op,
                                  Sharding::hsdp};
constexpr Shardings kZero{Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3};
constexpr Shardings kFsdp{Sharding::none, Sharding::fsdp, Sharding::fsdp_grad_op, Sharding::hsdp};
constexpr Shardings kReplicated{Sharding::none, Sharding::zero1};
constexpr Dimensions kAllDimensions{Dimension::tp, Dimension::pp, Dimension::cp, Dimension::ep};
constexpr Recomputes kPlainRecompute{Recompute::none, Recompute::full};
constexpr Recomputes kMegatronRecompute{Recompute::none, Recompute::selective, Recompute::full};
constexpr Recomputes kTitanRecompute{Recompute::none, Recompute::selective_op,
                                     Recompute::selective_layer, Recompute::full};

constexpr FrameworkRules kMegatron{
    kReplicated, kReplicated, kAllDimensions, kAllDimensions, kMegatronRecompute,
    true,        true,        false,          false};
constexpr FrameworkRules kMegatronDeepspeed{
    kReplicated,    kZero,           {Dimension::tp, Dimension::pp, Dimension::ep},
    kAllDimensions, kPlainRecompute, true,
    true,           false,           false};
constexpr FrameworkRules kDeepspeed{
    kZero, kZero, {Dimension::ep}, kAllDimensions, kPlainRecompute, false, false, false, true};
constexpr FrameworkRules kFsdpOnly{kFsdp, kFsdp, {},    kAllDimensions, kPlainRecompute,
                                   false, false, false, false};
constexpr FrameworkRules kTitan{
    kFsdp, kFsdp, {Dimension::tp, Dimension::cp}, kAllDimensions, kTitanRecompute, false, false,
    true,  false};
constexpr FrameworkRules kHuggingFace{
    {Sharding::none, Sharding::zero2, Sharding::zero3, Sharding::fsdp},
    kAllShardings,
    {},
    {Dimension::tp, Dimension::cp},
    kPlainRecompute,
    false,
    false,
    false,
    true};
constexpr FrameworkRules kSingle{
    {Sharding::none}, {Sharding::none}, {}, {}, kPlainRecompute, false, false, false, false};
constexpr FrameworkRules kDataParallel{kReplicated, kReplicated, {},    {},   kPlainRecompute,
                                       false,       false,       false, false};
constexpr FrameworkRules kThreeDimensional{kReplicated,
                                           kAllShardings,
                                           {Dimension::tp, Dimension::pp, Dimension::cp},
                                           kAllDimensions,
                                           kMegatronRecompute,
                                           false,
                                           true,
                                           false,
                                           false};
constexpr FrameworkRules kAnything{
    kAllShardings, kAllShardings, kAllDimensions, kAllDimensions, kMegatronRecompute,
    false,         false,         true,           false};

}  // namespace

const FrameworkRules& framework_rules(Framework framework) {
  switch (framework) {
    case Framework::megatron:
    case Framework::nemo:
      return kMegatron;
    case Framework::megatron_deepspeed:
      return kMegatronDeepspeed;
    case Framework::deepspeed:
      return kDeepspeed;
    case Framework::hf:
      return kHuggingFace;
    case Framework::torchtitan:
    case Framework::maxtext:
      return kTitan;
    case Framework::fsdp:
    case Framework::torchtune:
    case Framework::litgpt:
    case Framework::llm_foundry:
    case Framework::pytorch:
      return kFsdpOnly;
    case Framework::unsloth:
      return kSingle;
    case Framework::llm_c:
      return kDataParallel;
    case Framework::internevo:
    case Framework::paddle:
    case Framework::oneflow:
      return kThreeDimensional;
    case Framework::other:
      break;
  }
  return kAnything;
}

}  // namespace gpuadvisor::planner
