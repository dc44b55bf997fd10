#include "serving/memory_eager.hpp"

#include <algorithm>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::serving {
namespace {

constexpr std::int32_t kLastLogitsOnly = 44500;  ///< transformers 4.45: logits of the last token
constexpr std::int32_t kNoPeakCounted = 45000;   ///< tables of 4.5x hold weights and cache only

struct Run {
  double batch, prompt, total;
};

Run run_of(const Request& request) {
  return {std::max(1.0, request.concurrency), request.input_len,
          request.input_len + request.output_len};
}

/// Width of the widest MLP a token passes through at one time (experts one by one).
double eager_width(const model::Architecture& a) {
  return a.is_moe() ? std::max({a.shared_ffn, a.expert_ffn}) : a.ffn;
}

double cache(const Model& model, double tokens, double element_bytes) {
  return kv_bytes(model, Plan{}, tokens, element_bytes, true);
}

/// Loading a tied model whose file stores a head all the same.
double load_peak(const Model& model, const Request& request, double weights) {
  const bool head_in_file = model.stored_head <= 0 && request.quant != Quant::none &&
                            (request.quant == Quant::awq_int4 || request.version < kLastLogitsOnly);
  return weights + (head_in_file ? 2 * model.head : 0);
}

GrowingPeak transformers_peak(const Model& model, const Request& request, double weights,
                              double element_bytes) {
  const model::Architecture& a = model.architecture;
  const Run run = run_of(request);
  const bool old = request.version > 0 && request.version < kLastLogitsOnly;
  GrowingPeak peak;
  peak.cache = cache(model, run.total, element_bytes) * run.batch;
  if (a.family == "qwen") {  // remote code: the cache grows by concatenation
    peak.cache *= 2;
    peak.activations = 0.55 * kGiB;
  } else if (request.version >= kNoPeakCounted) {
    if (request.quant == Quant::awq_int4)
      peak.activations = 4.0 * a.head_dim * model.layers * run.prompt;
  } else {
    const double tables = old ? 4 * model.layers * 32768 * a.head_dim : 0;
    const double scratch = request.quant == Quant::gptq_int4 ? 2.0 * a.hidden * a.ffn : 0;
    const double act = 2 * (3 * eager_width(a) + 4.0 * a.hidden) * run.prompt * run.batch;
    const double logits = 6.0 * a.vocab * run.batch * (old ? run.prompt : 1);
    const double prefill =
        cache(model, run.prompt, element_bytes) * run.batch + std::max(act, logits);
    const double decode = peak.cache + 6.0 * a.vocab * run.batch;
    peak.activations = std::max(prefill, decode) - peak.cache + tables + scratch;
  }
  peak.total =
      std::max(load_peak(model, request, weights), weights + peak.cache + peak.activations);
  return peak;
}

GrowingPeak autoawq_peak(const Model& model, const Request& request, double weights,
                         double element_bytes) {
  const model::Architecture& a = model.architecture;
  const Run run = run_of(request);
  const bool mpt = a.family == "mpt";
  const bool fused_scores = a.family == "llama" && a.kv_heads == a.heads;
  GrowingPeak peak;
  const double tokens = mpt ? std::min(run.total, 2048.0) : run.total;
  peak.cache = std::max(cache(model, tokens, element_bytes) * run.batch,
                        mpt ? 0 : cache(model, 2048, element_bytes));
  peak.activations = 6.0 * a.vocab * run.prompt * run.batch + 0.1 * kGiB +
                     (fused_scores ? 0 : 6.0 * a.heads * run.prompt * run.prompt * run.batch);
  peak.total = weights + peak.cache + peak.activations;
  return peak;
}

/// llama.cpp reserves one graph of a micro-batch of 512 tokens: logits or scores.
GrowingPeak llama_cpp_peak(const Model& model, const Request& request, double weights,
                           double element_bytes) {
  const model::Architecture& a = model.architecture;
  const Run run = run_of(request);
  constexpr double kMicroBatch = 512;
  GrowingPeak peak;
  peak.cache = cache(model, run.total, element_bytes) * run.batch;
  const double logits = 4.0 * a.vocab + 4.0 * a.hidden;
  const double scores = 4.0 * a.heads * run.total;
  peak.activations = kMicroBatch * std::max(logits, scores + 8.0 * a.hidden);
  peak.total = weights + peak.cache + peak.activations;
  return peak;
}

}  // namespace

double activation_bytes_per_token(const Model& model, double tp) {
  const model::Architecture& a = model.architecture;
  const double copies = a.gated ? 3 : 2;
  const double routed =
      a.is_moe() ? static_cast<double>(a.experts_per_token) * a.expert_ffn + a.shared_ffn : 0;
  const double width = std::max(routed, model.dense_layers > 0 ? static_cast<double>(a.ffn) : 0.0);
  const double spread = a.is_moe() ? static_cast<double>(a.experts_per_token) * a.hidden : 0;
  const double mlp = copies * width / tp + 3.0 * a.hidden + spread;
  const double dqk = a.is_mla() ? a.qk_nope_dim + a.qk_rope_dim : a.head_dim;
  const double attention = (2 * a.heads * dqk + 2 * a.kv_width()) / tp + 3.0 * a.hidden;
  return 2 * std::max(mlp, attention);
}

GrowingPeak growing_peak(const Model& model, const Request& request, const EngineProfile& profile,
                         double weights, double element_bytes) {
  if (profile.step == StepRule::llama_cpp)
    return llama_cpp_peak(model, request, weights, element_bytes);
  if (profile.engine == Engine::autoawq)
    return autoawq_peak(model, request, weights, element_bytes);
  return transformers_peak(model, request, weights, element_bytes);
}

}  // namespace gpuadvisor::serving
