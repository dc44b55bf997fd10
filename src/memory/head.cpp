// Output head and loss: logits, softmax, their gradients.
#include <algorithm>
#include <cmath>

#include "memory/layer_bytes.hpp"
#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

/// Bytes a logit, as tensors hold them and as the allocator keeps them.
struct LogitBytes {
  double allocated = 0, reserved = 0;
};

// A linear layer fused with the loss works on 1/n of the tokens at a time; n as Liger
// chooses it: the power of two not under V/h.
LogitBytes fused_linear(const Prepared& prepared) {
  const double ratio = std::max(1.0, static_cast<double>(prepared.architecture.vocab) /
                                         std::max(1, prepared.architecture.hidden));
  const double chunks = std::exp2(std::ceil(std::log2(ratio)));
  return {12 / chunks, 12 / chunks};
}

LogitBytes plain(const Prepared& prepared, const Plan& plan) {
  const Training& run = prepared.training;
  const auto& traits = run.framework.memory;
  if (traits.head_tp_bytes > 0 && plan.tp > 1) return {traits.head_tp_bytes, traits.head_tp_bytes + 2};
  if (traits.head_full_bytes > 0 && !run.adapters())
    return {traits.head_full_bytes, traits.head_full_bytes};
  if (traits.head_bytes > 0) return {traits.head_bytes, std::max(traits.head_bytes, traits.head_reserved_bytes)};
  // 16-bit logits and one fp32 copy that softmax and gradient reuse in place.
  if (kernels_of(run) == Kernels::fused) return {6, 6};
  // fp32 log-softmax, gradient of the loss, gradient of log-softmax; the freed 16-bit
  // logits leave a block that is not reused.
  return {12, 14};
}

LogitBytes logit_bytes(const Prepared& prepared, const Plan& plan) {
  const Training& run = prepared.training;
  const auto& traits = run.framework.memory;
  LogitBytes bytes = plain(prepared, plan);
  switch (run.loss) {
    case workload::Loss::plain: break;
    case workload::Loss::compiled:
      bytes = {traits.head_compiled_bytes, traits.head_compiled_bytes + 2};
      break;
    // 16-bit logits of all chunks; eager softmax keeps fp32 of all, a compiled one of one.
    case workload::Loss::chunked:
      bytes = kernels_of(run) == Kernels::compiled ? LogitBytes{3, 3} : LogitBytes{8, 8};
      break;
    case workload::Loss::fused:
      if (traits.head_full_bytes > 0 && !run.adapters()) break;
      if (traits.head_fused_bytes > 0) bytes = {traits.head_fused_bytes, traits.head_fused_bytes};
      else bytes = fused_linear(prepared);
      return bytes;
  }
  if (run.loss_16bit && run.loss == workload::Loss::plain) bytes = {8, 10};
  bytes.allocated += traits.logits_kept_bytes;
  bytes.reserved += traits.logits_kept_bytes;
  return bytes;
}

// The head's weight gradient exists beside the logits where the loss is taken apart in
// chunks and under FSDP; a persistent gradient buffer holds it anyway.
bool head_gradient_at_loss(const Prepared& prepared, const Plan& plan) {
  const Training& run = prepared.training;
  if (run.adapters() || run.framework.memory.gradient_buffer) return false;
  const bool in_chunks = run.loss == workload::Loss::fused || run.loss == workload::Loss::chunked;
  return is_fsdp(plan.sharding) || (in_chunks && run.framework.memory.head_full_bytes <= 0);
}

}  // namespace

Head head(const Prepared& prepared, const Plan& plan, const StageParameters& own) {
  if (!own.last || prepared.architecture.vocab <= 0) return {};
  const Training& run = prepared.training;
  const double t = plan.tp, h = prepared.architecture.hidden;
  const double sequences = run.mode == workload::Mode::dpo ? 2 : 1;
  const double tokens = sequences * micro_tokens(prepared, plan) / micro_batch_parts(prepared, plan);
  const double divisor = run.framework.vocab_parallel ? t : 1;
  const double logits = tokens * padded_vocabulary(prepared, t) / divisor;
  const LogitBytes bytes = logit_bytes(prepared, plan);
  Head result{logits * bytes.allocated, logits * bytes.reserved, 0};
  const double norm = plan.sequence_parallel ? 4 * h / t + 2 * h : 4 * h;
  result.extra = tokens * norm;
  if (head_gradient_at_loss(prepared, plan))
    result.extra += 2 * padded_vocabulary(prepared, t) * h / t;
  if (run.mtp_layers > 0) {
    const auto kind = static_cast<std::size_t>(
        prepared.architecture.kind_of_layer[static_cast<std::size_t>(prepared.architecture.layers - 1)]);
    const auto r = static_cast<std::size_t>(plan.recompute);
    const double layer = prepared.layer[kind].kept[r].at(t, plan.sequence_parallel);
    result.allocated += 4 * logits * run.mtp_layers;
    result.reserved += 4 * logits * run.mtp_layers;
    result.extra += run.mtp_layers * tokens * (layer + 6 * h / (plan.sequence_parallel ? t : 1));
  }
  return result;
}

}  // namespace gpuadvisor::memory
