#include "fixtures.hpp"
#include "performance/step.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::performance;

namespace {
/// Layers of 0.4 s forward and 0.6 s backward, of which 0.3 s are weight gradients; a head
/// of 0.5 s.
LayerTimes round_layer() {
  LayerTimes layer;
  layer.forward = 0.4, layer.backward = 0.6, layer.weight_gradient = 0.3;
  layer.layer.compute = 1.0;
  layer.head_forward = 0.2, layer.head_backward = 0.3;
  return layer;
}
struct Fixture {
  memory::Prepared prepared;
  catalog::Cluster cluster = testing::cluster_of(16);
  Run run;
  explicit Fixture(int layers) {
    prepared.architecture = testing::dense_model();
    prepared.training = testing::training_of();
    prepared.training.global_batch = 8;
    run.prepared = &prepared;
    run.cluster = &cluster;
    run.machine = testing::round_machine();
    run.layers = layers;
    run.heads = 1;
  }
};
workload::Plan pipeline(int pp, int vpp = 1) {
  workload::Plan plan;
  plan.pp = pp, plan.vpp = vpp;
  return plan;
}
}  // namespace

TEST_CASE("the head makes the last stage the longest", "[schedule]") {
  // 8 layers on 4 stages: 2, 2, 2, 2.5 s a micro-batch; 8 micro-batches.
  const Fixture f(8);
  const auto stages = make_stages(f.run, round_layer(), pipeline(4));
  CHECK(stages.micro_batches == 8);
  CHECK(stages.longest == 2.5);
  CHECK(stages.sum == 8.5);
}

TEST_CASE("uneven layers leave the rest to the last stage", "[schedule]") {
  // 10 layers on 4 stages: (10 + 2) / 4 = 3 divides, so 2, 3, 3, 2 and the head.
  const Fixture balanced(10);
  CHECK(make_stages(balanced.run, round_layer(), pipeline(4)).longest == 3);
  // 9 on 4: 3, 3, 3, 0 and the head.
  const Fixture rest(9);
  CHECK(make_stages(rest.run, round_layer(), pipeline(4)).longest == 3);
}

TEST_CASE("bubble of each schedule", "[schedule]") {
  // Idle: 8.5 - 2.5 = 6 s; interleaved halves it; zero-bubble keeps 1 - 2 x 0.3 / 1.0.
  const Fixture f(8);
  const auto layer = round_layer();
  const auto stages = make_stages(f.run, layer, pipeline(4));
  workload::Plan plan = pipeline(4);
  CHECK_THAT(bubble_time(layer, stages, plan), WithinRel(6.0, 1e-12));
  plan.schedule = workload::Schedule::gpipe;
  CHECK_THAT(bubble_time(layer, stages, plan), WithinRel(6.0, 1e-12));
  plan.schedule = workload::Schedule::zb_1p;
  CHECK_THAT(bubble_time(layer, stages, plan), WithinRel(6.0 * 0.4, 1e-12));
  plan.schedule = workload::Schedule::zb_2p;
  CHECK(bubble_time(layer, stages, plan) == 0);
  CHECK_THAT(bubble_time(layer, stages, pipeline(4, 2)), WithinRel(3.0, 1e-12));
  CHECK(bubble_time(layer, stages, pipeline(1)) == 0);
}

TEST_CASE("a pipeline takes its micro-batches and its bubble", "[schedule]") {
  const Fixture f(8);
  auto layer = round_layer();
  workload::Plan plan = pipeline(4);
  plan.grad_accum = 8;
  const auto step = step_estimate(f.run, layer, plan).breakdown;
  CHECK_THAT(step.compute, WithinRel(8 * 2.5, 1e-12));
  CHECK_THAT(step.bubble, WithinRel(6.0, 1e-12));
  CHECK(step.pipeline_comm > 0);
}

TEST_CASE("gradients hide behind the backward pass where the framework overlaps", "[schedule]") {
  Fixture f(8);
  auto layer = round_layer();
  layer.parameters_dense = 1e9;
  workload::Plan plan;
  plan.dp = 16;
  const auto stages = make_stages(f.run, layer, plan);
  const Trainable trainable{8e9, 0};
  f.run.trainable = 1;
  f.prepared.training.grad_overlap = 0;
  const double open = data_parallel_time(f.run, layer, stages, trainable, plan);
  f.prepared.training.grad_overlap = 1;
  const double hidden = data_parallel_time(f.run, layer, stages, trainable, plan);
  f.prepared.training.grad_overlap = 0.5;
  const double half = data_parallel_time(f.run, layer, stages, trainable, plan);
  // All-reduce of 32 GB over 16 ranks at 160 GB/s: 0.375 s; the backward is 5.1 s.
  CHECK_THAT(open, WithinRel(0.375, 0.01));
  CHECK(hidden < 0.4 * open);
  CHECK_THAT(half, WithinRel(0.5 * (open + hidden), 1e-9));
}

TEST_CASE("an optimizer on the host costs its transfers", "[schedule]") {
  // 8e9 parameters over 16 ranks: 0.5e9 / 0.3e9 a second + 4e9 bytes / 25 GB/s.
  Fixture f(8);
  workload::Plan plan;
  plan.dp = 16;
  plan.sharding = workload::Sharding::zero2;
  plan.offload = workload::kOffloadOptimizer;
  const auto times = optimizer_time(f.run, {8e9, 0}, plan);
  CHECK(times.gpu == 0);
  CHECK_THAT(times.offload, WithinRel(0.5 / 0.3 + 4.0 / 25, 1e-9));
  plan.offload = 0;
  CHECK(optimizer_time(f.run, {8e9, 0}, plan).gpu < 0.02);
}
