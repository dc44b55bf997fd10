#include "advisor/context.hpp"

#include <algorithm>
#include <thread>

namespace gpuadvisor::advisor {
namespace {

using workload::Framework;
using workload::Mode;

ErrorBand to_band(const workload::Band& band) { return {band.p50, band.p90}; }

bool splits_layers(const planner::Constraints& constraints) {
  return constraints.tp.value_or(1) > 1 || constraints.pp.value_or(1) > 1 ||
         constraints.vpp.value_or(1) > 1 || constraints.cp.value_or(1) > 1;
}

/// DeepSpeed's ZeRO alone does not split layers: asking for tp or pp means Megatron.
void imply_framework(Context& context) {
  const auto mode = context.request.mode.value_or(Mode::full_ft);
  if (context.request.framework || mode != Mode::full_ft) return;
  if (!splits_layers(context.query.constraints)) return;
  context.request.framework = Framework::megatron;
  context.assumed.push_back({"framework", "megatron", "--framework"});
}

}  // namespace

const Setup* Context::find_setup(std::string_view gpu) const {
  for (const auto& setup : setups)
    if (setup->gpu->id == gpu) return setup.get();
  return nullptr;
}

planner::SearchOptions Context::search_options(const Setup& setup) const {
  planner::SearchOptions options;
  options.constraints = query.constraints;
  options.error_p50 = setup.memory_band.p50.value_or(0.0);
  return options;
}

Result<Context> make_context(const catalog::Catalog& catalog, const Query& query) {
  Context context{catalog, query, query.request, cost::rates_of(catalog), query.as_of, {}, {}, {}};
  for (const auto& [currency, cny] : query.rates) context.rates.set(currency, cny);
  if (context.as_of.empty()) context.as_of = catalog.date();
  imply_framework(context);
  auto resolved = workload::resolve(context.request, query.model.architecture, nullptr);
  if (!resolved) return tl::unexpected(resolved.error());
  context.general_assumed = std::move(resolved->assumed);
  return context;
}

std::unique_ptr<Setup> make_setup(const Context& context, const catalog::Gpu& gpu) {
  auto setup = std::make_unique<Setup>();
  setup->gpu = &gpu;
  const auto& architecture = context.query.model.architecture;
  auto resolved = workload::resolve(context.request, architecture, &gpu);
  if (!resolved) {
    setup->refusal = resolved.error().message;
    return setup;
  }
  setup->assumed = std::move(resolved->assumed);
  const auto& training = resolved->training;
  setup->refusal = performance::refusal(gpu, training);
  setup->prepared = memory::prepare(architecture, training);
  setup->memory_band = to_band(workload::memory_band(training.mode, training.framework.id, gpu));
  setup->performance_band =
      to_band(workload::speed_band(training.mode, training.framework.id, gpu));
  return setup;
}

const Setup& add_setup(Context& context, const catalog::Gpu& gpu) {
  if (const Setup* found = context.find_setup(gpu.id)) return *found;
  context.setups.push_back(make_setup(context, gpu));
  return *context.setups.back();
}

int thread_count(const Query& query) {
  if (query.threads > 0) return query.threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

bool framework_is_open(const Query& query) {
  const auto mode = query.request.mode.value_or(Mode::full_ft);
  return mode == Mode::full_ft && !query.request.framework && !splits_layers(query.constraints);
}

}  // namespace gpuadvisor::advisor
