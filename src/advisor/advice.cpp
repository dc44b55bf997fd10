// What to do before and after renting: checks, storage, platform, pilot run.
#include <algorithm>

#include <fmt/format.h>

#include "advisor/words.hpp"
#include "calibration_data.hpp"

namespace gpuadvisor::advisor {
namespace {

constexpr double kBytesPerToken = 4;          // token ids as 32-bit integers
constexpr double kCheckpointBytesMixed = 14;  // 16-bit weights, fp32 master and two moments

double checkpoint_bytes(const model::ParameterCounts& counts, const workload::Training& training) {
  if (training.adapters()) return training.lora_parameters * kCheckpointBytesMixed;
  return counts.total * kCheckpointBytesMixed;
}

/// Share of the NIC line rate that collectives reach (calibration `speed`).
double fabric_share(catalog::Fabric fabric) {
  namespace speed = calibration::speed;
  switch (fabric) {
    case catalog::Fabric::infiniband:
      return speed::infiniband;
    case catalog::Fabric::roce:
      return speed::roce;
    case catalog::Fabric::erdma:
      return speed::erdma;
    case catalog::Fabric::efa:
      return speed::efa;
    case catalog::Fabric::opa:
      return speed::opa;
    case catalog::Fabric::tcp:
    case catalog::Fabric::none:
      break;
  }
  return speed::tcp;
}

std::string nccl_step(const ResultRow& row) {
  const auto& cluster = row.cluster;
  const int local = std::min(cluster.gpus, cluster.gpus_per_node);
  if (cluster.nodes() == 1)
    return fmt::format(
        "before the run: `all_reduce_perf -b 8M -e 8G -f 2 -g {}` of nccl-tests "
        "should reach about {:.0f} GB/s bus bandwidth",
        local, cluster.allreduce_bw / kGB);
  const double expected =
      std::min(cluster.allreduce_bw, cluster.node_nic_bw * fabric_share(cluster.fabric));
  return fmt::format(
      "before the run: `mpirun -np {} -N {} all_reduce_perf -b 8M -e 8G -f 2 -g 1` of "
      "nccl-tests should come near {:.0f} GB/s bus bandwidth over {}; far less means "
      "RDMA is off",
      cluster.gpus, local, expected / kGB, catalog::to_string(cluster.fabric));
}

std::string storage_step(const ResultRow& row, const model::ParameterCounts& counts) {
  const double read = row.best.performance.tokens_per_s * kBytesPerToken;
  const double bytes = checkpoint_bytes(counts, row.training);
  const double rate = calibration::cost::checkpoint_write_bandwidth * row.cluster.nodes();
  return fmt::format(
      "storage: {}/s of token reads, and a checkpoint of {} ({} at {:.0f} GB/s to "
      "CPFS or NAS); keep the data in OSS of the same region",
      format_bytes(Bytes(read)), format_bytes(Bytes(bytes)), format_duration(Seconds(bytes / rate)),
      rate / kGB);
}

std::string goodput_step(const ResultRow& row, const model::ParameterCounts& counts) {
  const double rate = calibration::cost::checkpoint_write_bandwidth * row.cluster.nodes();
  const double checkpoint_s = checkpoint_bytes(counts, row.training) / rate;
  const auto goodput = cost::goodput(cost::failure_rate_per_s(row.cluster.gpus), checkpoint_s,
                                     calibration::cost::restart_s);
  return fmt::format(
      "failures: checkpoint about every {}; {:.1f}% of the wall time is expected to "
      "be useful on {} GPUs",
      format_duration(Seconds(goodput.checkpoint_interval_s)), 100.0 * goodput.efficiency,
      row.cluster.gpus);
}

std::string platform_step(const ResultRow& row) {
  if (row.instance == nullptr || row.instance->provider != "aliyun")
    return "use the provider's deep-learning image with a driver for this GPU";
  if (row.cluster.nodes() > 1)
    return "order all nodes in one zone, one VPC and one deployment set with RDMA on; PAI-DLC or "
           "E-HPC does this for you, plain ECS leaves it to you";
  return "PAI-DLC runs the job as a container; plain ECS needs the deep-learning image and a "
         "driver";
}

std::string pilot_step(const ResultRow& row) {
  return fmt::format("pilot run first: 20 steps should show about {} tokens/s and {} a GPU",
                     format_count(row.best.performance.tokens_per_s),
                     format_bytes(Bytes(row.best.memory.needed())));
}

}  // namespace

std::vector<std::string> next_steps(const Context& context, const ResultRow& row) {
  const auto counts = model::count_parameters(context.query.model.architecture);
  std::vector<std::string> steps;
  steps.push_back(fmt::format("launch files: gpuadvisor emit --for {} with the same flags",
                              workload::to_string(row.training.framework.id)));
  steps.push_back(pilot_step(row));
  if (row.cluster.gpus > 1) steps.push_back(nccl_step(row));
  steps.push_back(storage_step(row, counts));
  steps.push_back(goodput_step(row, counts));
  steps.push_back(platform_step(row));
  return steps;
}

}  // namespace gpuadvisor::advisor
