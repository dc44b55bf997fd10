#include "performance/gemm.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "calibration_data.hpp"
#include "performance/whole.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;

/// Thread-block tile of a kernel library and the share of the peak rate that its
/// arithmetic intensity allows.
struct Tile {
  double m, n, quality;
};
constexpr std::array kTiles = {Tile{256, 128, 1.0}, Tile{128, 256, 1.0}, Tile{128, 128, 0.93},
                               Tile{64, 128, 0.72}, Tile{128, 64, 0.72}, Tile{64, 64, 0.55}};
constexpr std::array kSplits = {1.0, 2.0, 4.0, 8.0};

/// Math time with one tile shape; partial results of split k are summed in fp32.
double tiled_time(const Machine& machine, const Matmul& shape, const Tile& tile, double rate,
                  double ramp) {
  const double tiles = shape.groups * whole_up(shape.m / tile.m) * whole_up(shape.n / tile.n);
  const double wave = machine.multiprocessors * 2 * tile.m * tile.n / (tile.quality * rate);
  const double partial = 8 * shape.groups * shape.m * shape.n / machine.operand_bw;
  double best = whole_up(tiles / machine.multiprocessors) * wave * (shape.k + ramp);
  for (std::size_t i = 1; i < kSplits.size(); ++i) {
    const double split = kSplits[i];
    if (tiles * split > 2 * machine.multiprocessors) break;
    const double waves = whole_up(tiles * split / machine.multiprocessors);
    best = std::min(best, waves * wave * (shape.k / split + ramp) + partial);
  }
  return best;
}

}  // namespace

double matmul_time(const Machine& machine, const Matmul& shape) {
  if (shape.m <= 0 || shape.n <= 0 || shape.k <= 0 || shape.groups <= 0) return 0;
  const bool fp8 = shape.fp8 && machine.matmul_fp8 > 0;
  const double rate = fp8 ? machine.matmul_fp8 : machine.matmul;
  const double ramp = fp8 ? 2 * speed::k0 : speed::k0;
  double math = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles)
    math = std::min(math, tiled_time(machine, shape, tile, rate, ramp));
  const double operand = fp8 ? 1 : machine.element_bytes;
  const double bytes =
      operand * (shape.m * shape.k + shape.n * shape.k) + machine.element_bytes * shape.m * shape.n;
  const double memory = shape.groups * bytes / machine.operand_bw;
  return std::max(math, memory) + speed::rho * std::min(math, memory) + speed::gemm_launch;
}

}  // namespace gpuadvisor::performance
