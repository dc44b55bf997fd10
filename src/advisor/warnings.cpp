#include <fmt/format.h>

#include "advisor/words.hpp"

namespace gpuadvisor::advisor {
namespace {

using catalog::Fabric;

constexpr int kOldPriceDays = 180;
constexpr double kFragmentationFill = 0.85;  // of an interleaved plan's usable memory

class Collector {
 public:
  template <class... Args>
  void add(bool when, WarningCode code, fmt::format_string<Args...> text, Args&&... args) {
    if (when) found_.push_back({code, fmt::format(text, std::forward<Args>(args)...)});
  }
  std::vector<Warning> take() { return std::move(found_); }

 private:
  std::vector<Warning> found_;
};

void hardware_warnings(const ResultRow& row, Collector& out) {
  const auto& gpu = *row.gpu;
  out.add(!gpu.has_bf16(), WarningCode::no_bf16,
          "{} has no bf16: fp16 with loss scaling, which large models may not survive", gpu.id);
  out.add(!gpu.has_flash_attention_2(), WarningCode::no_flash_attention,
          "{} has no FlashAttention-2: attention scores are written to memory", gpu.id);
  const bool several = std::min(row.cluster.gpus, row.cluster.gpus_per_node) > 1;
  out.add(several && row.cluster.link == catalog::NodeLink::pcie, WarningCode::pcie_only,
          "the GPUs of a node reach each other over PCIe only, about {:.0f} GB/s for collectives",
          row.cluster.allreduce_bw / kGB);
  const bool rdma = row.cluster.fabric != Fabric::none && row.cluster.fabric != Fabric::tcp;
  out.add(
      row.cluster.nodes() > 1 && !rdma, WarningCode::no_rdma,
      "nodes are joined without RDMA: {:.0f}% of the step is exposed communication",
      100.0 * row.best.performance.breakdown.communication() / row.best.performance.step_time_s);
  const bool proven = gpu.planning_basis.substr(0, 6) == "proven";
  out.add(!proven, WarningCode::unvalidated_gpu,
          "no published training run on {}: its speed stands on {}", gpu.id,
          gpu.planning_basis.empty() ? std::string_view("inference") : gpu.planning_basis);
}

void memory_warnings(const ResultRow& row, Collector& out) {
  const double usable = row.cluster.gpu_memory_bytes;
  const double fill = row.best.memory.needed() / usable;
  out.add(row.best.verdict == memory::Verdict::tight, WarningCode::tight_memory,
          "memory is tight: {:.0f}% of what the GPU can allocate, within the error of the estimate",
          100.0 * fill);
  if (row.best.verdict == memory::Verdict::does_not_fit) return;
  const bool interleaved = row.best.plan.vpp > 1 && fill > kFragmentationFill;
  out.add(interleaved || row.best.memory.smi_bytes > usable, WarningCode::fragmentation,
          "the allocator may hold {} of {} by fragmentation; set expandable_segments:True",
          format_bytes(Bytes(row.best.memory.smi_bytes)), format_bytes(Bytes(usable)));
}

void price_warnings(const ResultRow& row, Collector& out) {
  const bool listed = row.instance != nullptr;
  out.add(listed && !row.quote, WarningCode::no_price,
          "no price known for {}; add one with --catalog", listed ? row.instance->name : "");
  out.add(row.quote && row.quote->kind == catalog::PriceKind::observed, WarningCode::observed_price,
          "the price is a sighting by {}, not the provider's list",
          row.quote ? row.quote->source : "");
  using catalog::InstanceStatus;
  out.add(
      listed && (row.instance->status == InstanceStatus::not_recommended ||
                 row.instance->status == InstanceStatus::retired),
      WarningCode::retired_type, "{} is {} by the provider", listed ? row.instance->name : "",
      listed && row.instance->status == InstanceStatus::retired ? "retired" : "not recommended");
}

}  // namespace

std::vector<Warning> warnings_of(const Context&, const ResultRow& row) {
  Collector out;
  hardware_warnings(row, out);
  memory_warnings(row, out);
  price_warnings(row, out);
  out.add(!row.memory_band.p50 || !row.performance_band.p50, WarningCode::unvalidated,
          "the error of this kind of estimate on {} is not known from measurements", row.gpu->id);
  return out.take();
}

std::optional<Warning> old_price_warning(const std::string& as_of,
                                         const std::vector<ResultRow>& rows) {
  int oldest = kOldPriceDays;
  std::string date;
  for (const auto& row : rows) {
    if (!row.quote || row.quote->date.size() != as_of.size()) continue;
    const int days = days_between(row.quote->date, as_of);
    if (days <= oldest) continue;
    oldest = days;
    date = row.quote->date;
  }
  if (date.empty()) return std::nullopt;
  return Warning{
      WarningCode::old_price,
      fmt::format("prices go back to {}, {} days before {}; --catalog FILE brings current "
                  "ones (format: data/schema/prices.schema.json)",
                  date, oldest, as_of)};
}

}  // namespace gpuadvisor::advisor
