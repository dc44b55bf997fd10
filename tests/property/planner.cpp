// Properties over random models, clusters and rules: the space is exactly what
// check_plan allows, and pruning never changes the answer.
#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>

#include <set>
#include <tuple>

#include "test_support/fake_models.hpp"
#include "test_support/planning.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::planner;
using workload::Framework;
using workload::Plan;

namespace {

struct Case {
  model::Architecture architecture;
  workload::Training training;
  catalog::Cluster cluster;
};

Case random_case() {
  const auto framework =
      *rc::gen::element(Framework::megatron, Framework::deepspeed, Framework::fsdp,
                        Framework::torchtitan, Framework::hf, Framework::paddle, Framework::other);
  const int layers = *rc::gen::element(1, 6, 7, 24, 48);
  const int heads = *rc::gen::element(4, 12, 16, 40);
  Case random{test::small_model(layers, heads, *rc::gen::element(1, 2, heads)),
              test::small_run(framework, *rc::gen::element(1, 8, 12, 64)),
              test::small_cluster(*rc::gen::element(1, 2, 6, 8, 16, 24), *rc::gen::element(4, 8))};
  random.training.seq_len = *rc::gen::element(1000, 1024, 4096);
  if (*rc::gen::element(0, 1) == 1) {
    random.architecture.experts = *rc::gen::element(4, 6);
    random.architecture.expert_ffn = 1024;
  }
  return random;
}

auto fields(const Plan& plan) {
  return std::make_tuple(plan.tp, plan.pp, plan.vpp, plan.cp, plan.ep, plan.dp, plan.micro_batch,
                         plan.sharding, plan.recompute, plan.offload);
}
using Fields = decltype(fields(Plan{}));

std::set<Fields> enumerated(const Case& c) {
  std::set<Fields> found;
  for_each_plan(c.architecture, c.training, c.cluster, {}, [&](const Plan& plan) {
    RC_ASSERT(found.insert(fields(plan)).second);  // none twice
    const auto legal = check_plan(c.architecture, c.training, plan, c.cluster);
    if (!legal) RC_FAIL(legal.error().message);
    return true;
  });
  return found;
}

/// Every split and micro-batch by brute force, for one sharding and recompute kind.
std::set<Fields> brute_force(const Case& c, const Constraints& constraints) {
  std::set<Fields> found;
  Plan plan;
  plan.sharding = constraints.sharding.value_or(workload::Sharding::none);
  plan.recompute = constraints.recompute.value_or(workload::Recompute::full);
  const int gpus = c.cluster.gpus;
  for (plan.tp = 1; plan.tp <= gpus; ++plan.tp)
    for (plan.pp = 1; plan.pp <= gpus; ++plan.pp)
      for (plan.cp = 1; plan.cp <= gpus; ++plan.cp) {
        if (gpus % (plan.tp * plan.pp * plan.cp) != 0) continue;
        plan.dp = gpus / (plan.tp * plan.pp * plan.cp);
        for (plan.ep = 1; plan.ep <= std::max(1, c.architecture.experts); ++plan.ep)
          for (plan.vpp = 1; plan.vpp <= c.architecture.layers; ++plan.vpp)
            for (plan.micro_batch = 1; plan.micro_batch <= c.training.global_batch;
                 ++plan.micro_batch) {
              plan.schedule =
                  plan.vpp > 1 ? workload::Schedule::interleaved : workload::Schedule::one_f_one_b;
              plan.grad_accum =
                  std::max<std::int32_t>(1, static_cast<std::int32_t>(c.training.global_batch) /
                                                (plan.micro_batch * plan.dp));
              if (check_plan(c.architecture, c.training, plan, c.cluster))
                found.insert(fields(plan));
            }
      }
  return found;
}

test::FakeRules random_rules() {
  test::FakeRules rules;
  rules.state_bytes = *rc::gen::element(10e9, 300e9, 2000e9, 20000e9);
  rules.activation_bytes = *rc::gen::element(1e9, 20e9, 200e9);
  rules.noise = *rc::gen::element(0.0, 0.05, 3.0);
  rules.seed = *rc::gen::inRange<std::uint64_t>(1, 1000000);
  return rules;
}

void same_best(const SearchResult& left, const SearchResult& right) {
  RC_ASSERT(left.best.size() == right.best.size());
  for (std::size_t at = 0; at < left.best.size(); ++at) {
    RC_ASSERT(left.best[at].plan == right.best[at].plan);
    RC_ASSERT(left.best[at].performance.step_time_s == right.best[at].performance.step_time_s);
  }
}

}  // namespace

TEST_CASE("property: the space holds legal plans only, each once") {
  CHECK(rc::check([] { enumerated(random_case()); }));
}

TEST_CASE("property: megatron's space equals brute force") {
  CHECK(rc::check([] {
    Case c = random_case();
    c.training.framework = workload::framework_profile(Framework::megatron);
    c.training.global_batch = *rc::gen::element(4, 12);
    std::set<Fields> wanted;
    for (const auto recompute :
         {workload::Recompute::none, workload::Recompute::selective, workload::Recompute::full})
      for (const auto sharding : {workload::Sharding::none, workload::Sharding::zero1}) {
        Constraints constraints;
        constraints.recompute = recompute;
        constraints.sharding = sharding;
        for (const auto& plan : brute_force(c, constraints)) {
          const bool one_rank = std::get<5>(plan) * std::get<3>(plan) == 1;
          if (!(one_rank && sharding == workload::Sharding::zero1)) wanted.insert(plan);
        }
      }
    RC_ASSERT(enumerated(c) == wanted);
  }));
}

TEST_CASE("property: pruned search equals exhaustive search, each rule alone too") {
  CHECK(rc::check([] {
    const Case c = random_case();
    const auto rules = random_rules();
    SearchOptions options;
    options.top = *rc::gen::element<std::size_t>(1, 3, 10);
    SearchOptions exhaustive = options;
    exhaustive.rules.fill(false);
    const auto truth = test::fake_search(c.architecture, c.training, c.cluster, rules, exhaustive);
    RC_ASSERT(truth.stats.evaluated == truth.stats.in_space);
    same_best(test::fake_search(c.architecture, c.training, c.cluster, rules, options), truth);
    for (std::size_t rule = 0; rule < kRules; ++rule) {
      SearchOptions single = exhaustive;
      single.rules[rule] = true;
      same_best(test::fake_search(c.architecture, c.training, c.cluster, rules, single), truth);
    }
  }));
}

TEST_CASE("property: threads change nothing") {
  CHECK(rc::check([] {
    Case c = random_case();
    c.cluster.gpus = *rc::gen::element(64, 96);
    c.training.framework = workload::framework_profile(Framework::other);
    const auto rules = random_rules();
    SearchOptions options;
    options.top = 4;
    const auto one = test::fake_search(c.architecture, c.training, c.cluster, rules, options);
    options.threads = 3;
    const auto three = test::fake_search(c.architecture, c.training, c.cluster, rules, options);
    same_best(one, three);
    RC_ASSERT(one.stats.pruned == three.stats.pruned);
    RC_ASSERT(one.stats.evaluated == three.stats.evaluated);
  }));
}
#endif
