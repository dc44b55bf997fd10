// A GPU, a cluster and two models of round numbers for the tests of this layer.
#pragma once

#include "gpuadvisor/memory.hpp"
#include "gpuadvisor/performance.hpp"
#include "performance/machine.hpp"

namespace gpuadvisor::performance::testing {

inline const catalog::Gpu& a100() {
  static const catalog::Gpu gpu = [] {
    catalog::Gpu card;
    card.id = "test-a100";
    card.vendor = "NVIDIA";
    card.compute_capability = 8.0;
    card.memory_usable_bytes = 80e9;
    card.memory_bandwidth = 2000e9;
    card.fp32 = 19.5e12, card.fp16 = 312e12, card.bf16 = 312e12;
    card.nvlink_bandwidth = 600e9;
    card.tdp_w = 400;
    card.sm = 108;
    card.r16 = 260e12;
    card.allreduce_bw = 230e9, card.allgather_bw = 210e9;
    card.fa2 = 195e12, card.fa3 = 195e12;
    card.h2d_bw = 25e9;
    card.latency_s = 20e-6;
    return card;
  }();
  return gpu;
}

inline catalog::Cluster cluster_of(int gpus, const catalog::Gpu& gpu = a100(), int per_node = 8) {
  return catalog::make_cluster(gpu, gpus, per_node, 200e9, catalog::Fabric::infiniband);
}

/// Llama-2-7B's shape.
inline model::Architecture dense_model() {
  model::Architecture m;
  m.layers = 32, m.hidden = 4096, m.heads = 32, m.kv_heads = 32, m.head_dim = 128;
  m.ffn = 11008, m.vocab = 32000;
  model::fill_uniform_layers(m);
  return m;
}

/// Eight experts, two a token.
inline model::Architecture expert_model() {
  model::Architecture m = dense_model();
  m.kv_heads = 8;
  m.experts = 8, m.experts_per_token = 2, m.expert_ffn = 14336, m.ffn = 0;
  m.kind_count = 1;
  m.kinds[0] = {m.layers, model::Mixer::full, 0, true, 0};
  return m;
}

inline workload::Training training_of(
    workload::Mode mode = workload::Mode::pretrain,
    workload::Framework framework = workload::Framework::megatron) {
  workload::Training run;
  run.mode = mode;
  run.framework = workload::framework_profile(framework);
  run.kernel_profile = run.framework.kernel_profile;
  run.attention_kernel = run.framework.attention_kernel;
  run.grad_reduce_bytes = run.framework.grad_reduce_bytes;
  run.grad_overlap = run.framework.grad_overlap;
  run.checkpoint_early_stop = run.framework.checkpoint_early_stop;
  run.recipe = run.framework.recipe;
  run.seq_len = 4096;
  run.global_batch = 256;
  return run;
}

/// A machine whose rates are easy to divide by.
inline Machine round_machine() {
  Machine machine;
  machine.matmul = 200e12;
  machine.peak = 312e12;
  machine.operand_bw = 1.6e12;
  machine.elementwise_bw = 1.6e12;
  machine.multiprocessors = 100;
  machine.flash = 200e12;
  machine.allreduce_bw = 230e9, machine.allgather_bw = 200e9, machine.alltoall_bw = 200e9;
  machine.nic_line_bw = 200e9, machine.fabric_bw = 160e9;
  machine.latency_s = 20e-6;
  machine.h2d_bw = 25e9;
  machine.gpus_per_node = 8;
  return machine;
}

}  // namespace gpuadvisor::performance::testing
