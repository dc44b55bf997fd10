#include "performance/collective.hpp"

#include <algorithm>

#include "calibration_data.hpp"
#include "fixtures.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor::performance;
namespace speed = gpuadvisor::calibration::speed;

TEST_CASE("ring all-reduce in a node", "[collective]") {
  // 8 ranks, 1 GB at 230 GB/s bus bandwidth: 2 x 7/8 x 1e9 bytes, the ramp of 5.92 MB
  // makes 228.65 GB/s: 7.654 ms; 20 us latency and two hops of 4 us.
  const double time =
      collective_time(testing::round_machine(), Collective::all_reduce, {8, 1}, 1e9);
  CHECK_THAT(time, WithinRel(7.682e-3, 1e-3));
}

TEST_CASE("reduce-scatter and all-gather make an all-reduce", "[collective]") {
  auto machine = testing::round_machine();
  machine.allreduce_bw = machine.allgather_bw;
  machine.latency_s = 0;
  const double two = collective_time(machine, Collective::reduce_scatter, {8, 1}, 1e9) +
                     collective_time(machine, Collective::all_gather, {8, 1}, 1e9);
  CHECK_THAT(collective_time(machine, Collective::all_reduce, {8, 1}, 1e9), WithinRel(two, 1e-9));
}

TEST_CASE("across nodes the NICs of the members bound a collective", "[collective]") {
  // 16 ranks in 2 nodes share 160 GB/s: below NVLink's 200. With stride 8 each node has
  // one member, which has an eighth: 20 GB/s, less a loss for 16 nodes in place of 8.
  // 15/16 x 1e9 / 20e9 = 46.9 ms.
  const auto machine = testing::round_machine();
  const double near = collective_time(machine, Collective::all_gather, {16, 1}, 1e9);
  const double far = collective_time(machine, Collective::all_gather, {16, 8}, 1e9);
  CHECK_THAT(near, WithinRel(15.0 / 16 * 1e9 / 160e9, 0.02));
  CHECK_THAT(far, WithinRel(46.9e-3 * (1 + speed::fabric_loss), 0.01));
}

TEST_CASE("one rank needs no collective", "[collective]") {
  const auto machine = testing::round_machine();
  CHECK(collective_time(machine, Collective::all_reduce, {1, 1}, 1e9) == 0);
  CHECK(alltoall_time(machine, {1, 1}, 1e9) == 0);
}

TEST_CASE("all-to-all leaves the node for the far peers only", "[collective]") {
  // 8 ranks in a node, 64 MB each: 7/8 x 64e6 / 200e9 = 280 us, ramp 1.0925.
  const auto machine = testing::round_machine();
  CHECK_THAT(alltoall_time(machine, {8, 1}, 64e6), WithinRel(20e-6 + 280e-6 * 1.0925, 1e-3));
  // 16 ranks in two nodes: half the bytes over 20 GB/s x a2a_fabric.
  const double far = 32e6 / (20e9 * speed::a2a_fabric) * 1.0925;
  CHECK_THAT(alltoall_time(machine, {16, 1}, 64e6), WithinRel(20e-6 + far, 1e-3));
}

TEST_CASE("a token crosses to each node once", "[collective]") {
  // 16 ranks in 2 nodes, 8 copies: the far node gets one with chance 1 - 2^-8. 32 MB a
  // copy over 20 GB/s x a2a_fabric; a plain all-to-all would send 4 copies there.
  const auto machine = testing::round_machine();
  const double sent = 8 * 32e6 * 7 / 8;
  const double far = 32e6 * (1 - 1.0 / 256) / (20e9 * speed::a2a_fabric);
  const double near = sent / 200e9;
  const double ramp = (sent + speed::ar_half) / sent;
  const double expected = 20e-6 + std::max(near, far) * ramp;
  CHECK_THAT(dispatch_time(machine, {16, 1}, 32e6, 8), WithinRel(expected, 1e-9));
  CHECK(dispatch_time(machine, {16, 1}, 32e6, 8) < 0.4 * alltoall_time(machine, {16, 1}, 8 * 32e6));
}

TEST_CASE("members of a node by stride", "[collective]") {
  const auto machine = testing::round_machine();
  CHECK(members_in_node(machine, {64, 1}) == 8);
  CHECK(members_in_node(machine, {64, 2}) == 4);
  CHECK(members_in_node(machine, {64, 16}) == 1);
  CHECK(members_in_node(machine, {2, 1}) == 2);
}
