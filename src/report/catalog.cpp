// Instances of the catalog: all in a list, or one with every fact and its source.
#include <algorithm>

#include <fmt/format.h>

#include "gpuadvisor/units.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/listing.hpp"

namespace gpuadvisor::report {
namespace {

std::string text_of(std::string_view text) { return std::string(text); }

/// A value that 0 means "unknown" for.
Json known(double value) { return value > 0 ? number(value) : Json(nullptr); }
Json known_bytes(double value) { return value > 0 ? whole(value) : Json(nullptr); }
Json known_count(int value) { return value > 0 ? Json(value) : Json(nullptr); }

Json price_json(const catalog::Price& price) {
  Json json = Json::object();
  json["price_kind"] = catalog::to_string(price.kind);
  json["region"] = text_or_null(price.region);
  json["currency"] = price.currency;
  json["price_per_hour"] = number(price.per_hour);
  json["price_date"] = text_or_null(price.date);
  json["price_source"] = text_or_null(price.source);
  return json;
}

Json texts_json(std::span<const std::string_view> texts) {
  Json array = Json::array();
  for (const std::string_view text : texts) array.push_back(text);
  return array;
}

Json sources_json(std::span<const catalog::Source> sources) {
  Json array = Json::array();
  for (const catalog::Source& source : sources) array.push_back(source_json(source));
  return array;
}

Json gpu_json(const catalog::Gpu& gpu) {
  Json json = Json::object();
  json["id"] = gpu.id;
  json["vendor"] = gpu.vendor;
  json["architecture"] = gpu.architecture;
  json["compute_capability"] = known(gpu.compute_capability);
  json["memory_usable_bytes"] = known_bytes(gpu.memory_usable_bytes);
  json["memory_type"] = text_or_null(gpu.memory_type);
  json["memory_bandwidth_bytes_per_s"] = known(gpu.memory_bandwidth);
  Json rates = Json::object();
  rates["fp64"] = known(gpu.fp64);
  rates["fp32"] = known(gpu.fp32);
  rates["tf32"] = known(gpu.tf32);
  rates["fp16"] = known(gpu.fp16);
  rates["bf16"] = known(gpu.bf16);
  rates["fp8"] = known(gpu.fp8);
  rates["fp4"] = known(gpu.fp4);
  rates["int8"] = known(gpu.int8);
  json["peak_flops_per_s"] = std::move(rates);
  json["sustained_16bit_flops_per_s"] = known(gpu.r16);
  json["sustained_fp8_flops_per_s"] = known(gpu.r8);
  json["nvlink_bytes_per_s"] = known(gpu.nvlink_bandwidth);
  json["pcie_generation"] = known(gpu.pcie_generation);
  json["tdp_w"] = known(gpu.tdp_w);
  json["planning_basis"] = text_or_null(gpu.planning_basis);
  json["sources"] = sources_json(gpu.sources);
  json["notes"] = texts_json(gpu.notes);
  return json;
}

Json facts_json(const catalog::Instance& instance, const catalog::Gpu* gpu) {
  Json json = instance_json(instance);
  Json prices = Json::array();
  for (const catalog::Price& price : instance.prices) prices.push_back(price_json(price));
  json["prices"] = std::move(prices);
  json["sources"] = sources_json(instance.sources);
  json["notes"] = texts_json(instance.notes);
  json["gpu_facts"] = gpu != nullptr ? gpu_json(*gpu) : Json(nullptr);
  return json;
}

/// The cheapest on-demand price, for the list.
const catalog::Price* list_price(const catalog::Instance& instance) {
  const catalog::Price* best = nullptr;
  for (const catalog::Price& price : instance.prices)
    if (price.kind == catalog::PriceKind::on_demand &&
        (best == nullptr || (price.currency == best->currency && price.per_hour < best->per_hour)))
      best = &price;
  return best;
}

Cell size_cell(double bytes) {
  return bytes > 0 ? Cell{gib(bytes), format_number(bytes, 0)} : Cell{"-", ""};
}

Cell rate_cell(double bytes_per_s) {
  return bytes_per_s > 0 ? Cell{short_number(bytes_per_s * 8 / 1e9), raw_number(bytes_per_s)}
                         : Cell{"-", ""};
}

Grid instances_grid(std::span<const catalog::Instance* const> instances) {
  Grid grid;
  grid.columns = {{"provider", "provider", Align::left, 3},
                  {"instance", "instance"},
                  {"status", "status", Align::left, 5},
                  {"gpu", "GPU"},
                  {"gpus", "GPUs", Align::right},
                  {"gpu_memory_bytes", "GiB/GPU", Align::right, 1},
                  {"vcpus", "vCPU", Align::right, 4},
                  {"memory_bytes", "GiB", Align::right, 4},
                  {"rdma", "RDMA", Align::left, 2},
                  {"rdma_bytes_per_s", "Gbit/s", Align::right, 6},
                  {"price_per_hour", "per hour", Align::right, 0},
                  {"currency", "currency", Align::left, 9, true},
                  {"region", "region", Align::left, 7}};
  for (const catalog::Instance* instance : instances) {
    const catalog::Price* price = list_price(*instance);
    grid.rows.push_back(
        {text_of(instance->provider), text_of(instance->name),
         text_of(catalog::to_string(instance->status)),
         text_of(instance->gpu.empty() ? instance->gpu_text : instance->gpu),
         instance->gpu_fraction < 1
             ? fmt::format("{}", instance->gpu_fraction * std::max(instance->gpus, 1))
             : fmt::format("{}", instance->gpus),
         size_cell(instance->gpu_memory_bytes),
         instance->vcpus > 0 ? fmt::format("{}", instance->vcpus) : std::string("-"),
         size_cell(instance->memory_bytes), text_of(catalog::to_string(instance->rdma)),
         rate_cell(instance->rdma_bandwidth),
         price != nullptr
             ? Cell{fmt::format("{} {}", format_number(price->per_hour, 2), price->currency),
                    raw_number(price->per_hour)}
             : Cell{"no price", ""},
         price != nullptr ? text_of(price->currency) : std::string(),
         price != nullptr ? text_of(price->region) : std::string()});
  }
  return grid;
}

void add_fact(Grid& grid, const char* name, std::string value) {
  if (!value.empty()) grid.rows.push_back({std::string(name), std::move(value)});
}

std::string bandwidth_text(double bytes_per_s) {
  return bytes_per_s > 0 ? short_number(bytes_per_s * 8 / 1e9) + " Gbit/s" : std::string();
}

/// "page, 2026-01-31 (inferred), CC-BY-4.0: memory, network"
std::string source_text(const catalog::Source& source) {
  std::string text(source.text);
  if (!source.date.empty()) text.append(", ").append(source.date);
  if (source.inferred) text += " (inferred)";
  if (!source.licence.empty()) text.append(", ").append(source.licence);
  if (!source.fields.empty()) text.append(": ").append(source.fields);
  return text;
}

void add_gpu_facts(Grid& grid, const catalog::Gpu& gpu) {
  const auto tera = [](double rate) {
    return rate > 0 ? short_number(rate / 1e12) : std::string("-");
  };
  add_fact(grid, "GPU architecture", fmt::format("{} {}", gpu.vendor, gpu.architecture));
  add_fact(grid, "peak TFLOP/s",
           fmt::format("fp64 {}, fp32 {}, fp16 {}, bf16 {}, fp8 {}", tera(gpu.fp64), tera(gpu.fp32),
                       tera(gpu.fp16), tera(gpu.bf16), tera(gpu.fp8)));
  add_fact(grid, "sustained TFLOP/s",
           fmt::format("16-bit {}, fp8 {} ({})", tera(gpu.r16), tera(gpu.r8), gpu.planning_basis));
  add_fact(grid, "GPU memory rate",
           fmt::format("{} GB/s {}", short_number(gpu.memory_bandwidth / 1e9), gpu.memory_type));
  for (const catalog::Source& source : gpu.sources)
    add_fact(grid, "GPU source", source_text(source));
  for (const std::string_view note : gpu.notes) add_fact(grid, "GPU note", text_of(note));
}

Grid facts_grid(const catalog::Instance& instance, const catalog::Gpu* gpu) {
  Grid grid;
  grid.columns = {{"fact", "fact"}, {"value", "value"}};
  add_fact(grid, "instance", text_of(instance.name));
  add_fact(grid, "provider", text_of(instance.provider));
  add_fact(grid, "family", text_of(instance.family));
  add_fact(grid, "kind", text_of(catalog::to_string(instance.kind)));
  add_fact(grid, "status", text_of(catalog::to_string(instance.status)));
  add_fact(grid, "GPU",
           fmt::format("{} x {}", instance.gpus,
                       instance.gpu.empty() ? instance.gpu_text : instance.gpu));
  add_fact(
      grid, "usable memory a GPU",
      instance.gpu_memory_bytes > 0 ? format_bytes(Bytes(instance.gpu_memory_bytes)) : "unknown");
  add_fact(grid, "vCPU", instance.vcpus > 0 ? fmt::format("{}", instance.vcpus) : "unknown");
  add_fact(grid, "memory",
           instance.memory_bytes > 0 ? format_bytes(Bytes(instance.memory_bytes)) : "unknown");
  add_fact(grid, "GPU link", text_of(catalog::to_string(instance.link)));
  add_fact(grid, "network", bandwidth_text(instance.network_bandwidth));
  add_fact(grid, "RDMA",
           instance.rdma_known ? fmt::format("{} {}", catalog::to_string(instance.rdma),
                                             bandwidth_text(instance.rdma_bandwidth))
                               : "the source does not say");
  add_fact(grid, "local disk",
           instance.local_disk_bytes > 0 ? format_bytes(Bytes(instance.local_disk_bytes))
                                         : std::string());
  for (const catalog::Price& price : instance.prices)
    add_fact(
        grid, "price",
        fmt::format("{}/h {} {} {} ({})", format_money({price.per_hour, text_of(price.currency)}),
                    catalog::to_string(price.kind), price.region,
                    price.date.empty() ? std::string_view("undated") : price.date, price.source));
  for (const catalog::Source& source : instance.sources)
    add_fact(grid, "source", source_text(source));
  for (const std::string_view note : instance.notes) add_fact(grid, "note", text_of(note));
  if (gpu != nullptr) add_gpu_facts(grid, *gpu);
  return grid;
}

}  // namespace

Json source_json(const catalog::Source& source) {
  Json json = Json::object();
  json["text"] = source.text;
  json["date"] = text_or_null(source.date);
  json["inferred"] = source.inferred;
  json["fields"] = text_or_null(source.fields);
  json["licence"] = text_or_null(source.licence);
  return json;
}

Json instance_json(const catalog::Instance& instance) {
  Json json = Json::object();
  json["instance"] = instance.name;
  json["provider"] = instance.provider;
  json["family"] = instance.family;
  json["kind"] = catalog::to_string(instance.kind);
  json["status"] = catalog::to_string(instance.status);
  json["gpu"] = text_or_null(instance.gpu);
  json["gpu_text"] = text_or_null(instance.gpu_text);
  json["gpus"] = instance.gpus;
  json["gpu_fraction"] = number(instance.gpu_fraction);
  json["gpu_memory_bytes"] = known_bytes(instance.gpu_memory_bytes);
  json["vcpus"] = known_count(instance.vcpus);
  json["memory_bytes"] = known_bytes(instance.memory_bytes);
  json["network_bytes_per_s"] = known(instance.network_bandwidth);
  json["rdma"] = instance.rdma_known ? Json(catalog::to_string(instance.rdma)) : Json(nullptr);
  json["rdma_bytes_per_s"] = known(instance.rdma_bandwidth);
  json["link"] = catalog::to_string(instance.link);
  json["link_bytes_per_s"] = known(instance.link_bandwidth);
  json["local_disk_bytes"] = known_bytes(instance.local_disk_bytes);
  json["cpu"] = text_or_null(instance.cpu);
  const catalog::Price* price = list_price(instance);
  json["currency"] = price != nullptr ? Json(price->currency) : Json(nullptr);
  json["price_per_hour"] = price != nullptr ? number(price->per_hour) : Json(nullptr);
  json["region"] = price != nullptr ? text_or_null(price->region) : Json(nullptr);
  return json;
}

std::string render_instances(std::span<const catalog::Instance* const> instances,
                             const Frame& frame, Format format, const Style& style) {
  if (format != Format::json) return grid_text(instances_grid(instances), format, style);
  Json json = document(frame.catalog_date);
  Json list = Json::array();
  for (const catalog::Instance* instance : instances) list.push_back(instance_json(*instance));
  json["instances"] = std::move(list);
  json["warnings"] = to_json(frame.warnings);
  return dump(json);
}

std::string render_instance(const catalog::Instance& instance, const catalog::Gpu* gpu,
                            const Frame& frame, Format format, const Style& style) {
  if (format != Format::json) return facts_text(facts_grid(instance, gpu), format, style);
  Json json = document(frame.catalog_date);
  json.update(facts_json(instance, gpu));
  json["warnings"] = to_json(frame.warnings);
  return dump(json);
}

}  // namespace gpuadvisor::report
