// The rates that one run reaches on one cluster: data-sheet and planning values
// times the shares of the calibration, decided once for a run.
#pragma once

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::performance {

/// Rates in units a second, sizes in bytes, of one GPU unless said otherwise.
struct Machine {
  double matmul = 0;      ///< FLOP/s of a large matmul in the run's 16-bit (or fp32) precision
  double matmul_fp8 = 0;  ///< same for fp8 linears; 0 when the run has none
  double matmul_unaligned = 0;  ///< batched products whose head size is no multiple of 8
  double peak = 0;              ///< dense peak of the run's precision, for MFU
  double operand_bw = 0;        ///< memory bandwidth of matmul operands
  double elementwise_bw = 0;    ///< memory bandwidth of element-wise kernels
  double multiprocessors = 0;
  double flash = 0;  ///< FLOP/s of flash attention at its best shape; 0: scores materialised
  double element_bytes = 2;  ///< of activations and compute weights

  double allreduce_bw = 0, allgather_bw = 0;  ///< bus bandwidth in the node
  double alltoall_bw = 0;                     ///< in the node, a GPU
  double fabric_bw = 0;                       ///< what collectives reach between nodes, a node
  double nic_line_bw = 0;                     ///< sum of the NIC line rates of a node
  double latency_s = 0;                       ///< of a small collective
  double h2d_bw = 0;
  double disk_bw = 0;  ///< NVMe of a node, a GPU's share
  double gpus_per_node = 1;
  double straggler = 0;  ///< growth of a step on this many nodes

  /// Between nodes, a GPU.
  [[nodiscard]] double fabric_share() const { return fabric_bw / gpus_per_node; }
};

/// `cluster.gpu` must be set. A planning value that the part lacks is inferred: matmul
/// 0.8 of the dense peak (0.5 for cards of 165 W and less), fp8 0.7, flash 0.75 of matmul.
[[nodiscard]] Machine make_machine(const catalog::Cluster& cluster,
                                   const workload::Training& training);

}  // namespace gpuadvisor::performance
