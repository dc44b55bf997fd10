#include "advisor/relax.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "advisor/words.hpp"

namespace gpuadvisor::advisor {
namespace {

using workload::Mode;
using workload::Optimizer;

constexpr std::size_t kWanted = 2;

/// One change of a query; returns nothing where it does not apply.
struct Change {
  std::string words;
  Query query;
};
using MakeChange = std::function<std::optional<Change>(const Query&)>;

Mode mode_of(const Query& query) { return query.request.mode.value_or(Mode::full_ft); }

std::optional<Change> without_budget(const Query& query) {
  if (!query.budget) return std::nullopt;
  Change change{"a larger budget (drop --budget)", query};
  change.query.budget.reset();
  change.query.objective = Objective::cheapest;
  return change;
}

std::optional<Change> without_deadline(const Query& query) {
  if (!query.deadline_s) return std::nullopt;
  Change change{"a later deadline (drop --deadline)", query};
  change.query.deadline_s.reset();
  change.query.objective = Objective::fastest;
  return change;
}

std::optional<Change> without_rdma(const Query& query) {
  if (query.rdma != RdmaPolicy::required) return std::nullopt;
  Change change{"--rdma any", query};
  change.query.rdma = RdmaPolicy::any;
  return change;
}

std::optional<Change> more_gpus(const Query& query) {
  Change change{"", query};
  if (query.max_gpus) {
    change.query.max_gpus = std::max(*query.max_gpus, 1) * 8;
    change.words = fmt::format("--max-gpus {}", *change.query.max_gpus);
  } else {
    change.query.max_nodes = query.max_nodes * 4;
    change.words = fmt::format("--max-nodes {}", change.query.max_nodes);
  }
  return change;
}

std::optional<Change> all_hardware(const Query& query) {
  if (query.gpus.empty() && query.instances.empty()) return std::nullopt;
  Change change{"every GPU and instance (drop --gpu and --instance)", query};
  change.query.gpus.clear();
  change.query.instances.clear();
  return change;
}

std::optional<Change> all_providers(const Query& query) {
  if (query.providers.empty()) return std::nullopt;
  Change change{"--provider all", query};
  change.query.providers.clear();
  return change;
}

std::optional<Change> free_plan(const Query& query) {
  Change change{"a free plan (drop --tp, --pp, --sharding and the like)", query};
  change.query.constraints = {};
  return change;
}

std::optional<Change> small_optimizer(const Query& query) {
  if (mode_of(query) != Mode::full_ft && mode_of(query) != Mode::pretrain) return std::nullopt;
  if (query.request.optimizer.value_or(Optimizer::adamw) != Optimizer::adamw) return std::nullopt;
  Change change{"--optimizer adamw-8bit", query};
  change.words = fmt::format("--optimizer {}", workload::to_string(Optimizer::adamw_8bit));
  change.query.request.optimizer = Optimizer::adamw_8bit;
  return change;
}

std::optional<Change> adapters(const Query& query, Mode mode) {
  const Mode now = mode_of(query);
  if (now == Mode::serve || now == Mode::pretrain || now == mode || now == Mode::qlora)
    return std::nullopt;
  Change change{fmt::format("--mode {}", workload::to_string(mode)), query};
  change.query.request.mode = mode;
  change.query.request.quant.reset();
  return change;
}

std::optional<Change> shorter(const Query& query) {
  if (!query.request.seq_len || *query.request.seq_len <= 1024) return std::nullopt;
  Change change{"", query};
  change.query.request.seq_len = *query.request.seq_len / 2;
  change.words = fmt::format("--seq-len {}", *change.query.request.seq_len);
  return change;
}

const std::array<MakeChange, 11>& changes() {
  static const std::array<MakeChange, 11> all = {
      without_budget,
      without_deadline,
      without_rdma,
      free_plan,
      shorter,
      all_hardware,
      more_gpus,
      [](const Query& query) { return adapters(query, Mode::lora); },
      [](const Query& query) { return adapters(query, Mode::qlora); },
      small_optimizer,
      all_providers};
  return all;
}

/// The rejection that missed by least: what the user should look at first.
std::string tightest(const Ranking& failed) {
  const Rejected* nearest = nullptr;
  for (const auto& rejected : failed.rejected) {
    if (rejected.code == RejectCode::incomplete_facts) continue;
    const auto miss = [](const Rejected& one) { return one.missing_bytes.value_or(0.0); };
    if (nearest == nullptr || miss(rejected) < miss(*nearest)) nearest = &rejected;
  }
  if (nearest == nullptr) return "no instance passes the filters";
  return fmt::format("the tightest constraint is {}: {} x {} {}", to_string(nearest->code),
                     nearest->count, nearest->instance->name, nearest->message);
}

std::string outcome(const ResultRow& best) {
  std::string text = fmt::format("{}, {}", name_of(best.instance, best.count, best.cluster),
                                 format_duration(Seconds(best.cost.hours * 3600.0)));
  if (best.cost.total) text += ", " + format_money({*best.cost.total, best.quote->currency});
  return text;
}

}  // namespace

std::vector<std::string> find_relaxations(const catalog::Catalog& catalog, const Query& query,
                                          const Ranking& failed) {
  std::vector<std::string> found{tightest(failed)};
  for (const auto& make_change : changes()) {
    if (found.size() > kWanted) break;
    auto change = make_change(query);
    if (!change) continue;
    change->query.top = 1;
    const auto ranking = rank_offers(catalog, change->query);
    if (!ranking || ranking->results.empty()) continue;
    found.push_back(
        fmt::format("would work: {} ({})", change->words, outcome(ranking->results.front())));
  }
  return found;
}

}  // namespace gpuadvisor::advisor
