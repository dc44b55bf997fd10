#include <cmath>

#include <fmt/format.h>

#include "advisor/words.hpp"

namespace gpuadvisor::advisor {
namespace {

using planner::Shortfall;

/// GiB even above 1,024 of them: a host of 1,000 GiB is told from one of 1,024.
std::string gib(double bytes) {
  constexpr double kWhole = 100 * kGiB;
  if (bytes < kWhole) return format_bytes(Bytes(bytes));
  return format_integer(static_cast<std::int64_t>(std::llround(bytes / kGiB))) + " GiB";
}

std::string gpu_sentence(const Shortfall& shortfall, const catalog::Cluster& cluster) {
  return fmt::format("at least {} a GPU ({}), {} usable: {} missing",
                     gib(shortfall.needed_gpu_bytes), workload::describe(shortfall.plan),
                     gib(cluster.gpu_memory_bytes), gib(shortfall.missing_gpu_bytes));
}

std::string host_sentence(const Shortfall& shortfall, const catalog::Cluster& cluster) {
  return fmt::format("with offload the GPUs suffice, but a node needs {} of host memory and has {}",
                     gib(shortfall.host_bytes), gib(cluster.host_memory_bytes));
}

/// Offload would bring the states off the GPUs, if only the host could hold them.
bool host_decides(const planner::SearchResult& result) {
  return result.offload_shortfall && result.offload_shortfall->missing_gpu_bytes <= 0 &&
         result.offload_shortfall->missing_host_bytes > 0;
}

Rejected memory_rejection(const Trial& trial) {
  const auto& result = trial.result;
  Rejected rejected;
  std::string message = result.shortfall ? gpu_sentence(*result.shortfall, trial.cluster) : "";
  if (host_decides(result)) {
    rejected.code = RejectCode::host_memory;
    rejected.missing_bytes = result.offload_shortfall->missing_host_bytes;
    message +=
        (message.empty() ? "" : "; ") + host_sentence(*result.offload_shortfall, trial.cluster);
  } else {
    const Shortfall& nearest = result.shortfall ? *result.shortfall : *result.offload_shortfall;
    rejected.missing_bytes = nearest.missing_gpu_bytes;
    if (message.empty()) message = gpu_sentence(nearest, trial.cluster);
    if (result.offload_shortfall && result.shortfall)
      message += fmt::format("; with offload still {} a GPU missing",
                             gib(result.offload_shortfall->missing_gpu_bytes));
  }
  rejected.message = std::move(message);
  return rejected;
}

}  // namespace

Rejected explain_rejection(const Context& context, const Trial& trial) {
  Rejected rejected;
  const auto& prepared = trial.setup->prepared;
  if (trial.result.shortfall || trial.result.offload_shortfall) {
    rejected = memory_rejection(trial);
  } else {
    rejected.code = RejectCode::no_legal_plan;
    rejected.message = planner::explain_no_plan(prepared.architecture, prepared.training,
                                                trial.cluster, context.query.constraints);
  }
  rejected.instance = trial.offer->instance;
  rejected.count = trial.count;
  return rejected;
}

}  // namespace gpuadvisor::advisor
