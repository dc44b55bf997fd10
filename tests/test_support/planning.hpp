// A small model, cluster and run for tests of plans: divisible by many numbers.
#pragma once

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/planner.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::test {

inline model::Architecture small_model(int layers = 24, int heads = 16, int kv_heads = 8) {
  model::Architecture architecture;
  architecture.layers = layers;
  architecture.hidden = 2048;
  architecture.heads = heads;
  architecture.kv_heads = kv_heads;
  architecture.head_dim = 128;
  architecture.ffn = 8192;
  architecture.vocab = 32000;
  architecture.max_positions = 4096;
  return architecture;
}

inline workload::Training small_run(workload::Framework framework, std::int64_t global_batch = 64) {
  workload::Training training;
  training.framework = workload::framework_profile(framework);
  training.seq_len = 4096;
  training.global_batch = global_batch;
  return training;
}

inline catalog::Cluster small_cluster(int gpus, int gpus_per_node = 8) {
  catalog::Cluster cluster;
  cluster.gpus = gpus;
  cluster.gpus_per_node = gpus_per_node;
  cluster.gpu_memory_bytes = 80e9;
  cluster.host_memory_bytes = 1e12;
  cluster.link = catalog::NodeLink::nvlink;
  return cluster;
}

}  // namespace gpuadvisor::test
