#include "workload/bands.hpp"

#include <algorithm>
#include <iterator>

#include "bands_data.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::workload {
namespace {

const BandRecord* find_band(std::string_view kind, std::string_view method,
                            std::string_view gpu_class, std::string_view gpu) {
  const auto found =
      std::find_if(std::begin(kBands), std::end(kBands), [&](const BandRecord& record) {
        return record.kind == kind && record.method == method && record.gpu_class == gpu_class &&
               record.gpu == gpu;
      });
  return found == std::end(kBands) ? nullptr : &*found;
}

/// The part's own record, else that of the method on its class of GPU, else the wider of
/// method and class, else all.
Band look_up(std::string_view kind, std::string_view method, const catalog::Gpu& gpu) {
  const std::string_view gpu_class = band_class(gpu);
  const BandRecord* record = find_band(kind, {}, {}, gpu.id);
  if (record == nullptr) record = find_band(kind, method, gpu_class, {});
  if (record == nullptr) {
    const BandRecord* by_method = find_band(kind, method, {}, {});
    const BandRecord* by_class = find_band(kind, {}, gpu_class, {});
    record = by_method != nullptr ? by_method : by_class;
    if (by_method != nullptr && by_class != nullptr && by_class->p90 > by_method->p90)
      record = by_class;
  }
  if (record == nullptr) record = find_band(kind, {}, {}, {});
  return record == nullptr ? Band{} : Band{record->p50, record->p90};
}

/// A part without training rows of its own is known no better than parts that were left
/// out of a fit.
Band widen_unproven(Band band, std::string_view kind, const catalog::Gpu& gpu) {
  const bool own = find_band(kind, {}, {}, gpu.id) != nullptr;
  if (own || gpu.planning_basis.find("proven") != std::string_view::npos) return band;
  const BandRecord* left_out = find_band(kind, {}, "unproven", {});
  if (left_out == nullptr || !band.p50 || !band.p90) return band;
  return {std::max(*band.p50, left_out->p50), std::max(*band.p90, left_out->p90)};
}

/// Preference tuning keeps the states of full fine-tuning.
std::string_view band_method(Mode mode) {
  return to_string(mode == Mode::dpo ? Mode::full_ft : mode);
}

}  // namespace

std::span<const BandRecord> band_records() { return kBands; }

std::string_view band_class(const catalog::Gpu& gpu) {
  struct Class {
    double capability;
    std::string_view name;
  };
  constexpr Class kClasses[] = {{7.0, "volta"},       {7.5, "turing"}, {8.0, "ampere"},
                                {8.6, "ampere-pcie"}, {8.9, "ada"},    {9.0, "hopper"},
                                {10.0, "blackwell"}};
  std::string_view name = "other";
  for (const Class& entry : kClasses)
    if (gpu.compute_capability >= entry.capability) name = entry.name;
  return name;
}

Band memory_band(Mode mode, Framework /*framework*/, const catalog::Gpu& gpu) {
  return look_up(mode == Mode::serve ? "serve_memory" : "train_memory", band_method(mode), gpu);
}

Band speed_band(Mode mode, Framework /*framework*/, const catalog::Gpu& gpu) {
  const std::string_view kind = mode == Mode::serve ? "serve_speed" : "train_speed";
  return widen_unproven(look_up(kind, band_method(mode), gpu), kind, gpu);
}

}  // namespace gpuadvisor::workload
