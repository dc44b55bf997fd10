#include "advisor/candidates.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gpuadvisor::advisor {
namespace {

using catalog::Instance;
using catalog::InstanceKind;
using catalog::InstanceStatus;

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

/// Filters resolved once: exact ids, so that aliases and near misses work.
struct Filter {
  std::vector<std::string_view> gpus, instances;
};

Result<Filter> resolve_filter(const Context& context) {
  Filter filter;
  for (const auto& name : context.query.gpus) {
    auto gpu = context.catalog.resolve_gpu(name, "--gpu");
    if (!gpu) return tl::unexpected(gpu.error());
    filter.gpus.push_back((*gpu)->id);
  }
  for (const auto& name : context.query.instances) {
    auto instance = context.catalog.resolve_instance(name, "--instance");
    if (!instance) return tl::unexpected(instance.error());
    filter.instances.push_back((*instance)->name);
  }
  return filter;
}

bool named(const Filter& filter, const Instance& instance) {
  return contains(filter.instances, instance.name);
}

bool status_admits(const Query& query, const Instance& instance) {
  switch (instance.status) {
    case InstanceStatus::documented:
    case InstanceStatus::not_recommended:
    case InstanceStatus::incomplete:
      return true;
    case InstanceStatus::retired:
    case InstanceStatus::invitational:
      return query.include_retired;
    case InstanceStatus::undocumented:
      break;
  }
  return false;
}

bool admitted(const Query& query, const Filter& filter, const Instance& instance) {
  if (!filter.gpus.empty() && !contains(filter.gpus, instance.gpu)) return false;
  if (!filter.instances.empty()) return named(filter, instance);
  const bool serving = query.request.mode == workload::Mode::serve;
  if (instance.kind == InstanceKind::vgpu && !serving) return false;
  return status_admits(query, instance);
}

bool asked_provider(const Query& query, const Filter& filter, const Instance& instance) {
  return query.providers.empty() || named(filter, instance) ||
         contains(query.providers, instance.provider);
}

std::string missing_facts(const Instance& instance, const catalog::Gpu* gpu) {
  std::string missing;
  const auto add = [&](const char* what) {
    missing += missing.empty() ? what : fmt::format(", {}", what);
  };
  if (gpu == nullptr) add("GPU part");
  if (instance.gpus <= 0) add("number of GPUs");
  if (instance.vcpus <= 0) add("vCPUs");
  if (instance.memory_bytes <= 0) add("memory");
  if (instance.gpu_memory_bytes <= 0) add("GPU memory");
  return missing;
}

/// Several nodes make sense of whole machines: 8-GPU types, or a family's largest.
bool may_repeat(const catalog::Catalog& catalog, const Instance& instance) {
  if (instance.kind == InstanceKind::vgpu) return false;
  if (instance.gpus >= 8) return true;
  for (const auto& sister : catalog.instances())
    if (sister.provider == instance.provider && sister.family == instance.family &&
        sister.gpus > instance.gpus)
      return false;
  return true;
}

int max_count(const Context& context, const Instance& instance) {
  const Query& query = context.query;
  const int allowed = query.max_gpus ? *query.max_gpus / instance.gpus : query.max_nodes;
  return may_repeat(context.catalog, instance) ? allowed : std::min(allowed, 1);
}

Rejected reject(const Instance& instance, RejectCode code, std::string message) {
  return {&instance, 1, code, std::move(message), std::nullopt};
}

std::optional<Rejected> reject_whole_type(const Context& context, const Instance& instance,
                                          const catalog::Gpu* gpu) {
  if (const auto missing = missing_facts(instance, gpu); !missing.empty())
    return reject(instance, RejectCode::incomplete_facts,
                  fmt::format("the sources do not state: {}", missing));
  const int most = max_count(context, instance);
  if (most < 1)
    return reject(instance, RejectCode::max_gpus,
                  fmt::format("{} GPUs in one instance, at most {} allowed", instance.gpus,
                              context.query.max_gpus.value_or(0)));
  return std::nullopt;
}

}  // namespace

Result<Offers> list_offers(const Context& context) {
  auto filter = resolve_filter(context);
  if (!filter) return tl::unexpected(filter.error());
  Offers found;
  for (const auto& instance : context.catalog.instances()) {
    if (!admitted(context.query, *filter, instance)) continue;
    const bool foreign = !asked_provider(context.query, *filter, instance);
    const auto* gpu = context.catalog.find_gpu(instance.gpu);
    if (auto rejected = reject_whole_type(context, instance, gpu)) {
      if (!foreign) found.rejected.push_back(std::move(*rejected));
      continue;
    }
    found.offers.push_back({&instance, gpu, max_count(context, instance), foreign});
  }
  return found;
}

std::vector<int> power_counts(int max_count) {
  std::vector<int> counts;
  for (int count = 1; count <= max_count; count *= 2) counts.push_back(count);
  return counts;
}

}  // namespace gpuadvisor::advisor
