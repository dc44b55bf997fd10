// What one step-time estimate costs: from nothing, and from a kept layer.
#include <benchmark/benchmark.h>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/performance.hpp"

namespace {

using namespace gpuadvisor;

struct Case {
  memory::Prepared prepared;
  catalog::Cluster cluster;
  workload::Plan plan;
};

Case case_of(const char* preset) {
  const auto* gpu = catalog::Catalog::embedded().find_gpu("H100-SXM");
  const auto& architecture = model::resolve_preset(preset, "bench").value()->architecture;
  workload::Request request;
  request.mode = workload::Mode::pretrain;
  request.global_batch = 1024;
  const auto resolved = workload::resolve(request, architecture, gpu).value();
  Case out{memory::prepare(architecture, resolved.training),
           catalog::make_cluster(*gpu, 1024, 8, 400e9, catalog::Fabric::infiniband),
           {}};
  out.plan.tp = 4, out.plan.pp = 8, out.plan.dp = 32, out.plan.sequence_parallel = true;
  out.plan.sharding = workload::Sharding::zero1;
  out.plan.grad_accum = 32;
  if (architecture.is_moe()) out.plan.ep = 8;
  return out;
}

void cold_estimate(benchmark::State& state, const char* preset) {
  const Case c = case_of(preset);
  for (auto _ : state)
    benchmark::DoNotOptimize(performance::estimate(c.prepared, c.plan, c.cluster));
}
BENCHMARK_CAPTURE(cold_estimate, dense, "llama-3.1-70b");
BENCHMARK_CAPTURE(cold_estimate, experts, "deepseek-v3");

void kept_estimate(benchmark::State& state, const char* preset) {
  Case c = case_of(preset);
  performance::LayerTable table(c.prepared, c.cluster);
  for (auto _ : state) {
    c.plan.vpp = c.plan.vpp == 1 ? 2 : 1;  // the key stays
    benchmark::DoNotOptimize(table.estimate(c.plan));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(kept_estimate, dense, "llama-3.1-70b");
BENCHMARK_CAPTURE(kept_estimate, experts, "deepseek-v3");

void lower_bound(benchmark::State& state) {
  const Case c = case_of("llama-3.1-70b");
  const performance::LayerTable table(c.prepared, c.cluster);
  for (auto _ : state) benchmark::DoNotOptimize(table.compute_lower_bound(c.plan));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(lower_bound);

}  // namespace
