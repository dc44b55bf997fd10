#include "emit/parts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gpuadvisor::emit {

std::string_view format_words(serving::Quant quant) {
  return quant == serving::Quant::none ? "16-bit" : serving::to_string(quant);
}

std::string model_reference(const Job& job) {
  const model::Preset* preset = model::find_preset(job.query->model.architecture.name);
  if (preset != nullptr && !preset->hub_id.empty()) return std::string(preset->hub_id);
  return "${MODEL:?a hub id or a model folder}";
}

std::string describe_job(const Job& job) {
  const advisor::ResultRow& row = *job.row;
  const std::string where = row.instance != nullptr
                                ? fmt::format("{} x {}", row.count, row.instance->name)
                                : fmt::format("{} x {}", row.cluster.gpus, row.gpu->id);
  const std::string how = row.serving ? fmt::format("{}, {}", format_words(row.serving->quant),
                                                    serving::describe(row.serving->plan))
                                      : workload::describe(row.best.plan);
  return fmt::format("{} on {}: {}", job.query->model.label, where, how);
}

std::string script_head(const Job& job, std::string_view purpose) {
  return fmt::format("#!/usr/bin/env bash\n# {}\n# {}\nset -euo pipefail\n\n", describe_job(job),
                     purpose);
}

std::int64_t micro_batches(const Job& job) {
  return std::max<std::int64_t>(1, workload::micro_batches(job.row->training, job.row->best.plan));
}

bool offloads(const Job& job, std::uint8_t bit) { return (job.row->best.plan.offload & bit) != 0; }

}  // namespace gpuadvisor::emit
