#include "performance/gemm.hpp"

#include "calibration_data.hpp"
#include "fixtures.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor::performance;
namespace speed = gpuadvisor::calibration::speed;

TEST_CASE("a square matmul takes whole waves of the best tile", "[gemm]") {
  // 4096^3 on 100 multiprocessors at 200 TFLOPS. Tile 256 x 128: 16 x 32 = 512 tiles, 6
  // waves of 100 x 2 x 256 x 128 x (4096 + k0) = 6.5536e6 x 4282 FLOPs (k0 = 186):
  // 6 x 140.3 us = 841.9 us. Tile 128 x 128: 1024 tiles, 11 waves of half the size at
  // 0.93: 11 x 75.4 = 829.8 us, the least (64 x 128: 21 waves at 0.72: 1023 us).
  // Memory: 3 x 2 x 4096^2 bytes / 1.6 TB/s = 62.9 us, a quarter shows; launch 3 us.
  const auto machine = testing::round_machine();
  const double wave = 100.0 * 2 * 128 * 128 / 0.93 * (4096 + speed::k0) / 200e12;
  const double memory = 3 * 2 * 4096.0 * 4096 / 1.6e12;
  const double expected = 11 * wave + speed::rho * memory + speed::gemm_launch;
  CHECK_THAT(matmul_time(machine, {4096, 4096, 4096}), WithinRel(expected, 1e-12));
  CHECK_THAT(matmul_time(machine, {4096, 4096, 4096}), WithinRel(848.5e-6, 1e-3));
}

TEST_CASE("a thin matmul is bound by memory", "[gemm]") {
  // One token through 8192 x 8192: 134.2 MB of weights at 1.6 TB/s = 83.9 us.
  const double time = matmul_time(testing::round_machine(), {1, 8192, 8192});
  CHECK(time > 83.9e-6);
  CHECK(time < 1.45 * 83.9e-6);  // a quarter of the padded tiles' math shows
}

TEST_CASE("a long inner dimension is split over idle multiprocessors", "[gemm]") {
  // 256 x 256 x 65536: one tile of 256 x 128 would leave 98 of 100 multiprocessors idle.
  const auto machine = testing::round_machine();
  const double unsplit = 100.0 * 2 * 64 * 64 / 0.55 * (65536 + speed::k0) / 200e12;
  CHECK(matmul_time(machine, {256, 256, 65536}) < 0.6 * unsplit);
}

TEST_CASE("fp8 halves the operands and uses its own rate", "[gemm]") {
  auto machine = testing::round_machine();
  const Matmul shape{8192, 8192, 8192, 1, true};
  const double sixteen = matmul_time(machine, shape);
  machine.matmul_fp8 = 400e12;
  const double eight = matmul_time(machine, shape);
  CHECK(eight < 0.56 * sixteen);
  CHECK(eight > 0.5 * sixteen);
}

TEST_CASE("grouped products share waves and launches", "[gemm]") {
  const auto machine = testing::round_machine();
  const double grouped = matmul_time(machine, {256, 1024, 4096, 16});
  const double apart = 16 * matmul_time(machine, {256, 1024, 4096});
  CHECK(grouped < apart);
  CHECK(grouped > 0.2 * apart);
}

TEST_CASE("an empty matmul takes no time", "[gemm]") {
  CHECK(matmul_time(testing::round_machine(), {0, 128, 128}) == 0);
  CHECK(matmul_time(testing::round_machine(), {128, 128, 0}) == 0);
}
