// Output head and loss: logits, softmax, their gradients.
#include <algorithm>
#include <cmath>

#include "memory/layer_bytes.hpp"
#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

// A linear layer fused with the loss works on 1/n of the tokens at a time; n as Liger
// chooses it: the power of two not under V/h.
LogitBytes fused_linear(const Prepared& prepared) {
  const double ratio = std::max(1.0, static_cast<double>(prepared.architecture.vocab) /
                                         std::max(1, prepared.architecture.hidden));
  const double chunks = std::exp2(std::ceil(std::log2(ratio)));
  return {12 / chunks, 12 / chunks};
}

LogitBytes plain(const Prepared& prepared, bool tensor_parallel) {
  const Training& run = prepared.training;
  const auto& traits = run.framework.memory;
  if (traits.head_tp_bytes > 0 && tensor_parallel)
    return {traits.head_tp_bytes, traits.head_tp_bytes + 2};
  if (traits.head_full_bytes > 0 && !run.adapters())
    return {traits.head_full_bytes, traits.head_full_bytes};
  if (traits.head_bytes > 0)
    return {traits.head_bytes, std::max(traits.head_bytes, traits.head_reserved_bytes)};
  // 16-bit logits and one fp32 copy that softmax and gradient reuse in place.
  if (kernels_of(run) == Kernels::fused) return {6, 6};
  // fp32 log-softmax, gradient of the loss, gradient of log-softmax; the freed 16-bit
  // logits leave a block that is not reused.
  return {12, 14};
}

LogitBytes logit_bytes(const Prepared& prepared, bool tensor_parallel) {
  const Training& run = prepared.training;
  const auto& traits = run.framework.memory;
  LogitBytes bytes = plain(prepared, tensor_parallel);
  switch (run.loss) {
    case workload::Loss::plain:
      break;
    case workload::Loss::compiled:
      bytes = {traits.head_compiled_bytes, traits.head_compiled_bytes + 2};
      break;
    // 16-bit logits of all chunks; eager softmax keeps fp32 of all, a compiled one of one.
    case workload::Loss::chunked:
      bytes = kernels_of(run) == Kernels::compiled ? LogitBytes{3, 3} : LogitBytes{8, 8};
      break;
    case workload::Loss::fused:
      if (traits.head_full_bytes > 0 && !run.adapters()) break;
      if (traits.head_fused_bytes > 0)
        bytes = {traits.head_fused_bytes, traits.head_fused_bytes};
      else
        bytes = fused_linear(prepared);
      return bytes;
  }
  if (run.loss_16bit && run.loss == workload::Loss::plain) bytes = {8, 10};
  bytes.allocated += traits.logits_kept_bytes;
  bytes.reserved += traits.logits_kept_bytes;
  return bytes;
}

// The head's weight gradient exists beside the logits where the loss is taken apart in
// chunks and under FSDP; a persistent gradient buffer holds it anyway.
bool head_gradient_at_loss(const PlanContext& c) {
  const Training& run = c.run();
  if (run.adapters() || c.traits().gradient_buffer) return false;
  const bool in_chunks = run.loss == workload::Loss::fused || run.loss == workload::Loss::chunked;
  return is_fsdp(c.plan.sharding) || (in_chunks && c.traits().head_full_bytes <= 0);
}

// Each prediction layer has its own fp32 loss and one layer's activations.
void add_prediction_layers(Head& result, const PlanContext& c, double tokens, double logits) {
  const Architecture& m = c.prepared.architecture;
  const auto r = static_cast<std::size_t>(c.plan.recompute);
  const LayerTable& table =
      c.prepared.layer[m.kind_of_layer[static_cast<std::size_t>(m.layers - 1)]];
  const double mtp = c.run().mtp_layers;
  result.allocated += 4 * logits * mtp;
  result.reserved += 4 * logits * mtp;
  result.extra += mtp * tokens * (c.at(table.kept[r]) + 6.0 * m.hidden * c.sequence_share);
}

}  // namespace

void fill_logit_bytes(Prepared& prepared) {
  prepared.logit_bytes = {logit_bytes(prepared, false), logit_bytes(prepared, true)};
}

Head head(const PlanContext& c, const StageParameters& own) {
  const Architecture& m = c.prepared.architecture;
  if (!own.last || m.vocab <= 0) return {};
  const double sequences = c.run().mode == workload::Mode::dpo ? 2 : 1;
  const double tokens = sequences * c.tokens / c.parts;
  // end_matrix is V·h/t; a vocabulary that is not parallel has all V logits.
  const double share = c.run().framework.vocab_parallel ? 1 : c.plan.tp;
  const double logits = tokens * c.end_matrix * share / m.hidden;
  const LogitBytes& bytes = c.prepared.logit_bytes[c.plan.tp > 1 ? 1 : 0];
  Head result{logits * bytes.allocated, logits * bytes.reserved, 0};
  const double norm =
      4.0 * m.hidden * c.sequence_share + (c.plan.sequence_parallel ? 2.0 * m.hidden : 0);
  result.extra = tokens * norm;
  if (head_gradient_at_loss(c)) result.extra += 2 * c.end_matrix;
  if (c.run().mtp_layers > 0) add_prediction_layers(result, c, tokens, logits);
  return result;
}

}  // namespace gpuadvisor::memory
