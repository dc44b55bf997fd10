#pragma once

#include "performance/machine.hpp"

namespace gpuadvisor::performance {

enum class Collective { all_reduce, all_gather, reduce_scatter };

/// Ranks of a collective: `size` of them, `stride` apart in the rank order.
struct Group {
  double size = 1, stride = 1;
};

/// Members of the group that share a node, at least 1.
[[nodiscard]] double members_in_node(const Machine& machine, const Group& group);

/// Seconds of a ring collective over `bytes` (the whole buffer, gathered or to be reduced):
/// latency + (n-1)/n (twice for all-reduce) x bytes over the bus bandwidth, which grows
/// with the message and across nodes is the members' share of the NICs. 0 for one rank.
[[nodiscard]] double collective_time(const Machine& machine, Collective kind, const Group& group,
                                     double bytes);

/// Seconds of an all-to-all in which each rank sends `bytes` in equal parts to all ranks,
/// its own part included. Peers in the node and across nodes are served at the same time.
[[nodiscard]] double alltoall_time(const Machine& machine, const Group& group, double bytes);

/// Seconds to send every token to `copies` ranks of the group chosen at random, when a
/// token crosses to each node once and is spread there over NVLink (as DeepEP's kernels
/// do). `bytes` are those of one copy of all tokens of a rank.
[[nodiscard]] double dispatch_time(const Machine& machine, const Group& group, double bytes,
                                   int copies);

/// Collective bus bandwidth of a group relative to that inside a node, at most 1.
[[nodiscard]] double relative_bandwidth(const Machine& machine, const Group& group);

}  // namespace gpuadvisor::performance
