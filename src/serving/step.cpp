// The step of an engine with CUDA graphs. B sequences decode at mean context c beside
// Tp prompt tokens; T = B + Tp. Each group of matrices takes
//   ((bytes / read rate)^p + (2·params·T·(1 + n0/width) / rate)^p)^(1/p),
// a smooth roofline: reading and computing overlap only in part, narrow matrices waste
// tiles. Decode attention reads the cache, prompt attention is compute, two all-reduces
// a layer move T·hidden, and the host adds a time a step, a layer and a sequence.
#include "serving/step.hpp"

#include <algorithm>
#include <cmath>

#include "calibration_data.hpp"

namespace gpuadvisor::serving {
namespace {

namespace k = calibration::serving;

struct Gemm {
  double bytes = 0, flops = 0, width = 0;
};

/// Adds a GEMM group to the step, split by what explains it.
void add_gemm(StepTime& step, const Gemm& gemm, double read_bw, double rate) {
  if (gemm.bytes <= 0) return;
  const double read = gemm.bytes / read_bw;
  const double narrow = gemm.width > 0 ? 1 + k::gemm_n0 / gemm.width : 1;
  const double compute = gemm.flops * narrow / rate;
  // (1 + x^p)^(1/p) of the smaller to the larger part keeps powers in range.
  const double large = std::max(read, compute), small = std::min(read, compute);
  if (large <= 0) return;
  const double joined = large * std::pow(1 + std::pow(small / large, k::gemm_p), 1 / k::gemm_p);
  step.weights += joined * read / (read + compute);
  step.compute += joined * compute / (read + compute);
}

/// Ranks that share the non-expert matrices, and the tokens each of them sees.
struct Sharing {
  double ranks = 1, tokens = 0, sequences = 0;
};

Sharing sharing(const StepContext& c, const StepWork& w, double tokens) {
  if (!c.plan.dp_attention) return {static_cast<double>(c.plan.tp), tokens, w.sequences};
  const double t = c.plan.tp;
  return {1, tokens / t, w.sequences / t};
}

void add_dense(StepTime& step, const StepContext& c, const Sharing& s) {
  const Model& m = *c.model;
  const model::Architecture& a = m.architecture;
  const double whole = s.ranks > 1 ? m.attention_whole * (1 - 1 / s.ranks) : 0;
  const double attention = m.attention / s.ranks + whole;
  const double dqk = a.is_mla() ? a.qk_nope_dim + a.qk_rope_dim : a.head_dim;
  add_gemm(step,
           {attention * c.weight_bytes_each, 2 * attention * s.tokens, a.heads * dqk / s.ranks},
           c.rates.weight_bw, c.rates.gemm);
  const double dense = m.dense / s.ranks;
  add_gemm(step, {dense * c.weight_bytes_each, 2 * dense * s.tokens, m.dense_width / s.ranks},
           c.rates.weight_bw, c.rates.gemm);
}

void add_experts(StepTime& step, const StepContext& c, double tokens) {
  const Model& m = *c.model;
  const model::Architecture& a = m.architecture;
  if (m.experts <= 0) return;
  const double t = c.plan.tp;
  const double hit = experts_hit(a, tokens) / a.experts;
  const double active = m.experts * a.experts_per_token / a.experts;
  const double width = c.plan.dp_attention ? a.expert_ffn : a.expert_ffn / t;
  add_gemm(step, {m.experts * hit * c.weight_bytes_each / t, 2 * active * tokens / t, width},
           c.rates.weight_bw, c.rates.gemm * c.profile->expert_factor);
}

/// The head works on sequences, and on the last token of each prompt.
void add_head(StepTime& step, const StepContext& c, const Sharing& s, const StepWork& w) {
  const Model& m = *c.model;
  const double prompts = w.prompt_tokens > 0 && c.request->input_len > 0
                             ? w.prompt_tokens / std::max(1.0, c.request->input_len)
                             : 0;
  const double rows = s.sequences + prompts;
  const double head = m.head / s.ranks;
  add_gemm(step, {2 * head, 2 * head * rows, m.architecture.vocab / s.ranks}, c.rates.weight_bw_16,
           c.rates.gemm_16);
}

void add_attention(StepTime& step, const StepContext& c, const Sharing& s, const StepWork& w) {
  const Model& m = *c.model;
  const bool windows = c.profile->windows_in_kernels;
  if (s.sequences > 0) {
    const double cache =
        kv_bytes(m, c.plan, w.context, c.element_bytes, windows) * c.plan.pp * c.plan.split_gpus;
    step.kv_read = s.sequences * cache / (c.rates.cache_bw * c.profile->cache_factor);
    if (m.architecture.is_mla()) {
      // Absorbed latent attention: every head multiplies the shared row.
      const model::Architecture& a = m.architecture;
      const double flops = 2.0 * a.heads / s.ranks * (2 * a.kv_lora_rank + a.qk_rope_dim) *
                           w.context * m.attention_layers;
      step.kv_read = std::max(step.kv_read, s.sequences * flops / c.rates.prompt_attention);
    }
  }
  if (w.prompt_tokens > 0)
    step.prompt_attention = attention_flops(m, w.prompt_tokens, w.prompt_context, windows) /
                            c.plan.tp / c.rates.prompt_attention;
}

void add_communication(StepTime& step, const StepContext& c, double tokens) {
  const Model& m = *c.model;
  if (c.plan.tp <= 1) return;
  const double one = c.ring.seconds(2 * tokens * m.architecture.hidden);
  step.all_reduce =
      c.plan.dp_attention ? m.moe_layers * k::exposed_exchange * one : 2 * m.layers * one;
}

double host_time(const StepContext& c, const StepWork& w) {
  const EngineProfile& p = *c.profile;
  const Model& m = *c.model;
  const Kernel kernel = kernel_of(c.request->quant);
  const bool integer = kernel == Kernel::int4 || kernel == Kernel::int8;
  double host = p.host_s + p.host_layer_s * m.layers + p.host_sequence_s * w.sequences;
  if (integer) host += p.host_quant_layer_s * m.layers;
  host += p.host_moe_layer_s * m.moe_layers;
  if (integer) host += p.unfused_moe_layer_s * m.moe_layers;
  return host;
}

double cube_sum(double device, double host) {
  return std::cbrt(device * device * device + host * host * host);
}

/// Host time of the step that the GPU does not hide.
double exposed_launch(const StepContext& c, const StepWork& w, double device) {
  const EngineProfile& p = *c.profile;
  const double host = host_time(c, w);
  const double eager = k::eager_layer * c.model->layers + k::eager_moe_layer * c.model->moe_layers;
  const bool long_context = p.eager_context > 0 && w.context > p.eager_context;
  if ((w.sequences <= 0 && p.prompts_eager) || long_context || c.request->enforce_eager)
    return cube_sum(device, std::max(host, eager)) - device;
  return host;
}

void scale(StepTime& step, double factor) {
  for (double* term : {&step.weights, &step.compute, &step.kv_read, &step.prompt_attention,
                       &step.elementwise, &step.all_reduce, &step.launch})
    *term *= factor;
}

StepTime graph_step(const StepContext& c, const StepWork& w) {
  const double tokens = w.sequences + w.prompt_tokens;
  const Sharing s = sharing(c, w, tokens);
  StepTime step;
  add_dense(step, c, s);
  add_experts(step, c, tokens);
  add_head(step, c, s, w);
  add_attention(step, c, s, w);
  step.elementwise = k::elementwise_bytes * c.model->layers * c.model->architecture.hidden *
                     s.tokens / c.rates.bandwidth;
  if (c.plan.dp_attention) scale(step, k::rank_imbalance);
  add_communication(step, c, tokens);
  step.launch = exposed_launch(c, w, step.total());
  if (c.profile->step_factor != 1) scale(step, c.profile->step_factor);
  return step;
}

/// Hand-overs of one pass through all stages.
double pipeline_sends(const StepContext& c, const StepWork& w) {
  const bool nodes = c.plan.tp * c.plan.pp > c.cluster->gpus_per_node;
  const double latency = nodes ? k::ar_latency_nodes : k::ar_latency_nvlink;
  const double wire = nodes && c.cluster->node_nic_bw > 0 ? c.cluster->node_nic_bw : k::pcie4_bus;
  const double bytes = 2 * (w.sequences + w.prompt_tokens) * c.model->architecture.hidden;
  return (c.plan.pp - 1) * (latency + bytes / wire);
}

}  // namespace

double experts_hit(const model::Architecture& a, double tokens) {
  if (a.experts <= 0) return 0;
  const double share = static_cast<double>(a.experts_per_token) / a.experts;
  return a.experts * (1 - std::pow(1 - std::min(share, 1.0), std::max(tokens, 1.0)));
}

double active_linear(const Model& model) {
  const model::Architecture& a = model.architecture;
  const double experts = a.experts > 0 ? model.experts * a.experts_per_token / a.experts : 0;
  return model.attention + model.dense + experts;
}

double attention_flops(const Model& model, double tokens, double context, bool windows) {
  const model::Architecture& a = model.architecture;
  const double dqk = a.is_mla() ? a.qk_nope_dim + a.qk_rope_dim : a.head_dim;
  const double dv = a.v_head_dim > 0 ? a.v_head_dim : a.head_dim;
  double seen = 0;
  for (int i = 0; i < a.kind_count; ++i) {
    const model::LayerKind& kind = a.kinds[static_cast<std::size_t>(i)];
    const bool linear = kind.mixer == model::Mixer::delta_net ||
                        kind.mixer == model::Mixer::lightning ||
                        kind.mixer == model::Mixer::state_space;
    if (linear) continue;
    seen += kind.count *
            (windows && kind.window > 0 ? std::min<double>(context, kind.window) : context);
  }
  return 2.0 * a.heads * (dqk + dv) * tokens * seen;
}

Limit StepTime::limit() const {
  const double terms[] = {compute + prompt_attention + elementwise, weights + kv_read, all_reduce,
                          launch};
  constexpr Limit names[] = {Limit::compute, Limit::bandwidth, Limit::all_reduce, Limit::launch};
  return names[std::max_element(std::begin(terms), std::end(terms)) - std::begin(terms)];
}

StepContext make_context(const Model& model, const Request& request, const Plan& plan,
                         const catalog::Cluster& cluster) {
  StepContext c;
  c.model = &model;
  c.request = &request;
  c.profile = &engine_profile(request.engine, request.version);
  c.cluster = &cluster;
  c.plan = plan;
  c.rates = serving_rates(*cluster.gpu, request.quant, *c.profile);
  c.ring = all_reduce(cluster, plan.tp);
  c.weight_bytes_each = bits_per_weight(request.quant) / 8;
  c.element_bytes = kv_element_bytes(request, *c.profile);
  if (c.profile->step == StepRule::llama_cpp)
    c.resident = weight_bytes(model, request.quant, Plan{}, *c.profile);
  return c;
}

StepTime step_time(const StepContext& c, const StepWork& work) {
  // A pipeline runs pp groups of sequences at once, each a share of the load.
  StepWork share = work;
  share.sequences = std::max(work.sequences / c.plan.pp, std::min(1.0, work.sequences));
  share.prompt_tokens /= c.plan.pp;
  StepTime step;
  switch (c.profile->step) {
    case StepRule::eager_python:
      step = eager_step(c, share);
      break;
    case StepRule::llama_cpp:
      step = llama_cpp_step(c, share);
      break;
    case StepRule::graphs:
      step = graph_step(c, share);
      break;
  }
  // A slice of a card has its share of every unit.
  const double slice = c.cluster->instance != nullptr ? c.cluster->instance->gpu_fraction : 1;
  if (slice > 0 && slice < 1) {
    const double launch = step.launch;
    scale(step, 1 / slice);
    step.launch = launch;
  }
  if (c.plan.pp > 1) step.all_reduce += pipeline_sends(c, share);
  return step;
}

StepTime step_time(const Model& model, const Request& request, const Plan& plan,
                   const catalog::Cluster& cluster, const StepWork& work) {
  return step_time(make_context(model, request, plan, cluster), work);
}

}  // namespace gpuadvisor::serving
