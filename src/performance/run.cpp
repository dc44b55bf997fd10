#include <algorithm>

#include "performance/attention.hpp"
#include "performance/head.hpp"
#include "performance/step.hpp"

namespace gpuadvisor::performance {
namespace {

using model::Architecture;

/// Multiply-adds of scores and values a token at full length, without causal halving, as
/// PaLM's MFU counts them (Chowdhery et al. 2022, appendix B); windows are respected.
double scored_flops(const Architecture& a, double sequence) {
  double flops = 0;
  for (int i = 0; i < a.kind_count; ++i) {
    const model::LayerKind& kind = a.kinds[static_cast<std::size_t>(i)];
    if (is_linear(kind.mixer)) continue;
    const double keys = kind.window > 0 ? std::min<double>(kind.window, sequence) : sequence;
    flops += 2.0 * kind.count * keys * (a.q_width() + a.out_width());
  }
  return flops;
}

/// Forward matmul FLOPs of a token in all layers: every matrix but idle experts.
double layer_flops(const memory::Prepared& prepared) {
  const Architecture& a = prepared.architecture;
  double flops = 0;
  for (int i = 0; i < a.kind_count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const model::LayerParameters& p = prepared.counts.layer[index];
    const double share = a.experts > 0 ? 1.0 * a.experts_per_token / a.experts : 0;
    flops += 2 * a.kinds[index].count *
             (p.attention + p.attention_whole + p.mlp + p.shared + p.router + share * p.experts);
  }
  return flops;
}

/// The linear matrices alone, which every estimate runs at most at the sustained rate.
double bound_flops(const memory::Prepared& prepared) {
  const Architecture& a = prepared.architecture;
  double flops = 0;
  for (int i = 0; i < a.kind_count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const model::LayerParameters& p = prepared.counts.layer[index];
    const double share = a.experts > 0 ? 1.0 * a.experts_per_token / a.experts : 0;
    if (a.kinds[index].mixer == model::Mixer::mla || is_linear(a.kinds[index].mixer))
      flops += 2 * a.kinds[index].count * (p.mlp + share * p.experts);
    else
      flops += 2 * a.kinds[index].count * (p.attention + p.mlp + share * p.experts);
  }
  return flops;
}

}  // namespace

Run make_run(const memory::Prepared& prepared, const catalog::Cluster& cluster) {
  const Architecture& a = prepared.architecture;
  const workload::Training& training = prepared.training;
  const double sequence = static_cast<double>(training.seq_len);
  Run run;
  run.prepared = &prepared;
  run.cluster = &cluster;
  run.machine = make_machine(cluster, training);
  const double linear = layer_flops(prepared);
  const double mtp = training.mtp_layers;
  run.layers = a.layers + mtp;
  if (prepared.counts.encoder > 0 && linear > 0)
    run.layers += a.layers * 2 * prepared.counts.encoder / linear;
  run.heads = has_head(a) ? 1 + mtp : 0;
  run.trainable = training.adapters() ? 0 : 1;
  run.adapter_parameters = training.lora_parameters;
  const double scale = a.layers > 0 ? run.layers / a.layers : 1;
  const double head = run.heads * 2.0 * a.vocab * a.hidden;
  run.attention_flops = scale * scored_flops(a, sequence);
  run.forward_flops = scale * linear + run.attention_flops + head;
  const double passes = training.adapters() ? 2 : 3;
  run.model_flops = passes * (scale * linear + head) + 3 * run.attention_flops;
  run.bound_flops = passes * scale * bound_flops(prepared);
  run.bound_head_flops = a.causal ? 2 * head : 0;
  return run;
}

}  // namespace gpuadvisor::performance
