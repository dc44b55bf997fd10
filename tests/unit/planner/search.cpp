#include "gpuadvisor/planner.hpp"
#include "test_support/catch.hpp"
#include "test_support/fake_models.hpp"
#include "test_support/planning.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::planner;
using workload::Framework;

namespace {

std::uint64_t pruned(const SearchStats& stats) {
  std::uint64_t sum = 0;
  for (const auto count : stats.pruned) sum += count;
  return sum;
}

SearchResult run(const SearchOptions& options, int gpus = 64,
                 Framework framework = Framework::megatron) {
  return test::fake_search(test::small_model(), test::small_run(framework, 256),
                           test::small_cluster(gpus), {}, options);
}

}  // namespace

TEST_CASE("every plan of the space is evaluated or pruned by a rule") {
  const auto result = run({});
  CHECK(result.stats.in_space == result.stats.evaluated + pruned(result.stats));
  CHECK(result.stats.evaluated < result.stats.in_space);
  CHECK(result.stats.fitting <= result.stats.evaluated);
  std::uint64_t visited = 0;
  for_each_plan(test::small_model(), test::small_run(Framework::megatron, 256),
                test::small_cluster(64), {}, [&](const workload::Plan&) { return ++visited > 0; });
  CHECK(visited == result.stats.in_space);
}

TEST_CASE("without rules every plan is evaluated") {
  SearchOptions options;
  options.rules.fill(false);
  const auto result = run(options);
  CHECK(result.stats.evaluated == result.stats.in_space);
}

TEST_CASE("the answer and the counts do not depend on threads") {
  SearchOptions options;
  options.top = 5;
  const auto one = run(options, 512);
  options.threads = 7;
  const auto seven = run(options, 512);
  REQUIRE(one.best.size() == 5);
  REQUIRE(seven.best.size() == 5);
  for (std::size_t at = 0; at < 5; ++at) CHECK(one.best[at].plan == seven.best[at].plan);
  CHECK(one.stats.evaluated == seven.stats.evaluated);
  CHECK(one.stats.pruned == seven.stats.pruned);
}

TEST_CASE("the best plans come in order and obey the constraints") {
  SearchOptions options;
  options.top = 8;
  options.constraints.tp = 2;
  options.constraints.micro_batch = 4;
  const auto result = run(options);
  REQUIRE(result.best.size() == 8);
  for (std::size_t at = 0; at < result.best.size(); ++at) {
    CHECK(result.best[at].plan.tp == 2);
    CHECK(result.best[at].plan.micro_batch == 4);
    CHECK(result.best[at].plan.gpus() == 64);
    if (at > 0) CHECK(better(result.best[at - 1], result.best[at]));
  }
}

TEST_CASE("headroom is kept free") {
  SearchOptions options;
  options.constraints.min_headroom = 0.5;
  for (const auto& candidate : run(options).best) CHECK(candidate.memory.needed() <= 0.5 * 80e9);
}

TEST_CASE("the front trades step time against memory") {
  SearchOptions options;
  options.pareto = true;
  const auto result = run(options);
  REQUIRE(result.front.size() > 1);
  CHECK(result.front.front().plan == result.best.front().plan);
  for (std::size_t at = 1; at < result.front.size(); ++at) {
    CHECK(result.front[at].performance.step_time_s >= result.front[at - 1].performance.step_time_s);
    CHECK(result.front[at].memory.needed() < result.front[at - 1].memory.needed());
  }
}

TEST_CASE("tensor parallelism crosses nodes only when allowed") {
  SearchOptions options;
  options.top = 100000;
  for (const auto& candidate : run(options, 32).best) CHECK(candidate.plan.tp <= 8);
  options.constraints.tp_across_nodes = true;
  options.constraints.tp = 16;
  CHECK_FALSE(run(options, 32).best.empty());
}

TEST_CASE("16384 GPUs have a plan") {
  const auto result =
      test::fake_search(test::small_model(96, 96, 96), test::small_run(Framework::megatron, 16384),
                        test::small_cluster(16384), {}, {});
  REQUIRE_FALSE(result.best.empty());
  CHECK(result.best.front().plan.gpus() == 16384);
}
