// How fast plans are searched and instances are ranked. Start-up is not included.
#include <benchmark/benchmark.h>

#include "gpuadvisor/advisor.hpp"

namespace {

using namespace gpuadvisor;

struct Job {
  memory::Prepared prepared;
  catalog::Cluster cluster;
};

Job job_of(const char* preset, workload::Mode mode, const char* gpu, int gpus,
           std::int64_t global_batch, workload::Framework framework) {
  const auto& catalog = catalog::Catalog::embedded();
  const auto* part = catalog.find_gpu(gpu);
  const auto& architecture = model::resolve_preset(preset, "bench").value()->architecture;
  workload::Request request;
  request.mode = mode;
  request.framework = framework;
  request.global_batch = global_batch;
  request.seq_len = 2048;
  const auto resolved = workload::resolve(request, architecture, part).value();
  return {memory::prepare(architecture, resolved.training),
          catalog::make_cluster(*part, gpus, 8, 200e9, catalog::Fabric::infiniband)};
}

Job gpt_175b_on_1024() {
  return job_of("gpt3-175b", workload::Mode::pretrain, "A100-SXM4-80GB", 1024, 1536,
                workload::Framework::megatron);
}

/// Every plan evaluated in memory and time, on one core: no rule prunes.
void exhaustive_search(benchmark::State& state) {
  const Job job = gpt_175b_on_1024();
  planner::SearchOptions options;
  options.rules.fill(false);
  std::int64_t plans = 0;
  for (auto _ : state)
    plans += static_cast<std::int64_t>(
        planner::search(job.prepared, job.cluster, options).stats.evaluated);
  state.SetItemsProcessed(plans);
}
BENCHMARK(exhaustive_search)->Unit(benchmark::kMillisecond);

/// `plan` for 175B on 1,024 A100; arg: threads.
void pruned_search(benchmark::State& state) {
  const Job job = gpt_175b_on_1024();
  planner::SearchOptions options;
  options.threads = static_cast<int>(state.range(0));
  planner::SearchStats stats;
  for (auto _ : state) stats = planner::search(job.prepared, job.cluster, options).stats;
  state.counters["in_space"] = static_cast<double>(stats.in_space);
  state.counters["evaluated"] = static_cast<double>(stats.evaluated);
}
BENCHMARK(pruned_search)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

/// The GPT-shaped 70B (all heads, ffn 43,008) on 64 A100 with batch 256 for which the
/// best open planner reports TP4 x PP2 x DP8, 38.3 s a step, after 326 s of search
/// over 140,242 configurations on two processes. The label is our best plan.
void search_70b_on_64(benchmark::State& state) {
  Job job = job_of("gpt3-175b", workload::Mode::pretrain, "A100-SXM4-80GB", 64, 256,
                   workload::Framework::megatron);
  auto architecture = job.prepared.architecture;
  architecture.layers = 80;
  architecture.hidden = 8192;
  architecture.heads = architecture.kv_heads = 64;
  architecture.head_dim = 128;
  architecture.ffn = 43008;
  architecture.learned_positions = architecture.max_positions = 4096;
  architecture.kind_count = 0;
  model::fill_uniform_layers(architecture);
  auto training = job.prepared.training;
  training.seq_len = 4096;
  job.prepared = memory::prepare(architecture, training);
  planner::SearchResult found;
  for (auto _ : state) found = planner::search(job.prepared, job.cluster, {});
  state.counters["in_space"] = static_cast<double>(found.stats.in_space);
  state.counters["step_s"] = found.best.at(0).performance.step_time_s;
  state.SetLabel(workload::describe(found.best.at(0).plan));
}
BENCHMARK(search_70b_on_64)->Unit(benchmark::kMillisecond);

void search_16384_gpus(benchmark::State& state) {
  const Job job = job_of("gpt-1t", workload::Mode::pretrain, "H100-SXM", 16384, 16384,
                         workload::Framework::megatron);
  planner::SearchOptions options;
  options.threads = 2;
  for (auto _ : state)
    benchmark::DoNotOptimize(planner::search(job.prepared, job.cluster, options));
}
BENCHMARK(search_16384_gpus)->Unit(benchmark::kMillisecond);

/// Model and plan to memory and time, with nothing tabulated before.
void cold_estimate(benchmark::State& state) {
  const Job job = gpt_175b_on_1024();
  const auto plan = planner::search(job.prepared, job.cluster, {}).best.at(0).plan;
  for (auto _ : state)
    benchmark::DoNotOptimize(planner::evaluate(job.prepared, plan, job.cluster, {}));
}
BENCHMARK(cold_estimate)->Unit(benchmark::kMicrosecond);

void prepare_model(benchmark::State& state) {
  const Job job = gpt_175b_on_1024();
  for (auto _ : state)
    benchmark::DoNotOptimize(memory::prepare(job.prepared.architecture, job.prepared.training));
}
BENCHMARK(prepare_model)->Unit(benchmark::kMicrosecond);

void whole_recommend(benchmark::State& state, double parameters, workload::Mode mode,
                     std::optional<int> max_gpus) {
  advisor::Query query;
  query.model.architecture = model::synthesize(parameters, std::nullopt).value().architecture;
  query.request.mode = mode;
  query.max_gpus = max_gpus;
  planner::SearchStats stats;
  for (auto _ : state)
    stats = advisor::recommend(catalog::Catalog::embedded(), query).value().search;
  state.counters["in_space"] = static_cast<double>(stats.in_space);
  state.counters["evaluated"] = static_cast<double>(stats.evaluated);
}
BENCHMARK_CAPTURE(whole_recommend, full_ft_70b, 70e9, workload::Mode::full_ft, std::nullopt)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(whole_recommend, lora_7b, 7e9, workload::Mode::lora, std::nullopt)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(whole_recommend, pretrain_175b, 175e9, workload::Mode::pretrain, 1024)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
