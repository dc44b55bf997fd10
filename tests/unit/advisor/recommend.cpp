#include <algorithm>

#include "gpuadvisor/advisor.hpp"
#include "test_support/catch.hpp"
#include "test_support/small_catalog.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::advisor;
using workload::Mode;

namespace {

const catalog::Catalog& small_catalog() {
  static const auto catalog =
      catalog::Catalog::from_documents(test::small_documents(test::usual_instances()));
  if (!catalog) FAIL(catalog.error().where << ": " << catalog.error().message);
  return *catalog;
}

Query query_of(double parameters, Mode mode) {
  Query query;
  query.model.architecture = model::synthesize(parameters, std::nullopt).value().architecture;
  query.request.mode = mode;
  return query;
}

Ranking rank(const Query& query) {
  auto ranking = recommend(small_catalog(), query);
  if (!ranking) FAIL(ranking.error().where << ": " << ranking.error().message);
  return *ranking;
}

const Rejected* find_rejected(const Ranking& ranking, std::string_view name, int count) {
  for (const auto& rejected : ranking.rejected)
    if (rejected.instance->name == name && rejected.count == count) return &rejected;
  return nullptr;
}

bool warns(const ResultRow& row, WarningCode code) {
  return std::any_of(row.warnings.begin(), row.warnings.end(),
                     [&](const Warning& warning) { return warning.code == code; });
}

}  // namespace

TEST_CASE("70B full fine-tuning is led by NVLink nodes with RDMA") {
  const auto ranking = rank(query_of(70e9, Mode::full_ft));
  REQUIRE_FALSE(ranking.results.empty());
  const auto& best = ranking.results.front();
  CHECK(best.instance->name == "a100.8");
  CHECK(best.count > 1);
  for (const auto& row : ranking.results) {
    CHECK(row.best.plan.gpus() == row.cluster.gpus);
    CHECK(row.best.memory.needed() <= row.cluster.gpu_memory_bytes);
    CHECK(row.best.memory.host_bytes <= row.cluster.host_memory_bytes);
    CHECK_THAT(row.best.performance.breakdown.total(),
               WithinRel(row.best.performance.step_time_s, 1e-9));
  }
}

TEST_CASE("the reason why one node of 8 x 80 GB fails names GPU and host memory") {
  // 16 bytes x 70.55e9 = 1,129 GB: 141 GB a GPU; offloaded 1,051 GiB of host memory and
  // more, above the 1,024 GiB of the node.
  const auto ranking = rank(query_of(70e9, Mode::full_ft));
  const auto* rejected = find_rejected(ranking, "a100.8", 1);
  REQUIRE(rejected != nullptr);
  CHECK(rejected->code == RejectCode::host_memory);
  CHECK(rejected->missing_bytes.value_or(0) > 0);
  CHECK_THAT(rejected->message, ContainsSubstring("of host memory and has 1,024 GiB"));
  CHECK_THAT(rejected->message, ContainsSubstring("a GPU"));
}

TEST_CASE("the best TP and PP plan stands beside ZeRO") {
  const auto ranking = rank(query_of(70e9, Mode::full_ft));
  REQUIRE_FALSE(ranking.results.empty());
  const auto& alternatives = ranking.results.front().alternatives;
  REQUIRE_FALSE(alternatives.empty());
  CHECK_THAT(alternatives.front().why, ContainsSubstring("TP+PP+DP"));
  const auto& plan = alternatives.front().candidate.plan;
  CHECK(plan.tp * plan.pp > 1);
  CHECK(plan.gpus() == ranking.results.front().cluster.gpus);
}

TEST_CASE("7B adapters are led by one A10 or L20") {
  for (const auto mode : {Mode::lora, Mode::qlora}) {
    const auto ranking = rank(query_of(7e9, mode));
    REQUIRE_FALSE(ranking.results.empty());
    const auto& best = ranking.results.front();
    CHECK((best.gpu->id == "A10" || best.gpu->id == "L20"));
    CHECK(best.cluster.gpus == 1);
    CHECK(best.best.plan.offload == workload::kOffloadNone);
  }
}

TEST_CASE("175B pre-training on a thousand GPUs is led by nodes with RDMA") {
  auto query = query_of(175e9, Mode::pretrain);
  query.max_gpus = 1024;
  const auto ranking = rank(query);
  REQUIRE_FALSE(ranking.results.empty());
  const auto& best = ranking.results.front();
  CHECK(best.cluster.nodes() > 1);
  CHECK(best.cluster.fabric == catalog::Fabric::erdma);
  CHECK(best.best.plan.gpus() == best.cluster.gpus);
}

TEST_CASE("rows come in the order of the score, unpriced ones last") {
  const auto ranking = rank(query_of(7e9, Mode::full_ft));
  bool priced = true;
  for (std::size_t at = 0; at < ranking.results.size(); ++at) {
    const auto& row = ranking.results[at];
    CHECK(row.rank == static_cast<int>(at) + 1);
    if (row.quote) CHECK(priced);
    priced = row.quote.has_value();
    if (at > 0 && row.quote) CHECK(row.score.total <= ranking.results[at - 1].score.total + 1e-6);
    CHECK_THAT(
        row.score.total * (row.gpu->has_bf16() ? 1.0 : 1.25),
        WithinAbs(0.45 * row.score.vram_fit + 0.2 * row.score.interconnect + 0.35 * row.score.cost,
                  1e-12));
  }
  for (const auto& row : ranking.results)
    if (row.instance->name == "h20.8") CHECK(warns(row, WarningCode::no_price));
}

TEST_CASE("each family appears once") {
  const auto ranking = rank(query_of(7e9, Mode::full_ft));
  std::vector<std::string_view> families;
  for (const auto& row : ranking.results) families.push_back(row.instance->family);
  std::sort(families.begin(), families.end());
  CHECK(std::adjacent_find(families.begin(), families.end()) == families.end());
}

TEST_CASE("objectives choose the cheapest, the fastest and the fewest") {
  auto query = query_of(7e9, Mode::full_ft);
  query.objective = Objective::cheapest;
  auto ranking = rank(query);
  for (const auto& row : ranking.results)
    if (row.cost.total) CHECK(*row.cost.total >= *ranking.results.front().cost.total - 1e-6);
  query.objective = Objective::fastest;
  ranking = rank(query);
  for (const auto& row : ranking.results)
    if (row.quote) CHECK(row.cost.hours >= ranking.results.front().cost.hours - 1e-6);
  query.objective = Objective::fewest_gpus;
  ranking = rank(query);
  for (const auto& row : ranking.results)
    if (row.quote) CHECK(row.cluster.gpus >= ranking.results.front().cluster.gpus);
}

TEST_CASE("budget and deadline reject with the figures") {
  auto query = query_of(7e9, Mode::full_ft);
  query.budget = Money{1, "CNY"};
  auto ranking = rank(query);
  CHECK(ranking.results.empty());
  CHECK(std::any_of(ranking.rejected.begin(), ranking.rejected.end(), [](const Rejected& one) {
    return one.code == RejectCode::budget &&
           one.message.find("the budget is 1.00 CNY") != std::string::npos;
  }));
  REQUIRE(ranking.relaxations.size() >= 2);
  CHECK_THAT(ranking.relaxations[1], ContainsSubstring("budget"));
  query.budget.reset();
  query.deadline_s = 1;
  ranking = rank(query);
  CHECK(ranking.results.empty());
  CHECK(std::any_of(ranking.rejected.begin(), ranking.rejected.end(),
                    [](const Rejected& one) { return one.code == RejectCode::deadline; }));
}

TEST_CASE("nothing fits is an answer with two ways out") {
  auto query = query_of(400e9, Mode::full_ft);
  query.max_nodes = 1;
  const auto ranking = rank(query);
  CHECK(ranking.results.empty());
  REQUIRE(ranking.relaxations.size() == 3);
  CHECK_THAT(ranking.relaxations[0], ContainsSubstring("tightest constraint"));
  CHECK_THAT(ranking.relaxations[1], ContainsSubstring("would work"));
  CHECK_THAT(ranking.relaxations[2], ContainsSubstring("would work"));
}

TEST_CASE("RDMA can be required") {
  auto query = query_of(70e9, Mode::full_ft);
  query.rdma = RdmaPolicy::required;
  const auto ranking = rank(query);
  for (const auto& row : ranking.results)
    CHECK((row.cluster.nodes() == 1 || row.instance->rdma != catalog::Fabric::none));
  const auto* rejected = find_rejected(ranking, "a100.8tcp", 2);
  REQUIRE(rejected != nullptr);
  CHECK(rejected->code == RejectCode::rdma_required);
}

TEST_CASE("filters by GPU and instance, and unknown names") {
  auto query = query_of(7e9, Mode::lora);
  query.gpus = {"L20"};
  for (const auto& row : rank(query).results) CHECK(row.gpu->id == "L20");
  query.gpus = {"no-such-gpu"};
  const auto wrong = recommend(small_catalog(), query);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::usage);
}

TEST_CASE("a GPU without the precision is rejected by dtype") {
  auto query = query_of(1e9, Mode::lora);
  query.request.precision = workload::Precision::bf16;
  const auto ranking = rank(query);
  const auto* rejected = find_rejected(ranking, "v100.8", 1);
  REQUIRE(rejected != nullptr);
  CHECK(rejected->code == RejectCode::dtype_unsupported);
}

TEST_CASE("max gpus below an instance rejects the type") {
  auto query = query_of(7e9, Mode::lora);
  query.max_gpus = 4;
  const auto ranking = rank(query);
  const auto* rejected = find_rejected(ranking, "a100.8", 1);
  REQUIRE(rejected != nullptr);
  CHECK(rejected->code == RejectCode::max_gpus);
}

TEST_CASE("warnings name what is wrong with the hardware") {
  auto query = query_of(70e9, Mode::full_ft);
  query.top = 20;
  for (const auto& row : rank(query).results) {
    CHECK(warns(row, WarningCode::no_rdma) ==
          (row.cluster.nodes() > 1 && row.instance->rdma == catalog::Fabric::none));
    CHECK(warns(row, WarningCode::pcie_only) ==
          (row.cluster.link == catalog::NodeLink::pcie && row.cluster.gpus_per_node > 1));
    CHECK(warns(row, WarningCode::no_bf16) == !row.gpu->has_bf16());
  }
}

TEST_CASE("the search is accounted for") {
  const auto ranking = rank(query_of(70e9, Mode::full_ft));
  std::uint64_t pruned = 0;
  for (const auto count : ranking.search.pruned) pruned += count;
  CHECK(ranking.search.in_space == ranking.search.evaluated + pruned);
}

TEST_CASE("threads and repetition change nothing") {
  auto query = query_of(70e9, Mode::full_ft);
  query.threads = 1;
  const auto one = rank(query);
  query.threads = 5;
  const auto five = rank(query);
  REQUIRE(one.results.size() == five.results.size());
  for (std::size_t at = 0; at < one.results.size(); ++at) {
    CHECK(one.results[at].instance->name == five.results[at].instance->name);
    CHECK(one.results[at].best.plan == five.results[at].best.plan);
    CHECK(one.results[at].reasons == five.results[at].reasons);
  }
  CHECK(one.search.evaluated == five.search.evaluated);
}

TEST_CASE("the pareto front trades hours against money") {
  const auto front = rank(query_of(7e9, Mode::full_ft)).pareto;
  REQUIRE_FALSE(front.empty());
  for (std::size_t at = 1; at < front.size(); ++at) {
    CHECK(front[at].hours >= front[at - 1].hours);
    CHECK(front[at].total < front[at - 1].total);
  }
}

TEST_CASE("compare shows each named type once, of one family too") {
  auto query = query_of(7e9, Mode::lora);
  const auto all = recommend(small_catalog(), query);
  REQUIRE(all);
  std::vector<std::string> names;
  for (const auto& instance : small_catalog().instances())
    if (instance.gpus > 0 && instance.family == small_catalog().instances().front().family)
      names.emplace_back(instance.name);
  for (const auto& row : all->results) names.emplace_back(row.instance->name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  REQUIRE(names.size() >= 2);
  query.instances = names;
  const auto compared = compare(small_catalog(), query);
  REQUIRE(compared);
  CHECK(compared->command == "compare");
  std::vector<std::string> shown;
  for (const auto& row : compared->results) shown.emplace_back(row.instance->name);
  std::sort(shown.begin(), shown.end());
  CHECK(std::adjacent_find(shown.begin(), shown.end()) == shown.end());
  CHECK(std::includes(names.begin(), names.end(), shown.begin(), shown.end()));
  CHECK(shown.size() >= all->results.size());
  query.instances = {names.front()};
  CHECK_FALSE(compare(small_catalog(), query));
}
