// The terms of one phase with their names and formulas, for --explain.
#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

void add(Terms& terms, std::string_view name, std::string_view formula, double bytes) {
  if (bytes == 0 || terms.count == kMaxTerms) return;
  terms.items[static_cast<std::size_t>(terms.count++)] = {name, formula, bytes};
}

std::string_view weights_formula(const Prepared& prepared, const Plan& plan) {
  if (prepared.training.adapters())
    return "base bytes x P + adapters, / shards under ZeRO-3 or FSDP";
  switch (workload::effective_recipe(prepared.training, plan.sharding)) {
    case workload::StateRecipe::fsdp_mixed:
      return "4 x P / shards";
    case workload::StateRecipe::hf_amp:
      return "4 x P";
    default:
      return "2 x P, / shards under ZeRO-3";
  }
}

std::string_view gradients_formula(const Prepared& prepared, const Plan& plan) {
  if (prepared.training.adapters()) return "adapter bytes x adapter parameters";
  switch (workload::effective_recipe(prepared.training, plan.sharding)) {
    case workload::StateRecipe::megatron:
      return "4 x P (2 where reduced in 16 bits)";
    case workload::StateRecipe::fsdp_mixed:
      return "4 x P / shards";
    case workload::StateRecipe::hf_amp:
      return "4 x P";
    default:
      return "2 x P, / shards from ZeRO-2 on";
  }
}

void add_states(Terms& terms, const Prepared& prepared, const Plan& plan, const Breakdown& b) {
  add(terms, "weights", weights_formula(prepared, plan), b.weights);
  add(terms, "gradients", gradients_formula(prepared, plan), b.gradients);
  add(terms, "optimizer states and master weights",
      "(master + moments) x P / shards, experts over their own group", b.optimizer);
}

}  // namespace

double Terms::sum() const {
  double bytes = 0;
  for (int i = 0; i < count; ++i) bytes += items[static_cast<std::size_t>(i)].bytes;
  return bytes;
}

Terms explain(const Prepared& prepared, const Plan& given, const catalog::Cluster& cluster,
              Phase phase, int index) {
  const Plan plan = normalised(prepared, given, cluster);
  const Stage stage = stage_of(context(prepared, plan), index);
  const Breakdown b = breakdown(stage, phase);
  Terms terms;
  add_states(terms, prepared, plan, b);
  if (phase != Phase::step)
    add(terms, "kept activations", "layers x bytes a token x tokens x micro-batches in flight",
        phase == Phase::loss ? stage.activations.kept : kept_in_backward(stage));
  if (phase == Phase::backward)
    add(terms, "live layer", "recomputed tensors and temporaries of one layer x tokens",
        stage.activations.live);
  if (phase == Phase::loss) {
    add(terms, "logits and loss", "bytes a logit x tokens x V / vocabulary shards",
        stage.head.allocated);
    add(terms, "final norm and head gradient", "(4h + 2h) x tokens, 2 x V x h / t",
        stage.head.extra);
  }
  add(terms, "workspaces and cached dummies", "constant + 2 bytes a distinct weight shape",
      stage.buffers.always);
  if (phase != Phase::step)
    add(terms, "gathered weights", "two layers and the root unit, or live parameters x 2",
        stage.buffers.gather);
  if (phase == Phase::backward)
    add(terms, "gradient buckets", "reduce buckets, or one unit in 16 and 32 bits",
        stage.buffers.backward);
  if (phase == Phase::step)
    add(terms, "optimizer step temporaries", "copy of the moments, or fp32 gradients of the part",
        stage.buffers.step + stage.states.step_temporary);
  return terms;
}

}  // namespace gpuadvisor::memory
