// Properties of the real memory and time models that the pruning rules stand on, over
// random shapes, runs and clusters of the embedded catalog.
#include "test_support/catch.hpp"

#if __has_include(<rapidcheck.h>)
#include <rapidcheck.h>

#include "gpuadvisor/planner.hpp"
#include "planner/models.hpp"
#include "planner/search.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::planner;
using workload::Mode;

namespace {

struct Job {
  memory::Prepared prepared;
  catalog::Cluster cluster;
};

Job random_job() {
  const auto& presets = model::presets();
  const auto preset = *rc::gen::element<std::string_view>(
      "llama-2-7b", "llama-3.1-70b", "gpt3-175b", "mixtral-8x7b", "qwen2.5-0.5b", "gpt2");
  const auto* found = model::find_preset(preset);
  const auto& architecture = found != nullptr ? found->architecture : presets.front().architecture;
  workload::Request request;
  request.mode = *rc::gen::element(Mode::pretrain, Mode::full_ft, Mode::lora, Mode::qlora);
  request.seq_len = *rc::gen::element<std::int64_t>(512, 1024);
  request.global_batch = *rc::gen::element<std::int64_t>(8, 48, 64);
  if (*rc::gen::element(0, 1) == 1 && request.mode != Mode::qlora)
    request.framework = *rc::gen::element(workload::Framework::megatron, workload::Framework::fsdp,
                                          workload::Framework::torchtitan);
  const auto name = *rc::gen::element<std::string_view>("A10", "A100-SXM4-80GB", "H800-SXM",
                                                        "H20-96GB", "V100-SXM2-32GB", "T4");
  const auto* gpu = catalog::Catalog::embedded().find_gpu(name);
  const auto training = workload::resolve(request, architecture, gpu).value().training;
  Job job{memory::prepare(architecture, training),
          catalog::make_cluster(*gpu, *rc::gen::element(1, 4, 8, 16), 8, 25e9,
                                *rc::gen::element(catalog::Fabric::tcp, catalog::Fabric::roce))};
  job.cluster.host_memory_bytes = *rc::gen::element(100e9, 1000e9);
  return job;
}

}  // namespace

TEST_CASE("property: bounds never exceed the estimates") {
  CHECK(rc::check([] {
    const Job job = random_job();
    RealModels models(job.prepared, job.cluster);
    for_each_plan(job.prepared.architecture, job.prepared.training, job.cluster, {},
                  [&](const workload::Plan& plan) {
                    const auto memory = models.memory(plan);
                    const auto performance = models.performance(plan);
                    RC_ASSERT(models.static_bytes(plan) * kRoundingSlack <= memory.needed());
                    RC_ASSERT(models.time_bound(plan) * kRoundingSlack <= performance.step_time_s);
                    return true;
                  });
  }));
}

TEST_CASE("property: pruned search on the real models equals exhaustive search") {
  CHECK(rc::check([] {
    const Job job = random_job();
    SearchOptions options;
    options.top = *rc::gen::element<std::size_t>(1, 5);
    SearchOptions exhaustive = options;
    exhaustive.rules.fill(false);
    const auto pruned = search(job.prepared, job.cluster, options);
    const auto truth = search(job.prepared, job.cluster, exhaustive);
    RC_ASSERT(truth.stats.evaluated == truth.stats.in_space);
    RC_ASSERT(pruned.best.size() == truth.best.size());
    for (std::size_t at = 0; at < truth.best.size(); ++at) {
      RC_ASSERT(pruned.best[at].plan == truth.best[at].plan);
      RC_ASSERT(pruned.best[at].performance.step_time_s == truth.best[at].performance.step_time_s);
    }
  }));
}
#endif
