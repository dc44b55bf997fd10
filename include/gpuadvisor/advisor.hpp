// Which instances are best for a workload, and why not the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/cost.hpp"
#include "gpuadvisor/memory.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/performance.hpp"
#include "gpuadvisor/planner.hpp"
#include "gpuadvisor/serving.hpp"
#include "gpuadvisor/units.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::advisor {

enum class Objective : std::uint8_t { balanced, cheapest, fastest, fewest_gpus };
enum class RdmaPolicy : std::uint8_t { any, preferred, required };

/// The model of the job, however it was named.
struct ModelChoice {
  model::Architecture architecture;
  std::string label;  ///< "llama-3.1-70b", "70B (shape of llama-3-70b)"
  std::string note;   ///< which shape was chosen, cross-checks
};

/// Weights of the balanced score, each >= 0; only their ratio matters.
struct Weights {
  double vram = 0.45, interconnect = 0.2, cost = 0.35;
};

struct Query {
  ModelChoice model;
  workload::Request request;
  planner::Constraints constraints;
  Objective objective = Objective::balanced;
  Weights weights;
  std::vector<std::string> providers{"aliyun"};  ///< empty: all
  std::vector<std::string> gpus, instances;      ///< filters; empty: all
  std::string region;
  int max_nodes = 16;
  std::optional<int> max_gpus;
  std::optional<Money> budget;
  std::optional<double> deadline_s;
  catalog::PriceKind price_kind = catalog::PriceKind::on_demand;
  std::string currency = "CNY";
  RdmaPolicy rdma = RdmaPolicy::preferred;
  bool include_retired = false;
  std::size_t top = 10;
  std::string as_of;                                  ///< date; "" the catalog's
  std::vector<std::pair<std::string, double>> rates;  ///< CNY for one unit, over the catalog's
  serving::Request serve;                             ///< mode serve only
  std::vector<serving::Quant> serve_formats;          ///< formats to compare; empty: serve.quant
  std::vector<serving::Arrival> trace;                ///< mode serve: replayed on each result
  std::shared_ptr<const serving::Model> draft;        ///< keeps serve.draft.model alive
  std::vector<int> sweep_gpus;  ///< `plan`: also this scaling study, ascending
  bool per_instance = false;    ///< results hold the best count of each type, not of each family
  bool pareto = false;          ///< `plan`: also the front of time against memory
  int threads = 0;              ///< 0: as many as the machine has; never changes the answer
};

enum class WarningCode : std::uint8_t {
  no_bf16,
  no_flash_attention,
  pcie_only,
  no_rdma,
  old_price,
  observed_price,
  no_price,
  unvalidated_gpu,
  unvalidated,
  tight_memory,
  capacity_bound,
  fragmentation,
  retired_type,
  note
};
enum class RejectCode : std::uint8_t {
  gpu_memory,
  host_memory,
  dtype_unsupported,
  no_legal_plan,
  budget,
  deadline,
  max_gpus,
  rdma_required,
  no_price,
  incomplete_facts
};
[[nodiscard]] std::string_view to_string(WarningCode code);
[[nodiscard]] std::string_view to_string(RejectCode code);
[[nodiscard]] std::string_view to_string(Objective value);

struct Warning {
  WarningCode code = WarningCode::note;
  std::string message;
};

struct Score {
  double total = 0, vram_fit = 0, interconnect = 0, cost = 0;
};

/// Another plan worth seeing beside the best.
struct Alternative {
  std::string why;
  planner::Candidate candidate;
};

/// How well an estimate of its kind is known; null until measured.
struct ErrorBand {
  std::optional<double> p50, p90;
};

struct ResultRow {
  int rank = 0;
  const catalog::Instance* instance = nullptr;  ///< null when the cluster was given by hand
  const catalog::Gpu* gpu = nullptr;
  int count = 1;
  catalog::Cluster cluster;
  workload::Training training;
  planner::Candidate best;
  double least_gpu_bytes = 0;  ///< a GPU, what the best split cannot do without: micro-batch 1,
                               ///< full recompute, nothing offloaded
  ErrorBand memory_band, performance_band;
  std::optional<cost::Quote> quote;
  cost::JobCost cost;
  Score score;
  std::vector<Alternative> alternatives;
  std::vector<std::string> reasons;
  std::vector<Warning> warnings;
  std::optional<serving::Option> serving;     ///< mode serve: in place of `best`
  std::optional<double> cost_per_1e6_tokens;  ///< mode serve: output tokens
  std::optional<double> cost_per_1e6_input;   ///< mode serve: the price split by GPU time
  std::optional<double> cost_per_1e6_output;  ///< between prompt and output tokens
  std::optional<serving::Simulation> replay;  ///< of query.trace, single requests left out
  double largest_context = 0;                 ///< mode serve: tokens of one request that fit
  serving::Saturation saturation;             ///< mode serve: where more clients gain nothing
  std::optional<double> cost_per_1e18_flops;  ///< model FLOPs, in the quote's currency
};

struct Rejected {
  const catalog::Instance* instance = nullptr;
  int count = 1;
  RejectCode code = RejectCode::gpu_memory;
  std::string message;
  std::optional<double> missing_bytes;
};

struct ParetoPoint {
  const catalog::Instance* instance = nullptr;
  int count = 1;
  double hours = 0;
  double total = 0;
};

/// One cluster size of a scaling study. `best` is empty when no plan fits.
struct SweepPoint {
  int gpus = 0;
  int nodes = 0;
  std::optional<planner::Candidate> best;
  double hours = 0;
  std::optional<double> total;  ///< cost of the job
  double efficiency = 0;        ///< tokens/s a GPU relative to the best point
  bool knee = false;            ///< last size before adding GPUs gains less than 80% of their share
  std::string reason;           ///< why nothing fits
};

/// Price kinds of the best instance beside each other.
struct PriceOption {
  cost::Quote quote;
  double hours = 0;  ///< with the interruptions expected of a spot price
  std::optional<double> total;
  std::optional<double> break_even_hours;  ///< hours of use a month from which it beats on-demand
};

/// Everything an answer holds; reports render it, nothing is computed later.
struct Ranking {
  std::string command;  ///< recommend, estimate, plan
  Query query;
  std::string catalog_date;
  model::ParameterCounts counts;
  std::vector<workload::Assumption> assumed;
  std::vector<ResultRow> results;
  std::vector<ParetoPoint> pareto;
  std::vector<Rejected> rejected;
  std::vector<std::string_view> fitting_families;  ///< of recommend: with a candidate that fits
  planner::SearchStats search;
  std::vector<Warning> warnings;
  std::vector<std::string> next_steps;     ///< advice lines under the table
  std::vector<SweepPoint> sweep;           ///< plan with sweep_gpus
  std::vector<planner::Candidate> front;   ///< plan with pareto: step time against memory
  std::vector<PriceOption> price_options;  ///< of the first result
  std::vector<std::string> relaxations;    ///< what would make something fit, when nothing does
};

/// Ranks instances, counts and plans. "Nothing fits" is a Ranking without results.
[[nodiscard]] Result<Ranking> recommend(const catalog::Catalog& catalog, const Query& query);

/// Named instances side by side (`compare`): the best count and plan of each type of
/// query.instances, whatever their provider. Errors: fewer than two names.
[[nodiscard]] Result<Ranking> compare(const catalog::Catalog& catalog, Query query);

/// One workload under one given plan on one cluster (`estimate`): exactly one result,
/// whose verdict may be does_not_fit. Fields of `query.constraints` fix the plan; free
/// ones are chosen by the search.
[[nodiscard]] Result<Ranking> estimate(const catalog::Catalog& catalog, const Query& query,
                                       const catalog::Cluster& cluster);

/// The best plans of one cluster (`plan`), query.top of them.
[[nodiscard]] Result<Ranking> plan(const catalog::Catalog& catalog, const Query& query,
                                   const catalog::Cluster& cluster);

}  // namespace gpuadvisor::advisor
