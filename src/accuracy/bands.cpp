#include <cmath>
#include <map>
#include <tuple>

#include "accuracy/summary.hpp"
#include "gpuadvisor/accuracy.hpp"

namespace gpuadvisor::accuracy {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // kind, method, class

std::string class_of(const std::string& name, const catalog::Catalog& catalog) {
  const catalog::Gpu* gpu = catalog.find_gpu(name);
  if (gpu == nullptr) return "other";
  return std::string(workload::band_class(*gpu));
}

}  // namespace

std::vector<ErrorBand> error_bands(const Report& report, const catalog::Catalog& catalog) {
  std::map<Key, std::vector<double>> errors;
  for (const Outcome& outcome : report.outcomes) {
    if (!outcome.relative_error || (outcome.quality != "A" && outcome.quality != "B")) continue;
    const std::string gpu_class = class_of(outcome.gpu, catalog);
    const double error = std::fabs(*outcome.relative_error);
    for (const Key& key :
         {Key{outcome.kind, "", ""}, Key{outcome.kind, outcome.method, ""},
          Key{outcome.kind, "", gpu_class}, Key{outcome.kind, outcome.method, gpu_class}})
      errors[key].push_back(error);
  }
  std::vector<ErrorBand> bands;
  for (const auto& [key, values] : errors) {
    if (values.size() < kFewestForBand) continue;
    bands.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), values.size(),
                     percentile(values, 0.5), percentile(values, 0.9)});
  }
  return bands;
}

}  // namespace gpuadvisor::accuracy
