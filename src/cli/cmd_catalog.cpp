// catalog list, show and validate.
#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/suggest.hpp"
#include "gpuadvisor/report.hpp"
#include "units/scan.hpp"

namespace gpuadvisor::cli {
namespace {

bool listed(const std::vector<std::string>& wanted, std::string_view value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

/// Does a filter such as "a100" name this GPU: whole, or up to a dash?
bool gpu_matches(const std::vector<std::string>& filters, const catalog::Instance& instance) {
  if (filters.empty()) return true;
  const std::string id = units::to_lower(instance.gpu.empty() ? instance.gpu_text : instance.gpu);
  return std::any_of(filters.begin(), filters.end(), [&](const std::string& filter) {
    const std::string wanted = units::to_lower(filter);
    return id == wanted || id.rfind(wanted + "-", 0) == 0;
  });
}

bool sold_in(const catalog::Instance& instance, std::string_view region) {
  return region.empty() || std::any_of(instance.prices.begin(), instance.prices.end(),
                                       [&](const auto& price) { return price.region == region; });
}

std::vector<const catalog::Instance*> select(const catalog::Catalog& catalog,
                                             const Arguments& arguments) {
  auto providers = arguments.list("provider");
  if (listed(providers, "all")) providers.clear();
  const auto gpus = arguments.list("gpu");
  const std::string_view region = arguments.value("region").value_or("");
  std::vector<const catalog::Instance*> instances;
  for (const catalog::Instance& instance : catalog.instances())
    if (listed(providers, instance.provider) && gpu_matches(gpus, instance) &&
        sold_in(instance, region))
      instances.push_back(&instance);
  return instances;
}

/// A GPU of the filter must exist, so that a slip does not read as "none".
Result<void> check_gpus(const catalog::Catalog& catalog, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string wanted = units::to_lower(name);
    const bool known =
        std::any_of(catalog.gpus().begin(), catalog.gpus().end(), [&](const catalog::Gpu& gpu) {
          const std::string id = units::to_lower(gpu.id);
          return id == wanted || id.rfind(wanted + "-", 0) == 0;
        });
    if (known) continue;
    const auto gpu = catalog.resolve_gpu(name, "--gpu");
    if (!gpu) return tl::unexpected(gpu.error());
  }
  return {};
}

}  // namespace

Result<Output> run_catalog_list(const Arguments& arguments, const Environment& environment) {
  const auto shown = presentation(arguments, environment);
  if (!shown) return tl::unexpected(shown.error());
  const auto loaded = load_catalog(arguments, environment);
  if (!loaded) return tl::unexpected(loaded.error());
  if (const auto ok = check_gpus(*loaded, arguments.list("gpu")); !ok)
    return tl::unexpected(ok.error());
  const auto instances = select(*loaded, arguments);
  Output output;
  output.text =
      report::render_instances(instances, {loaded->date(), {}}, shown->format, shown->style);
  if (instances.empty()) {
    output.status = kNegative;
    output.notes = "no instance type matches\n";
  }
  return output;
}

Result<Output> run_catalog_show(const Arguments& arguments, const Environment& environment) {
  const auto shown = presentation(arguments, environment);
  if (!shown) return tl::unexpected(shown.error());
  const auto loaded = load_catalog(arguments, environment);
  if (!loaded) return tl::unexpected(loaded.error());
  const auto instance = loaded->resolve_instance(arguments.words.front(), "INSTANCE");
  if (!instance) return tl::unexpected(instance.error());
  const catalog::Gpu* gpu = loaded->find_gpu((*instance)->gpu);
  Output output;
  output.text =
      report::render_instance(**instance, gpu, {loaded->date(), {}}, shown->format, shown->style);
  return output;
}

Result<Output> run_catalog_validate(const Arguments& arguments, const Environment& environment) {
  Arguments with_path = arguments;
  for (const std::string& path : arguments.words) with_path.flags.push_back({"catalog", path});
  const auto loaded = load_catalog(with_path, environment);
  if (!loaded) return tl::unexpected(loaded.error());
  Output output;
  output.text = fmt::format("valid: {} GPUs, {} instance types, catalog date {}\n",
                            loaded->gpus().size(), loaded->instances().size(), loaded->date());
  return output;
}

}  // namespace gpuadvisor::cli
