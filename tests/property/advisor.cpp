// Properties of the ranking over random small catalogs.
#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>

#include <algorithm>

#include "gpuadvisor/advisor.hpp"
#include "test_support/small_catalog.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::advisor;

namespace {

std::vector<test::SmallInstance> random_instances() {
  const auto all = test::usual_instances();
  std::vector<test::SmallInstance> chosen;
  for (auto one : all) {
    if (*rc::gen::inRange(0, 4) == 0) continue;
    one.price = *rc::gen::element(0.0, one.price, one.price * 2);
    one.memory_gib = *rc::gen::element(one.memory_gib, 4 * one.memory_gib);
    chosen.push_back(one);
  }
  if (chosen.empty()) chosen.push_back(all.front());
  return chosen;
}

Query random_query() {
  Query query;
  const double size = *rc::gen::element(1e9, 7e9, 30e9);
  query.model.architecture = model::synthesize(size, std::nullopt).value().architecture;
  query.request.mode = *rc::gen::element(workload::Mode::lora, workload::Mode::full_ft);
  query.objective = *rc::gen::element(Objective::balanced, Objective::cheapest, Objective::fastest,
                                      Objective::fewest_gpus);
  query.max_nodes = 4;
  query.threads = 1;
  return query;
}

struct Line {
  std::string name;
  int count = 0;
  double hours = 0, total = 0, score = 0;
  bool operator==(const Line&) const = default;
};

std::vector<Line> lines(const std::vector<test::SmallInstance>& instances, const Query& query) {
  const auto catalog = catalog::Catalog::from_documents(test::small_documents(instances)).value();
  const auto ranking = recommend(catalog, query).value();
  std::vector<Line> found;
  for (const auto& row : ranking.results)
    found.push_back({std::string(row.instance->name), row.count, row.cost.hours,
                     row.cost.total.value_or(-1), row.score.total});
  return found;
}

/// The objective of the first line, small is good; unpriced lines are worse than all.
double objective_of(Objective objective, const std::vector<Line>& found) {
  if (found.empty()) return 1e300;
  const Line& first = found.front();
  const double unpriced = first.total < 0 ? 1e200 : 0;
  if (objective == Objective::cheapest) return unpriced + first.total;
  return unpriced + first.hours;
}

}  // namespace

TEST_CASE("property: the ranking does not depend on the order of the catalog") {
  CHECK(rc::check([] {
    auto instances = random_instances();
    const auto query = random_query();
    const auto before = lines(instances, query);
    std::reverse(instances.begin(), instances.end());
    RC_ASSERT(lines(instances, query) == before);
    std::rotate(instances.begin(),
                instances.begin() + static_cast<std::ptrdiff_t>(instances.size() / 2),
                instances.end());
    RC_ASSERT(lines(instances, query) == before);
  }));
}

TEST_CASE("property: one more instance never worsens the best") {
  CHECK(rc::check([] {
    auto instances = random_instances();
    auto query = random_query();
    query.objective = *rc::gen::element(Objective::cheapest, Objective::fastest);
    const double before = objective_of(query.objective, lines(instances, query));
    test::SmallInstance more{
        "more.8", "more",   "A100-SXM4-80GB",          8,
        1024,     "nvlink", *rc::gen::element(0, 160), *rc::gen::element(0.0, 10.0, 500.0)};
    instances.push_back(more);
    RC_ASSERT(objective_of(query.objective, lines(instances, query)) <= before + 1e-6);
  }));
}
#endif
