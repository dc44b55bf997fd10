// Shapes and clusters shared by the memory tests.
#pragma once

#include "gpuadvisor/memory.hpp"

namespace gpuadvisor::memory::test {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

/// A GPT layer as in Korthikanti et al.: LayerNorm, ungated MLP of 4h, dropout.
inline model::Architecture gpt(int layers, int hidden, int heads, int vocab = 51200) {
  model::Architecture m;
  m.layers = layers;
  m.hidden = hidden;
  m.heads = m.kv_heads = heads;
  m.head_dim = hidden / heads;
  m.ffn = 4 * hidden;
  m.vocab = vocab;
  m.gated = false;
  m.norm = model::Norm::layer;
  m.positions = model::Positions::none;
  m.tied = true;
  return m;
}

/// A Llama-like layer: RMSNorm, gated MLP, grouped queries.
inline model::Architecture llama(int layers, int hidden, int heads, int kv, int ffn, int vocab) {
  model::Architecture m;
  m.layers = layers;
  m.hidden = hidden;
  m.heads = heads;
  m.kv_heads = kv;
  m.head_dim = hidden / heads;
  m.ffn = ffn;
  m.vocab = vocab;
  return m;
}
inline model::Architecture llama3_8b() { return llama(32, 4096, 32, 8, 14336, 128256); }
inline model::Architecture llama2_7b() { return llama(32, 4096, 32, 32, 11008, 32000); }

inline model::Architecture mixtral() {
  model::Architecture m = llama(32, 4096, 32, 8, 14336, 32000);
  m.experts = 8;
  m.experts_per_token = 2;
  m.expert_ffn = 14336;
  m.kinds[0] = {.count = 32, .moe = true};
  m.kind_count = 1;
  return m;
}

inline workload::Training run(workload::Framework framework, workload::Mode mode,
                              std::int64_t seq_len = 4096) {
  workload::Training t;
  t.framework = workload::framework_profile(framework);
  t.mode = mode;
  t.seq_len = seq_len;
  t.kernel_profile = t.framework.kernel_profile;
  t.recipe = t.framework.recipe;
  t.grad_reduce_bytes = t.framework.grad_reduce_bytes;
  return t;
}

inline catalog::Cluster cluster(int gpus, int per_node = 8) {
  catalog::Cluster c;
  c.gpus = gpus;
  c.gpus_per_node = per_node;
  return c;
}

}  // namespace gpuadvisor::memory::test
