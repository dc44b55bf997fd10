#include "performance/attention.hpp"

#include "calibration_data.hpp"
#include "fixtures.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::performance;
namespace speed = gpuadvisor::calibration::speed;

namespace {
AttentionWork work_of(double tokens, double sequence) {
  AttentionWork work;
  work.tokens = tokens, work.sequence = sequence;
  return work;
}
}  // namespace

TEST_CASE("causal flash attention computes half the scores", "[attention]") {
  // 4096 tokens, 32 heads of 128: 4 x 4096 x 2048 keys x 4096 = 137.4 GFLOP at
  // 200 TFLOPS x 4096 / (4096 + 529) = 177.1: 776 us; the backward 2.5 times.
  const auto m = testing::dense_model();
  const auto times = attention_time(testing::round_machine(), m, m.kinds[0], work_of(4096, 4096));
  CHECK_THAT(times.forward, WithinRel(776e-6 + 4e-6, 2e-3));
  CHECK_THAT(times.backward, WithinRel(2.5 * 776e-6 + 8e-6, 2e-3));
}

TEST_CASE("a window bounds the keys", "[attention]") {
  auto m = testing::dense_model();
  model::LayerKind kind = m.kinds[0];
  CHECK(mean_keys(m, kind, 8192) == 4096);
  kind.window = 1024;
  CHECK(mean_keys(m, kind, 8192) == 1024.0 * (1 - 1024.0 / 16384));
  kind.mixer = model::Mixer::chunked;
  CHECK(mean_keys(m, kind, 8192) == 512);
  m.causal = false;
  kind.window = 0;
  CHECK(mean_keys(m, kind, 8192) == 8192);
}

TEST_CASE("materialised scores cost memory traffic, odd head sizes the matmul rate",
          "[attention]") {
  auto machine = testing::round_machine();
  machine.flash = 0;
  machine.matmul_unaligned = 10e12;
  auto m = testing::dense_model();
  const auto aligned = attention_time(machine, m, m.kinds[0], work_of(2048, 2048));
  // 2048 x 2048 x 32 scores: two products of 2 x 134e6 x 128 / 200e12 = 172 us (or 168 us
  // of traffic), softmax 4 bytes a score forward: 335 us.
  CHECK_THAT(aligned.forward, WithinRel(2 * 171.8e-6 + 335.5e-6, 2e-3));
  m.head_dim = 108;
  const auto odd = attention_time(machine, m, m.kinds[0], work_of(2048, 2048));
  CHECK(odd.forward > 5 * aligned.forward);
}

TEST_CASE("linear attention grows with the tokens, not their square", "[attention]") {
  auto m = testing::dense_model();
  model::LayerKind kind = m.kinds[0];
  kind.mixer = model::Mixer::lightning;
  const auto machine = testing::round_machine();
  const double one = attention_time(machine, m, kind, work_of(65536, 65536)).forward;
  const double two = attention_time(machine, m, kind, work_of(131072, 131072)).forward;
  CHECK(two < 2.01 * one);
  CHECK(two < attention_time(machine, m, m.kinds[0], work_of(131072, 131072)).forward);
}
