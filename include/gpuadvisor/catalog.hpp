// What GPUs, instances, networks and prices exist. Records are plain views: the
// default catalog is a constant table made at build time from data/, overlays
// are read at run time into storage that the Catalog owns.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::catalog {

/// Where a value comes from. `date` is YYYY-MM-DD, YYYY-MM, or empty if undated.
struct Source {
  std::string_view text;
  std::string_view date;
  bool inferred = false;     ///< worked out or taken from a sister part, not read
  std::string_view fields;   ///< the values it supports ("memory.usable, tdp"); "" the whole record
  std::string_view licence;  ///< SPDX name where the source's data is licensed; "" plain facts
};

/// GPU collectives fabric between nodes.
enum class Fabric : std::uint8_t { none, tcp, erdma, roce, infiniband, efa, opa };

/// How the GPUs of one node reach each other.
enum class NodeLink : std::uint8_t { single, pcie, nvlink };

/// One GPU part. Rates are dense (no 2:4 sparsity); 0 means the part has no such
/// path, or the value is unknown (see `notes`).
struct Gpu {
  std::string_view id;             ///< "A100-SXM4-80GB"
  std::string_view vendor;         ///< "NVIDIA"
  std::string_view architecture;   ///< "Ampere GA100"
  double compute_capability = 0;   ///< 8.0; 0 for other vendors
  double memory_gb_nominal = 0;    ///< the marketing size, GB
  double memory_usable_bytes = 0;  ///< what the framework reports as total on this card
  double memory_smi_bytes = 0;     ///< total as nvidia-smi shows it; 0 unknown
  std::string_view memory_type;
  double memory_bandwidth = 0;  ///< nominal, bytes/s
  double fp64 = 0, fp32 = 0, tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0, fp4 = 0, int8 = 0;  ///< FLOP/s
  double nvlink_bandwidth = 0;  ///< both directions, all links, bytes/s; 0 none
  int nvlink_generation = 0;
  double pcie_generation = 0;  ///< 3, 4, 5
  double tdp_w = 0;
  // Planning values (sustained, as training or serving reaches them).
  int sm = 0;                       ///< streaming multiprocessors
  double r16 = 0;                   ///< sustained 16-bit matmul FLOP/s
  double r8 = 0;                    ///< sustained fp8 matmul FLOP/s; 0 none
  double allreduce_bw = 0;          ///< large-message bus bandwidth in the node, bytes/s
  double allgather_bw = 0;          ///< same for all-gather and reduce-scatter
  double fa2 = 0;                   ///< FlashAttention-2 forward+backward FLOP/s; 0 none
  double fa3 = 0;                   ///< cuDNN or FlashAttention-3 class; 0 none
  double h2d_bw = 0;                ///< pinned host to device, bytes/s
  double latency_s = 0;             ///< small-message collective latency
  bool power_limited = false;       ///< sustained matmul is bounded by the power cap
  std::string_view planning_basis;  ///< "proven", "matmul measured, rest inferred", ...
  std::span<const Source> sources;
  std::span<const std::string_view> notes;    ///< conflicts and which value is used, traps
  std::span<const std::string_view> aliases;  ///< usual names ("A100-80GB")
  std::string_view checked;  ///< date on which the record was last compared with its sources

  [[nodiscard]] bool has_bf16() const { return bf16 > 0; }
  [[nodiscard]] bool has_fp8() const { return fp8 > 0; }
  [[nodiscard]] bool has_flash_attention_2() const { return fa2 > 0; }
};

enum class InstanceKind : std::uint8_t { vm, bare_metal, scc, vgpu };
enum class InstanceStatus : std::uint8_t {
  documented,
  not_recommended,
  undocumented,
  invitational,
  retired,
  incomplete
};

/// Price kinds of the JSON contract.
enum class PriceKind : std::uint8_t {
  on_demand,
  spot,
  subscription,
  savings_plan,
  reserved,
  observed
};

/// One price of one instance type in one region. Per instance and hour.
struct Price {
  PriceKind kind = PriceKind::on_demand;
  std::string_view region;    ///< "" when the source names none
  std::string_view currency;  ///< ISO code
  double per_hour = 0;
  std::string_view date;  ///< "" if undated
  std::string_view source;
};

struct Instance {
  std::string_view name;      ///< "ecs.gn7i-c8g1.2xlarge"
  std::string_view provider;  ///< "aliyun"
  std::string_view family;    ///< "ecs.gn7i"
  InstanceKind kind = InstanceKind::vm;
  InstanceStatus status = InstanceStatus::documented;
  std::string_view gpu;       ///< id of a Gpu record; "" unknown
  std::string_view gpu_text;  ///< as the provider words it
  int gpus = 0;
  double gpu_fraction = 1.0;     ///< share of one card of a vGPU slice
  double gpu_memory_bytes = 0;   ///< usable memory of one GPU or slice; 0 unknown
  int vcpus = 0;                 ///< 0 unknown
  double memory_bytes = 0;       ///< host memory; 0 unknown
  double network_bandwidth = 0;  ///< bytes/s a node, sustained; 0 unknown
  Fabric rdma = Fabric::none;
  bool rdma_known = true;     ///< false: the source does not say
  double rdma_bandwidth = 0;  ///< bytes/s a node; 0 none or unknown
  NodeLink link = NodeLink::single;
  double link_bandwidth = 0;  ///< both directions, a GPU, bytes/s
  double local_disk_bytes = 0;
  std::string_view cpu;
  std::span<const Price> prices;
  std::span<const Source> sources;
  std::span<const std::string_view> notes;
  std::string_view checked;  ///< date on which the record was last compared with its sources
};

/// A name or claim that people use and that is wrong, with what is right.
struct WrongName {
  std::string_view claim;
  std::string_view verdict;
  std::string_view fact;
  std::string_view source;
  std::span<const std::string_view> names;          ///< spellings that trigger it
  std::span<const std::string_view> nearest_types;  ///< real types instead
};

struct ExchangeRate {
  std::string_view currency;
  double cny = 0;  ///< CNY for one unit
  std::string_view date;
  std::string_view source;
};

/// All records, each list sorted by id bytewise (instances by provider, name).
struct Tables {
  std::span<const Gpu> gpus;
  std::span<const Instance> instances;
  std::span<const WrongName> wrong_names;
  std::span<const ExchangeRate> rates;
  std::string_view date;  ///< newest date of the data, the default of --as-of
};

class Catalog {
 public:
  /// The catalog built into the program.
  [[nodiscard]] static const Catalog& embedded();
  /// The embedded catalog with the records of `documents` added or replaced by id.
  /// Each document is the text of one JSON file of the catalog format; errors name
  /// file, JSON path and what was expected; nothing is read halfway.
  struct Document {
    std::string file;
    std::string text;
  };
  [[nodiscard]] static Result<Catalog> with_overlay(std::span<const Document> documents);
  /// Only the records of `documents` (a whole catalog of its own, as tests use).
  [[nodiscard]] static Result<Catalog> from_documents(std::span<const Document> documents);

  [[nodiscard]] std::span<const Gpu> gpus() const { return tables_.gpus; }
  [[nodiscard]] std::span<const Instance> instances() const { return tables_.instances; }
  [[nodiscard]] std::span<const WrongName> wrong_names() const { return tables_.wrong_names; }
  [[nodiscard]] std::span<const ExchangeRate> rates() const { return tables_.rates; }
  [[nodiscard]] std::string_view date() const { return tables_.date; }

  [[nodiscard]] const Gpu* find_gpu(std::string_view id) const;  ///< exact id, or null
  [[nodiscard]] const Instance* find_instance(std::string_view name) const;
  /// GPU by id or a usual alias ("A100-80GB", "a100", "h20"); else an error with
  /// near misses. An alias that fits several parts is refused with their names.
  [[nodiscard]] Result<const Gpu*> resolve_gpu(std::string_view name, std::string_view where) const;
  /// Instance by name; a known wrong name or a near miss is answered with the fact
  /// and the nearest real types.
  [[nodiscard]] Result<const Instance*> resolve_instance(std::string_view name,
                                                         std::string_view where) const;

 private:
  struct Storage;
  Tables tables_;
  std::shared_ptr<const Storage> storage_;
};

/// A set of equal nodes that a job runs on: all that memory and time models need.
struct Cluster {
  const Gpu* gpu = nullptr;
  const Instance* instance = nullptr;  ///< null when given by hand
  int gpus = 1;                        ///< total
  int gpus_per_node = 1;
  double gpu_memory_bytes = 0;  ///< usable a GPU, after the user's reserve
  NodeLink link = NodeLink::single;
  double allreduce_bw = 0;  ///< in the node, bytes/s
  double allgather_bw = 0;
  double h2d_bw = 0;
  double node_nic_bw = 0;  ///< sum of the NIC line rates of a node, bytes/s
  Fabric fabric = Fabric::none;
  double host_memory_bytes = 0;  ///< a node; 0 unknown
  double local_disk_bytes = 0;
  double power_w = 0;  ///< power limit where it differs from the part's; 0 as usual

  [[nodiscard]] int nodes() const { return (gpus + gpus_per_node - 1) / gpus_per_node; }
};

/// `count` nodes of `instance`. Without RDMA the fabric is tcp at the network rate.
/// Requires the instance's GPU to be known.
[[nodiscard]] Cluster make_cluster(const Instance& instance, const Gpu& gpu, int count);
/// Nodes described by hand. node_nic_bw 0 takes one NIC for each GPU: 50 GB/s on
/// H100-class NVLink parts, 25 on A100-class, 6.25 on older ones, 1.5625 over PCIe.
/// Several nodes with Fabric::none count as InfiniBand.
[[nodiscard]] Cluster make_cluster(const Gpu& gpu, int gpus, int gpus_per_node, double node_nic_bw,
                                   Fabric fabric);

/// How the rate between nodes was found where the source does not state it (an eRDMA
/// rate is then the network rate); empty when it is stated.
[[nodiscard]] std::string_view network_note(const Instance& instance);

[[nodiscard]] std::string_view to_string(Fabric value);
[[nodiscard]] std::string_view to_string(NodeLink value);
[[nodiscard]] std::string_view to_string(InstanceKind value);
[[nodiscard]] std::string_view to_string(InstanceStatus value);
[[nodiscard]] std::string_view to_string(PriceKind value);
/// Label of the JSON contract: "nvlink+erdma", "pcie", "single", "pcie+tcp", ...
[[nodiscard]] std::string interconnect_class(const Cluster& cluster);

}  // namespace gpuadvisor::catalog
