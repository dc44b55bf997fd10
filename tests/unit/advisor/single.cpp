#include "gpuadvisor/advisor.hpp"
#include "test_support/catch.hpp"
#include "test_support/small_catalog.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::advisor;
using workload::Mode;

namespace {

const catalog::Catalog& small_catalog() {
  static const auto catalog =
      catalog::Catalog::from_documents(test::small_documents(test::usual_instances())).value();
  return catalog;
}

catalog::Cluster cluster_of(std::string_view name, int count) {
  const auto* instance = small_catalog().find_instance(name);
  return catalog::make_cluster(*instance, *small_catalog().find_gpu(instance->gpu), count);
}

Query query_of(double parameters, Mode mode) {
  Query query;
  query.model.architecture = model::synthesize(parameters, std::nullopt).value().architecture;
  query.request.mode = mode;
  return query;
}

}  // namespace

TEST_CASE("estimate obeys the plan that was fixed") {
  auto query = query_of(70e9, Mode::pretrain);
  query.constraints.tp = 4;
  query.constraints.pp = 2;
  query.constraints.micro_batch = 1;
  const auto answer = estimate(small_catalog(), query, cluster_of("a100.8", 4));
  if (!answer) FAIL(answer.error().message);
  const auto& ranking = *answer;
  REQUIRE(ranking.results.size() == 1);
  const auto& plan = ranking.results.front().best.plan;
  CHECK(plan.tp == 4);
  CHECK(plan.pp == 2);
  CHECK(plan.dp == 4);
  CHECK(plan.micro_batch == 1);
  CHECK(ranking.results.front().cost.total.has_value());
}

TEST_CASE("estimate of a plan that does not fit is still an answer") {
  auto query = query_of(70e9, Mode::full_ft);
  query.constraints.sharding = workload::Sharding::zero3;
  query.constraints.offload = workload::kOffloadNone;
  const auto ranking = estimate(small_catalog(), query, cluster_of("a100.8", 1)).value();
  REQUIRE(ranking.results.size() == 1);
  CHECK(ranking.results.front().best.verdict == memory::Verdict::does_not_fit);
  CHECK(ranking.results.front().best.memory.needed() > 80e9);
  // The reason says what is missing, never a spare of nothing.
  CHECK_THAT(ranking.results.front().reasons.front(), ContainsSubstring("missing"));
}

TEST_CASE("estimate refuses an illegal plan with the flag") {
  auto query = query_of(70e9, Mode::full_ft);
  query.constraints.tp = 3;
  const auto ranking = estimate(small_catalog(), query, cluster_of("a100.8", 1));
  REQUIRE_FALSE(ranking);
  CHECK(ranking.error().code == ErrorCode::usage);
  CHECK(ranking.error().where == "--tp");
  CHECK_THAT(ranking.error().message, ContainsSubstring("tp 3 does not divide 64"));
}

TEST_CASE("asking for tp in full fine-tuning implies Megatron and says so") {
  auto query = query_of(7e9, Mode::full_ft);
  query.constraints.tp = 8;
  const auto ranking = estimate(small_catalog(), query, cluster_of("a100.8", 1)).value();
  CHECK(ranking.results.front().training.framework.id == workload::Framework::megatron);
  REQUIRE_FALSE(ranking.assumed.empty());
  CHECK(ranking.assumed.front().field == "framework");
}

TEST_CASE("plan lists plans in order and says what differs") {
  auto query = query_of(7e9, Mode::pretrain);
  query.top = 4;
  query.pareto = true;
  const auto ranking = plan(small_catalog(), query, cluster_of("a100.8", 2)).value();
  REQUIRE(ranking.results.size() == 4);
  for (std::size_t at = 1; at < 4; ++at) {
    CHECK(ranking.results[at].best.performance.step_time_s >=
          ranking.results[at - 1].best.performance.step_time_s);
    CHECK_THAT(ranking.results[at].reasons.back(), ContainsSubstring("differs from the best"));
  }
  CHECK_FALSE(ranking.front.empty());
}

TEST_CASE("plan without a fit explains itself") {
  const auto ranking =
      plan(small_catalog(), query_of(70e9, Mode::full_ft), cluster_of("a10.1", 1)).value();
  CHECK(ranking.results.empty());
  REQUIRE(ranking.rejected.size() == 1);
  CHECK_FALSE(ranking.rejected.front().message.empty());
}

TEST_CASE("a sweep has efficiencies and one knee") {
  auto query = query_of(7e9, Mode::pretrain);
  query.sweep_gpus = {8, 16, 32, 64, 128};
  const auto ranking = plan(small_catalog(), query, cluster_of("a100.8", 1)).value();
  REQUIRE(ranking.sweep.size() == 5);
  int knees = 0;
  for (std::size_t at = 0; at < ranking.sweep.size(); ++at) {
    const auto& point = ranking.sweep[at];
    REQUIRE(point.best);
    knees += point.knee ? 1 : 0;
    CHECK(point.efficiency <= 1.0);
    CHECK(point.efficiency > 0.0);
    if (at > 0) CHECK(point.hours < ranking.sweep[at - 1].hours);
  }
  CHECK(knees == 1);
}
