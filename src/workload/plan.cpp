#include <algorithm>

#include <fmt/format.h>

#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::workload {
namespace {

std::string_view sharding_words(Sharding sharding) {
  switch (sharding) {
    case Sharding::zero1:
      return "ZeRO-1";
    case Sharding::zero2:
      return "ZeRO-2";
    case Sharding::zero3:
      return "ZeRO-3";
    case Sharding::fsdp:
      return "FSDP";
    case Sharding::fsdp_grad_op:
      return "FSDP grad-op";
    case Sharding::hsdp:
      return "HSDP";
    case Sharding::none:
      break;
  }
  return {};
}

std::string_view recompute_words(Recompute recompute) {
  switch (recompute) {
    case Recompute::none:
      return "no recompute";
    case Recompute::selective:
      return "selective recompute";
    case Recompute::selective_op:
      return "op-selective recompute";
    case Recompute::selective_layer:
      return "layer-selective recompute";
    case Recompute::full:
      break;
  }
  return "full recompute";
}

std::string degrees(const Plan& plan) {
  std::string text;
  const auto add = [&](const char* name, int degree) {
    if (degree > 1) text += fmt::format("{}{}{}", text.empty() ? "" : " x ", name, degree);
  };
  add("TP", plan.tp);
  add("PP", plan.pp);
  add("CP", plan.cp);
  add("DP", plan.dp);
  if (text.empty()) text = "1 GPU";
  if (plan.vpp > 1) text += fmt::format(", {} virtual stages", plan.vpp);
  if (plan.ep > 1) text += fmt::format(", EP{}", plan.ep);
  return text;
}

std::string offload_words(std::uint8_t offload) {
  std::string text;
  const auto add = [&](std::uint8_t bit, const char* name) {
    if ((offload & bit) != 0) text += fmt::format("{}{}", text.empty() ? "" : "+", name);
  };
  add(kOffloadOptimizer, "optimizer");
  add(kOffloadParams, "parameters");
  add(kOffloadActivations, "activations");
  add(kOffloadNvme, "NVMe");
  return text.empty() ? text : ", " + text + " offloaded";
}

}  // namespace

int zero_stage(Sharding sharding) {
  switch (sharding) {
    case Sharding::none:
      return 0;
    case Sharding::zero1:
      return 1;
    case Sharding::zero2:
    case Sharding::fsdp_grad_op:
      return 2;
    case Sharding::zero3:
    case Sharding::fsdp:
    case Sharding::hsdp:
      return 3;
  }
  return 0;
}

std::string describe(const Plan& plan) {
  std::string text = degrees(plan);
  if (plan.sharding != Sharding::none) text += fmt::format(", {}", sharding_words(plan.sharding));
  text += fmt::format(", micro-batch {}", plan.micro_batch);
  return text + fmt::format(", {}{}", recompute_words(plan.recompute), offload_words(plan.offload));
}

int stage_layers(int layers, int pp, int stage) {
  return layers / pp + (stage < layers % pp ? 1 : 0);
}

std::int64_t micro_batches(const Training& training, const Plan& plan) {
  const std::int64_t per_micro_step = std::int64_t{plan.micro_batch} * plan.dp;
  return std::max<std::int64_t>(1,
                                training.global_batch / std::max<std::int64_t>(1, per_micro_step));
}

}  // namespace gpuadvisor::workload
