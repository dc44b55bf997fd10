#include "performance/layer.hpp"

#include "calibration_data.hpp"
#include "fixtures.hpp"
#include "performance/adapters.hpp"
#include "performance/gemm.hpp"
#include "performance/kernels.hpp"
#include "performance/shapes.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::performance;
namespace speed = gpuadvisor::calibration::speed;

namespace {
memory::Prepared prepared(const model::Architecture& m, const workload::Training& run) {
  memory::Prepared out;
  out.architecture = m;
  out.counts = model::count_parameters(m);
  out.training = run;
  return out;
}
LayerTimes times_of(const memory::Prepared& run, const LayerKey& key,
                    const catalog::Cluster& cluster = testing::cluster_of(8)) {
  return layer_times(make_machine(cluster, run.training), run, key);
}
}  // namespace

TEST_CASE("tensor parallelism divides the matrices of a layer", "[layer]") {
  const auto m = testing::dense_model();
  const auto shape = layer_shape(m, model::count_parameters(m), 0, 4, 1, true);
  REQUIRE(shape.dense_count == 4);  // qkv, output, gate with up, down
  CHECK(shape.dense[0].out == 3 * 4096 / 4);
  CHECK(shape.dense[1].in == 1024);
  CHECK(shape.dense[2].out == 2 * 11008 / 4);
  CHECK(shape.dense[3].in == 11008 / 4);
  CHECK(shape.linear_weights() == (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008) / 4);
}

TEST_CASE("experts are divided by expert parallelism alone", "[layer]") {
  const auto m = testing::expert_model();
  const auto shape = layer_shape(m, model::count_parameters(m), 0, 4, 4, true);
  CHECK(shape.local_experts == 2);
  REQUIRE(shape.expert_count == 2);
  CHECK(shape.expert[0].out == 2 * 14336);
  CHECK(shape.expert[1].in == 14336);
}

TEST_CASE("frozen weights have no weight gradient", "[layer]") {
  auto lora = testing::training_of(workload::Mode::lora, workload::Framework::nemo);
  const auto full = testing::training_of(workload::Mode::full_ft, workload::Framework::nemo);
  LayerKey key;
  const auto frozen = times_of(prepared(testing::dense_model(), lora), key);
  const auto trained = times_of(prepared(testing::dense_model(), full), key);
  CHECK(frozen.weight_gradient == 0);
  CHECK(trained.weight_gradient > 0);
  CHECK(frozen.layer.total() < 0.85 * trained.layer.total());
}

TEST_CASE("full recompute repeats a forward, early stop leaves out its last linear", "[layer]") {
  auto run = testing::training_of();
  LayerKey key;
  key.recompute = workload::Recompute::full;
  const auto whole = times_of(prepared(testing::dense_model(), run), key);
  CHECK_THAT(whole.layer.recompute, WithinRel(whole.forward, 1e-9));
  run.checkpoint_early_stop = true;
  const auto stopped = times_of(prepared(testing::dense_model(), run), key);
  const auto machine = make_machine(testing::cluster_of(8), run);
  const double last = matmul_time(machine, {4096, 4096, 11008});
  CHECK_THAT(whole.layer.recompute - stopped.layer.recompute, WithinRel(last, 1e-9));
}

TEST_CASE("a quantised base is unpacked in every pass", "[layer]") {
  // 202.4e6 weights x 9.72 bytes / (0.8 x 2 TB/s) = 1.229 ms.
  const auto run = testing::training_of(workload::Mode::qlora, workload::Framework::hf);
  const auto machine = make_machine(testing::cluster_of(1), run);
  CHECK_THAT(dequantise_time(machine, workload::Quant::nf4, 202.4e6), WithinRel(1.2295e-3, 1e-3));
  CHECK(dequantise_time(machine, workload::Quant::none, 202.4e6) == 0);
}

TEST_CASE("a short sequence is bound by launches", "[layer]") {
  auto run = testing::training_of(workload::Mode::lora, workload::Framework::hf);
  run.seq_len = 128;
  const auto times = times_of(prepared(testing::dense_model(), run), LayerKey{});
  const double host = run.framework.host_layer_s + run.framework.host_peft_s;
  CHECK_THAT(times.forward, WithinRel(host, 1e-9));
  CHECK_THAT(times.backward, WithinRel(host, 1e-9));
  CHECK(times.layer.host > 0);
}

TEST_CASE("sharded weights hide behind long passes only", "[layer]") {
  auto run = testing::training_of(workload::Mode::pretrain, workload::Framework::torchtitan);
  LayerKey key;
  key.sharding = workload::Sharding::fsdp;
  key.shard_group = 64;
  const auto cluster = testing::cluster_of(64);
  const auto full = times_of(prepared(testing::dense_model(), run), key, cluster);
  run.seq_len = 256;
  const auto tiny = times_of(prepared(testing::dense_model(), run), key, cluster);
  CHECK(full.layer.data_comm < 0.2 * full.layer.compute);
  CHECK(tiny.layer.data_comm > tiny.layer.compute);
}

TEST_CASE("experts exchange tokens only across ranks", "[layer]") {
  const auto run = testing::training_of();
  LayerKey key;
  const auto local = times_of(prepared(testing::expert_model(), run), key);
  CHECK(local.layer.expert_comm == 0);
  key.ep = 8;
  const auto spread = times_of(prepared(testing::expert_model(), run), key);
  CHECK(spread.layer.expert_comm > 0);
  CHECK(spread.parameters_expert * 8 == local.parameters_expert);
}
