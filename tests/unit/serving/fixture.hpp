// A model and cards whose numbers the tests work out by hand.
#pragma once

#include "gpuadvisor/serving.hpp"
#include "gpuadvisor/units.hpp"

namespace fixture {

using namespace gpuadvisor;

/// Llama-3.1-8B: 32 layers, hidden 4096, 32 query and 8 KV heads of 128, MLP 14336,
/// vocabulary 128256 untied: 8,030,261,248 parameters.
inline model::Architecture llama_8b() {
  model::Architecture a;
  a.family = "llama";
  a.layers = 32;
  a.hidden = 4096;
  a.heads = 32;
  a.kv_heads = 8;
  a.head_dim = 128;
  a.ffn = 14336;
  a.vocab = 128256;
  a.max_positions = 131072;
  model::fill_uniform_layers(a);
  return a;
}

inline catalog::Gpu a100() {
  catalog::Gpu g;
  g.id = "test-A100";
  g.vendor = "NVIDIA";
  g.compute_capability = 8.0;
  g.memory_usable_bytes = 79.25 * kGiB;
  g.memory_type = "HBM2e";
  g.memory_bandwidth = 2039e9;
  g.fp16 = g.bf16 = 312e12;
  g.int8 = 624e12;
  g.r16 = 260e12;
  g.fa2 = 195e12;
  g.allreduce_bw = 230e9;
  g.nvlink_generation = 3;
  g.nvlink_bandwidth = 600e9;
  return g;
}

inline catalog::Cluster cluster(const catalog::Gpu& gpu, int gpus) {
  catalog::Cluster c;
  c.gpu = &gpu;
  c.gpus = c.gpus_per_node = gpus;
  c.gpu_memory_bytes = gpu.memory_usable_bytes;
  c.link = gpus > 1 ? catalog::NodeLink::nvlink : catalog::NodeLink::single;
  c.allreduce_bw = gpu.allreduce_bw;
  return c;
}

}  // namespace fixture
