// What autograd keeps of one layer, in bytes a token: counted tensor by tensor.
// Checked against Korthikanti et al. 2022 (arXiv 2205.05198): the legacy column gives
// their 34·s·b·h + 5·a·s²·b for a GPT layer.
#include "memory/layer_bytes.hpp"

#include <algorithm>
#include <bit>

namespace gpuadvisor::memory {
namespace {

using workload::KernelProfile;

constexpr double k16 = 2;  // bytes of a bf16 or fp16 element
constexpr double kFp32 = 4;
constexpr double kMask = 1;  // a dropout mask element

struct LoraModule {
  double inputs = 0, outputs = 0;
  bool inner = false;  // the input is divided by tensor parallelism
};

bool targets(const Training& run, std::uint32_t bit) { return (run.lora.targets & bit) != 0; }

// Latent attention splits q and k in two parts; values and output have their own width.
AttentionWidths latent_widths(const Architecture& m) {
  const double heads = m.heads;
  const double qk = heads * (m.qk_nope_dim + m.qk_rope_dim);
  const double latent = 2.0 * m.q_lora_rank + 2.0 * m.kv_lora_rank + m.qk_rope_dim;
  return {
      .q = qk, .k = qk, .v = heads * m.v_head_dim, .out = heads * m.v_head_dim, .latent = latent};
}

AttentionWidths linear_widths(const Architecture& m) {
  const double key = static_cast<double>(m.linear_key_heads) * m.linear_key_dim;
  const double value = static_cast<double>(m.linear_value_heads) * m.linear_value_dim;
  // The causal convolution keeps its input beside its output; the output is gated.
  return {.q = 2 * key, .k = 2 * key, .v = 2 * value, .out = 2 * value};
}

double norm_bytes_eager(const Architecture& m, bool full) {
  const double h = m.hidden, count = m.norms_per_layer;
  if (m.norm == model::Norm::rms)  // fp32 copy; full training also keeps normed and output
    return (full ? 2 * kFp32 : kFp32) * h * count;
  const double inputs = m.parallel_block ? 1 : count;  // both norms read the same tensor
  return k16 * h * inputs + (full ? k16 * h * count : 0);
}

TokenBytes norm_terms(const LayerShape& l) {
  const double h = l.model.hidden, count = l.model.norms_per_layer;
  const double masks = l.run.dropout > 0 ? 2 * kMask * h : 0;
  switch (l.kernels) {
    case Kernels::eager:
      return {.sequence = norm_bytes_eager(l.model, l.full) + masks};
    case Kernels::compiled:  // the compiler keeps what matrix products read
    case Kernels::fused: {
      const double output = l.fp8 ? 1 : k16;
      return {.sequence = (k16 + output) * h * count + masks};
    }
    case Kernels::legacy:
      return {.sequence = 2 * k16 * h * count + masks};
  }
  return {};
}

double projections_bytes(const LayerShape& l) {
  const AttentionWidths& w = l.width;
  const auto& traits = l.run.framework.memory;
  const bool grouped = l.model.kv_heads < l.model.heads;
  if (traits.repeats_kv && grouped && l.model.kv_heads > 1) return k16 * 3 * w.q;
  if (traits.joint_qkv && !grouped) return k16 * (2 * w.q + 3 * w.q);
  return k16 * (w.q + w.k + w.v);
}

TokenBytes attention_terms(const LayerShape& l) {
  const AttentionWidths& w = l.width;
  const double heads = l.model.heads;
  double tensor = projections_bytes(l) + k16 * w.out;
  if (l.fp8) tensor += w.out;  // the fp8 copy that the output projection keeps
  if (l.model.qk_norm > 0) tensor += (l.kernels == Kernels::eager ? kFp32 : k16) * (w.q + w.k);
  if (l.model.attention_gate) tensor += 2 * k16 * w.out;
  if (!l.materialised && l.softmax) tensor += kFp32 * heads;
  return {.sequence = k16 * w.latent, .tensor = tensor};
}

double mlp_bytes(const LayerShape& l, double width) {
  const double branches = l.model.gated ? 2 : 1;
  switch (l.kernels) {
    case Kernels::eager:
      if (l.model.gated) return (l.full ? 8 : 6) * width;
      return (l.full ? 4 : 2) * width;
    case Kernels::compiled:
    case Kernels::fused:
      return (k16 * branches + (l.fp8 ? 1 : k16)) * width;
    case Kernels::legacy:
      return 2 * k16 * width;
  }
  return 0;
}

// Router probabilities in fp32, and the tokens sent to K experts.
TokenBytes expert_terms(const LayerShape& l) {
  const Architecture& m = l.model;
  const double router = 3 * kFp32 * m.experts;
  const double dispatched = m.experts_per_token * (k16 * m.hidden + mlp_bytes(l, m.expert_ffn));
  return {.sequence = router + dispatched, .tensor = mlp_bytes(l, m.shared_ffn)};
}

// A quantised linear keeps its input, which a frozen 16-bit one does not; LitGPT since
// 2024 (which also keeps the replaced embedding) in fp32.
TokenBytes quantised_inputs(const LayerShape& l) {
  const double h = l.model.hidden, width = l.run.replaced_embedding_kept ? kFp32 : k16;
  return {.sequence = width * h * 2, .tensor = width * l.width.out + width * l.inner_ffn};
}

// Dropout output and mask of the adapter's input, and its fp32 copy.
double adapter_input_bytes(const Training& run) {
  return k16 + kMask + (run.framework.memory.adapter_bytes > 2 ? k16 : 0);
}

void add_adapter(TokenBytes& sum, const LayerShape& l, const LoraModule& module) {
  double bytes = adapter_input_bytes(l.run) * module.inputs;
  if (l.run.lora.dora) bytes += 2 * k16 * module.outputs;
  (module.inner ? sum.tensor : sum.sequence) += bytes;
}

// LitGPT: one adapter on the joint qkv; index_copy keeps what it writes unless all of
// q, k and v have adapters.
double index_copy_bytes(const LayerShape& l) {
  const bool q = targets(l.run, model::kTargetQ), k = targets(l.run, model::kTargetK),
             v = targets(l.run, model::kTargetV);
  if (!q && !k && !v) return 0;
  double bytes = (k16 + kMask) * l.model.hidden;
  if (!(q && k && v))
    bytes += k16 * ((q ? l.width.q : 0) + (k ? l.width.k : 0) + (v ? l.width.v : 0));
  return bytes;
}

void add_attention_adapters(TokenBytes& sum, const LayerShape& l) {
  const double h = l.model.hidden;
  const AttentionWidths& w = l.width;
  if (l.run.framework.memory.adapter_index_copy) {
    sum.sequence += index_copy_bytes(l);
  } else if (l.run.lora.fused_qkv) {
    if (targets(l.run, model::kTargetQ | model::kTargetK | model::kTargetV))
      add_adapter(sum, l, {h, w.q + w.k + w.v});
  } else {
    if (targets(l.run, model::kTargetQ)) add_adapter(sum, l, {h, w.q});
    if (targets(l.run, model::kTargetK)) add_adapter(sum, l, {h, w.k});
    if (targets(l.run, model::kTargetV)) add_adapter(sum, l, {h, w.v});
  }
  if (targets(l.run, model::kTargetO)) add_adapter(sum, l, {w.out, h, true});
}

TokenBytes adapter_terms(const LayerShape& l) {
  TokenBytes sum;
  const double h = l.model.hidden, f = l.inner_ffn;
  add_attention_adapters(sum, l);
  const bool gate = l.model.gated && targets(l.run, model::kTargetGate);
  const bool up = targets(l.run, model::kTargetUp);
  if (l.run.lora.fused_gate_up && (gate || up)) {
    add_adapter(sum, l, {h, 2 * f});
  } else {
    if (gate) add_adapter(sum, l, {h, f});
    if (up) add_adapter(sum, l, {h, f});
  }
  if (targets(l.run, model::kTargetDown)) add_adapter(sum, l, {f, h, true});
  return sum;
}

}  // namespace

Kernels kernels_of(const Training& run) {
  if (run.framework.memory.legacy_stack) return Kernels::legacy;
  switch (run.kernel_profile) {
    case KernelProfile::fused:
      return Kernels::fused;
    case KernelProfile::compiled:
      return Kernels::compiled;
    case KernelProfile::eager:
      return run.compile ? Kernels::compiled : Kernels::eager;
    case KernelProfile::mpt:
      return Kernels::eager;
  }
  return Kernels::eager;
}

LayerShape layer_shape(const Architecture& m, const Training& run, const model::LayerKind& kind) {
  LayerShape l{.model = m, .run = run, .kind = kind};
  l.kernels = kernels_of(run);
  l.full = !run.adapters();
  l.fp8 = run.precision == workload::Precision::fp8 && l.kernels == Kernels::fused;
  const bool linear = kind.mixer == model::Mixer::delta_net ||
                      kind.mixer == model::Mixer::lightning ||
                      kind.mixer == model::Mixer::state_space;
  l.softmax = !linear;
  l.materialised = l.softmax && run.attention == workload::Attention::eager;
  if (kind.mixer == model::Mixer::mla)
    l.width = latent_widths(m);
  else if (linear && m.linear_value_heads > 0)
    l.width = linear_widths(m);
  else
    l.width = {.q = m.q_width(), .k = m.kv_width(), .v = m.kv_width(), .out = m.out_width()};
  l.keys =
      static_cast<double>(run.seq_len);  // a window masks stored scores, it does not shrink them
  l.inner_ffn = kind.moe ? static_cast<double>(m.experts_per_token) * m.expert_ffn + m.shared_ffn
                         : static_cast<double>(kind.ffn > 0 ? kind.ffn : m.ffn);
  return l;
}

TokenBytes score_bytes(const LayerShape& l) {
  if (!l.materialised) return {};
  const double scores = l.model.heads * l.keys;
  if (l.kernels == Kernels::eager || l.kernels == Kernels::compiled)
    return {.tensor = (kFp32 + k16) * scores};  // fp32 softmax and its 16-bit cast
  // The softmax output; dropout adds its output and mask.
  return {.tensor = (l.run.dropout > 0 ? 2 * k16 + kMask : k16) * scores};
}

TokenBytes layer_bytes(const LayerShape& l) {
  TokenBytes sum = norm_terms(l) + attention_terms(l) + score_bytes(l);
  sum += l.kind.moe ? expert_terms(l) : TokenBytes{.tensor = mlp_bytes(l, l.inner_ffn)};
  if (l.run.adapters()) sum += adapter_terms(l);
  const bool keeps_inputs = l.run.quant == workload::Quant::nf4 ||
                            l.run.quant == workload::Quant::nf4_dq ||
                            l.run.quant == workload::Quant::int8_bnb;
  if (l.run.adapters() && keeps_inputs && l.kernels == Kernels::eager) sum += quantised_inputs(l);
  return sum;
}

TokenBytes layer_input(const LayerShape& l) { return {.sequence = k16 * l.model.hidden}; }

TokenBytes saved_matmuls(const LayerShape& l) {
  // Every second matrix product (wq, wv, w1), the output projections and attention.
  const double h = l.model.hidden;
  double tensor = k16 * (l.width.q + l.width.v + l.inner_ffn + l.width.out) + kFp32 * l.model.heads;
  if (l.kernels != Kernels::compiled) tensor += k16 * h;  // nobody reads w2 under the compiler
  TokenBytes sum = layer_input(l);
  sum.tensor += tensor;
  return sum;
}

TokenBytes backward_temporaries(const LayerShape& l) {
  const double h = l.model.hidden, branches = l.model.gated ? 2 : 1;
  const double widest = std::max<double>(l.model.ffn, l.inner_ffn);
  double tensor = k16 * widest * (1 + branches);
  if (l.materialised) tensor += k16 * l.model.heads * l.keys;
  return {.whole = k16 * h, .sequence = k16 * h, .tensor = tensor};
}

}  // namespace gpuadvisor::memory
