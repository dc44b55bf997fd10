// transformers: Python launches every kernel, and these versions concatenate and repeat
// the cache to all query heads each step before reading it with one thread block a head.
#include <algorithm>
#include <cmath>

#include "calibration_data.hpp"
#include "serving/step.hpp"

namespace gpuadvisor::serving {
namespace {

namespace k = calibration::serving;

constexpr std::int32_t kNewCache = 45000;

double host_factor(Quant quant, std::int32_t version) {
  switch (quant) {
    case Quant::gptq_int4:
      return k::hf_gptq4;
    case Quant::gptq_int8:
      return k::hf_gptq8;
    case Quant::int8_bnb:
      return k::hf_gptq8;
    case Quant::awq_int4:
      return version >= kNewCache ? k::hf_awq_451 : k::hf_awq;
    case Quant::fp8:
      return k::hf_fp8;
    default:
      return 1;
  }
}

double host_time(const StepContext& c) {
  const Model& m = *c.model;
  const double layers =
      c.profile->host_layer_s * m.layers * host_factor(c.request->quant, c.request->version);
  return layers * (c.plan.split_gpus > 1 ? k::hf_several : 1) +
         k::hf_expert * m.architecture.experts * m.moe_layers;
}

/// The repeated cache of a batch of sequences at one context.
double repeated_cache_time(const StepContext& c, const StepWork& w) {
  const model::Architecture& a = c.model->architecture;
  const double bytes = 4 * c.model->attention_layers * a.q_width() * w.context * w.sequences;
  if (c.request->quant == Quant::awq_int4 && c.request->version >= kNewCache)
    return bytes / k::hf_cache_rate_awq451;
  return bytes *
         (1 / k::hf_cache_rate + 1 / (k::hf_head_rate * a.heads * std::max(1.0, w.sequences)));
}

}  // namespace

StepTime eager_step(const StepContext& c, const StepWork& w) {
  const Model& m = *c.model;
  StepTime step;
  if (w.prompt_tokens > 1) {
    step.compute = 2 * active_linear(m) * w.prompt_tokens / c.rates.gemm;
    step.prompt_attention =
        attention_flops(m, w.prompt_tokens, w.prompt_context, true) / c.rates.prompt_attention;
  }
  if (w.sequences <= 0) return step;
  const double hit = m.architecture.experts > 0
                         ? experts_hit(m.architecture, w.sequences) / m.architecture.experts
                         : 0;
  const double read = (m.attention + m.dense + m.experts * hit) * c.weight_bytes_each + 2 * m.head;
  step.weights = read / c.rates.weight_bw;
  step.compute += 2 * active_linear(m) * w.sequences / c.rates.gemm;
  step.kv_read = repeated_cache_time(c, w);
  const double device = step.weights + step.kv_read;
  const double host = host_time(c);
  // Triton fp8 kernels do not overlap with the host.
  step.launch = c.request->quant == Quant::fp8
                    ? std::cbrt(host * host * host + step.kv_read * step.kv_read * step.kv_read) -
                          step.kv_read
                    : std::cbrt(host * host * host + device * device * device) - device;
  return step;
}

}  // namespace gpuadvisor::serving
