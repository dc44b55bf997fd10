#include "performance/collective.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "calibration_data.hpp"
#include "performance/whole.hpp"

namespace gpuadvisor::performance {

namespace speed = calibration::speed;

double members_in_node(const Machine& machine, const Group& group) {
  const double fitting = whole_down(machine.gpus_per_node / group.stride);
  return std::max(1.0, std::min(group.size, fitting));
}

namespace {

/// Rings over more nodes lose some of the fabric: doublings beyond those of the usual
/// benchmark.
double scale_loss(double nodes) {
  constexpr std::uint64_t kBenchmarkNodes = 8;
  const auto blocks = static_cast<std::uint64_t>(nodes) / kBenchmarkNodes;
  const auto doublings = static_cast<double>(std::bit_width(std::max<std::uint64_t>(1, blocks)));
  return 1 + speed::fabric_loss * (doublings - 1);
}

}  // namespace

double collective_time(const Machine& machine, Collective kind, const Group& group, double bytes) {
  if (group.size <= 1 || bytes <= 0) return 0;
  const double inside = members_in_node(machine, group);
  const double nodes = whole_up(group.size / inside);
  const bool reduces_all = kind == Collective::all_reduce;
  const double trips = reduces_all ? 2 : 1;
  double bandwidth = reduces_all ? machine.allreduce_bw : machine.allgather_bw;
  if (reduces_all && group.size <= 2) bandwidth *= speed::two_rank;
  if (nodes > 1)
    bandwidth = std::min(bandwidth, machine.fabric_share() * inside / scale_loss(nodes));
  const double rate = bandwidth * bytes / (bytes + speed::ar_half);
  const double moved = trips * (group.size - 1) / group.size * bytes;
  return machine.latency_s + speed::hop * nodes * trips + moved / rate;
}

double alltoall_time(const Machine& machine, const Group& group, double bytes) {
  if (group.size <= 1 || bytes <= 0) return 0;
  const double inside = members_in_node(machine, group);
  const double ramp = (bytes + speed::ar_half) / bytes;
  const double near = bytes * (inside - 1) / group.size / machine.alltoall_bw;
  double far = 0;
  if (group.size > inside)
    far = bytes * (group.size - inside) / group.size / (machine.fabric_share() * speed::a2a_fabric);
  return machine.latency_s + std::max(near, far) * ramp;
}

double dispatch_time(const Machine& machine, const Group& group, double bytes, int copies) {
  if (group.size <= 1 || bytes <= 0 || copies <= 0) return 0;
  const double inside = members_in_node(machine, group);
  const double nodes = whole_up(group.size / inside);
  double untouched = 1;  // chance that none of the copies goes to a given node
  for (int i = 0; i < copies; ++i) untouched *= 1 - 1 / nodes;
  const double far_bytes = bytes * (nodes - 1) * (1 - untouched);
  const double near_bytes = bytes * copies * (inside - 1) / inside;
  const double near = near_bytes / machine.alltoall_bw;
  const double far = far_bytes / (machine.fabric_share() * speed::a2a_fabric);
  const double sent = std::max(bytes, near_bytes);
  return machine.latency_s + std::max(near, far) * (sent + speed::ar_half) / sent;
}

double relative_bandwidth(const Machine& machine, const Group& group) {
  const double inside = members_in_node(machine, group);
  if (inside >= group.size) return 1;
  return std::min(1.0, machine.fabric_share() * inside / machine.allgather_bw);
}

}  // namespace gpuadvisor::performance
