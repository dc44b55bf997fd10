// llama.cpp: layers split over GPUs run one after the other for one token, and as a
// pipeline of micro-batches of 512 for a prompt. CPU layers read host memory.
#include <algorithm>
#include <cmath>

#include "calibration_data.hpp"
#include "serving/step.hpp"

namespace gpuadvisor::serving {
namespace {

namespace k = calibration::serving;

constexpr double kMicroBatch = 512;

double gpu_share(const StepContext& c) {
  if (c.request->gpu_layers < 0) return 1;
  return std::clamp(c.request->gpu_layers / std::max(1.0, c.model->layers), 0.0, 1.0);
}

void add_decode(StepTime& step, const StepContext& c, const StepWork& w) {
  const Model& m = *c.model;
  const LlamaCppRates rates = llama_cpp_rates(*c.cluster->gpu, c.request->quant);
  const double embedding =
      m.stored_head > 0 ? m.embedding * bits_per_weight(c.request->quant) / 8 : 0;
  const double hit =
      m.architecture.experts > 0
          ? m.experts * (1 - experts_hit(m.architecture, w.sequences) / m.architecture.experts)
          : 0;
  const double read = c.resident - embedding - hit * c.weight_bytes_each;
  const double share = gpu_share(c);
  step.weights +=
      read * share / (c.rates.bandwidth * rates.decode) + read * (1 - share) / k::host_memory_bw;
  const Plan one;
  step.kv_read += w.sequences * kv_bytes(m, one, w.context, c.element_bytes, true) /
                  (c.rates.bandwidth * k::lc_kv);
  step.compute +=
      2 * active_linear(m) * std::max(0.0, w.sequences - 1) / (c.rates.sustained_16 * rates.prompt);
  step.launch +=
      c.profile->host_s + c.profile->host_layer_s * m.layers + k::lc_hop * (c.plan.split_gpus - 1);
}

void add_prompt(StepTime& step, const StepContext& c, const StepWork& w) {
  const Model& m = *c.model;
  const LlamaCppRates rates = llama_cpp_rates(*c.cluster->gpu, c.request->quant);
  const double n = w.prompt_tokens, gpus = c.plan.split_gpus;
  const double batches = std::ceil(n / kMicroBatch);
  const double pipeline = gpus > 1 ? (batches + gpus - 1) / (batches * gpus) / k::lc_pipeline : 1;
  const double flops = 2 * active_linear(m) * n;
  const double share = gpu_share(c);
  step.compute += pipeline * (flops * share / (c.rates.sustained_16 * rates.prompt) +
                              flops * (1 - share) / k::host_flops);
  // Without flash attention all scores are computed: no causal halving.
  step.prompt_attention +=
      pipeline * attention_flops(m, n, n, true) / 2 / (c.rates.peak_16 * k::lc_attention);
  step.launch +=
      (c.profile->host_s + c.profile->host_layer_s * m.layers) * batches / std::min(gpus, batches);
}

}  // namespace

StepTime llama_cpp_step(const StepContext& c, const StepWork& w) {
  StepTime step;
  if (w.prompt_tokens > 0) add_prompt(step, c, w);
  if (w.sequences > 0) add_decode(step, c, w);
  return step;
}

}  // namespace gpuadvisor::serving
