#include "catalog/reader.hpp"

#include <string>

namespace gpuadvisor::catalog {
namespace {

constexpr auto kBytes = Dimension::bytes;
constexpr auto kBandwidth = Dimension::bandwidth;
constexpr auto kRate = Dimension::rate;

void read_memory(ObjectReader object, Gpu& gpu) {
  gpu.memory_gb_nominal = object.quantity("nominal", kBytes) / kGB;
  gpu.memory_usable_bytes = object.optional_quantity("usable", kBytes);
  gpu.memory_smi_bytes = object.optional_quantity("smi_total", kBytes);
  gpu.memory_type = object.optional_text("type");
  gpu.memory_bandwidth = object.optional_quantity("bandwidth", kBandwidth);
  if (object.ok() && gpu.memory_gb_nominal <= 0)
    object.refuse("nominal", "expected more than 0 bytes");
  object.finish();
}

void read_rates(ObjectReader object, Gpu& gpu) {
  gpu.fp64 = object.optional_quantity("fp64", kRate);
  gpu.fp32 = object.optional_quantity("fp32", kRate);
  gpu.tf32 = object.optional_quantity("tf32", kRate);
  gpu.fp16 = object.optional_quantity("fp16", kRate);
  gpu.bf16 = object.optional_quantity("bf16", kRate);
  gpu.fp8 = object.optional_quantity("fp8", kRate);
  gpu.fp4 = object.optional_quantity("fp4", kRate);
  gpu.int8 = object.optional_quantity("int8", kRate);
  object.finish();
}

void read_nvlink(ObjectReader object, Gpu& gpu) {
  gpu.nvlink_bandwidth = object.quantity("bandwidth", kBandwidth);
  gpu.nvlink_generation = object.optional_integer("generation", 1, 20, 0);
  object.finish();
}

void read_planning(ObjectReader object, Gpu& gpu) {
  gpu.r16 = object.optional_quantity("matmul_16bit", kRate);
  gpu.r8 = object.optional_quantity("matmul_fp8", kRate);
  gpu.allreduce_bw = object.optional_quantity("all_reduce", kBandwidth);
  gpu.allgather_bw = object.optional_quantity("all_gather", kBandwidth);
  gpu.fa2 = object.optional_quantity("flash_attention_2", kRate);
  gpu.fa3 = object.optional_quantity("flash_attention_3", kRate);
  gpu.h2d_bw = object.optional_quantity("host_to_device", kBandwidth);
  gpu.latency_s = object.optional_quantity("latency", Dimension::time);
  gpu.power_limited = object.optional_flag("power_limited", false);
  gpu.planning_basis = object.text("basis");
  object.finish();
}

/// Usable memory where no log of the framework's total is known. The shares are the
/// least that the known parts show: 0.97 of nvidia-smi's total, 0.91 GiB a nominal GB.
std::string_view derive_usable(Gpu& gpu) {
  if (gpu.memory_usable_bytes > 0) return {};
  if (gpu.memory_smi_bytes > 0) {
    gpu.memory_usable_bytes = 0.97 * gpu.memory_smi_bytes;
    return "memory.usable: derived as 0.97 of the total that nvidia-smi shows";
  }
  gpu.memory_usable_bytes = 0.91 * gpu.memory_gb_nominal * kGiB;
  return "memory.usable: derived as 0.91 GiB for each nominal GB";
}

std::span<const std::string_view> with_note(Records& records,
                                            std::span<const std::string_view> notes,
                                            std::string_view note) {
  if (note.empty()) return notes;
  std::vector<std::string_view> list(notes.begin(), notes.end());
  list.push_back(note);
  return records.keep(std::move(list));
}

std::span<const Source> read_sources(ObjectReader& object) {
  std::vector<Source> list;
  for (ObjectReader& member : object.objects("sources")) list.push_back(read_source(member));
  if (object.ok() && list.empty()) object.refuse("sources", "expected at least one source");
  return object.records().keep(std::move(list));
}

}  // namespace

void derive_planning(Gpu& gpu) {
  const auto fill = [](double& value, double rule) {
    if (value <= 0) value = rule;
  };
  const double peak = gpu.bf16 > 0 ? gpu.bf16 : gpu.fp16 > 0 ? gpu.fp16 : gpu.fp32;
  fill(gpu.r16, (gpu.tdp_w > 0 && gpu.tdp_w <= 165 ? 0.5 : 0.8) * peak);
  fill(gpu.r8, 0.7 * gpu.fp8);
  const double link = gpu.nvlink_bandwidth > 0 ? 0.8 * gpu.nvlink_bandwidth / 2 : 8e9;
  fill(gpu.allreduce_bw, link);
  fill(gpu.allgather_bw, link);
  const bool flash = gpu.compute_capability >= 8.0 || gpu.compute_capability == 0;
  if (flash && gpu.bf16 > 0) {
    const bool hopper = gpu.compute_capability >= 9.0 && gpu.compute_capability < 10.0;
    fill(gpu.fa2, (hopper ? 0.45 : 0.75) * gpu.r16);
    fill(gpu.fa3, 0.75 * gpu.r16);
  }
  fill(gpu.h2d_bw, gpu.pcie_generation >= 5 ? 51e9 : gpu.pcie_generation >= 4 ? 24e9 : 12e9);
  fill(gpu.latency_s, 20e-6);
}

void read_gpu(ObjectReader& object, const std::string& place, Draft& draft) {
  Gpu gpu;
  gpu.id = object.text("id");
  gpu.vendor = object.text("vendor");
  gpu.architecture = object.optional_text("architecture");
  gpu.compute_capability = object.optional_number("compute_capability", 0, 99, 0);
  gpu.aliases = object.optional_texts("aliases");
  read_memory(object.object("memory"), gpu);
  read_rates(object.object("dense_rates"), gpu);
  if (auto nvlink = object.optional_object("nvlink")) read_nvlink(*nvlink, gpu);
  gpu.pcie_generation = object.optional_number("pcie_generation", 1, 9, 0);
  gpu.tdp_w = object.optional_quantity("tdp", Dimension::power);
  gpu.sm = object.integer("multiprocessors", 1, 10000);
  gpu.planning_basis = "derived by rule from the peak rates";
  if (auto planning = object.optional_object("planning")) read_planning(*planning, gpu);
  derive_planning(gpu);
  gpu.checked = object.date("checked");
  gpu.sources = read_sources(object);
  const auto notes = object.optional_texts("notes");
  gpu.notes = with_note(object.records(), notes, derive_usable(gpu));
  if (object.ok() && gpu.memory_usable_bytes > gpu.memory_gb_nominal * kGiB)
    object.refuse("memory/usable", "expected no more than the nominal size");
  draft.records.gpus.push_back(gpu);
  draft.gpu_places.push_back(place);
}

}  // namespace gpuadvisor::catalog
