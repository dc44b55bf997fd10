#include "accuracy/training_row.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accuracy/row_model.hpp"
#include "accuracy/rows.hpp"

namespace gpuadvisor::accuracy {
namespace {

using workload::Framework;
using workload::KernelProfile;
using workload::Sharding;

constexpr int kUsualNode = 8;
constexpr std::int64_t kManyMicroBatches = 8;  // a stage, where the row does not say
constexpr std::int64_t kUsualSequence = 2048;
constexpr std::int64_t kLargestCount = std::int64_t{1} << 30;
constexpr double kHostOverCollective =
    3.0 / 2.6;  // dual RTX 3090 board: 3 GB/s to host, 2.6 between

std::int64_t count(const Json& object, const char* key, std::int64_t fallback) {
  const auto value = integer(object, key);
  return value && *value > 0 ? std::min(*value, kLargestCount) : fallback;
}

std::int32_t degree(const Json& object, const char* key, std::int64_t fallback = 1) {
  return static_cast<std::int32_t>(count(object, key, fallback));
}

template <class E>
Result<void> take(const Json& object, const char* key, std::optional<E>& into) {
  auto value = enumerator<E>(object, key);
  if (!value) return tl::unexpected(value.error());
  into = *value;
  return {};
}

/// The framework by name; an unknown or missing one is given the generic profile of its
/// kernels and sharding.
Framework read_framework(const Json& run, std::optional<KernelProfile> kernels, Sharding sharding) {
  const auto known = workload::from_string<Framework>(text(run, "framework"));
  if (known && *known != Framework::other) return *known;
  return workload::generic_framework(kernels.value_or(KernelProfile::eager), sharding);
}

/// Rows name an overlap only where the run had it: a row that says how much of the
/// gradient reduction hides says all of it, others take the framework's behaviour.
void read_overlaps(const Json& run, workload::Request& request) {
  request.grad_overlap = number(run, "grad_overlap");
  const auto overlap = [&](const char* key) {
    auto value = flag(run, key);
    if (!value && request.grad_overlap) value = false;
    return value;
  };
  request.overlap_param_gather = overlap("overlap_param_gather");
  request.tp_overlap = overlap("tp_overlap");
  request.tp_backward_overlap = overlap("tp_backward_overlap");
  request.p2p_overlap = overlap("p2p_overlap");
  request.allreduce_then_shard = overlap("allreduce_then_shard");
}

void read_switches(const Json& run, workload::Request& request) {
  request.optimizer_in_backward = flag(run, "optimizer_in_backward");
  request.loss_16bit = text(run, "loss_dtype") == "16bit";
  request.trained_embeddings = flag(run, "trained_embeddings");
  request.unquantised_fp32 = text(run, "unquantised_dtype") == "fp32";
  request.replaced_embedding_kept = flag(run, "replaced_embedding_kept");
  request.varying_lengths = text(run, "lengths") == "varying";
  request.mean_len = number(run, "mean_len");
  request.zero1_group = integer(run, "zero1_group");
  if (const std::string reduce = text(run, "grad_reduce"); !reduce.empty())
    request.grad_reduce_fp32 = reduce == "fp32";
  request.checkpoint_early_stop = flag(run, "checkpoint_early_stop");
  request.compile = flag(run, "compile");
  request.async_tp = flag(run, "async_tp");
  request.fp8_rowwise = text(run, "fp8_scaling") == "rowwise";
  request.fp8_all_gather = flag(run, "fp8_all_gather");
  request.fused_norm = flag(run, "fused_norm");
  request.fused_rope = flag(run, "fused_rope");
  request.dropout = number(run, "dropout");
  request.expandable_segments = flag(run, "expandable_segments");
  read_overlaps(run, request);
}

/// Rank and targets; where the row is silent, QLoRA-style recipes (quantised base, FSDP
/// scripts, rank 64 and up) adapt all linear layers at rank 64, others q, k, v, o at 8.
void read_lora(const Json& run, Sharding sharding, workload::Request& request) {
  const Json& lora = section(run, "lora");
  const bool wide = request.mode == workload::Mode::qlora || sharding == Sharding::fsdp;
  const auto rank = integer(lora, "rank");
  request.lora_rank =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(rank.value_or(wide ? 64 : 8), 1, 4096));
  request.lora_variant = text(lora, "variant");
  std::vector<std::string> targets;
  if (const Json* given = find(lora, "targets")) {
    if (given->is_string()) targets.push_back(given->get<std::string>());
    if (given->is_array())
      for (const Json& module : *given)
        if (module.is_string()) targets.push_back(module.get<std::string>());
  }
  constexpr std::int32_t kWideRank = 64;
  if (targets.empty() && (wide || *request.lora_rank >= kWideRank)) targets = {"all-linear"};
  if (!targets.empty()) request.lora_targets = targets;
}

std::uint8_t read_offload(const Json& run) {
  std::uint8_t bits = workload::kOffloadNone;
  const auto add = [&](const std::string& name) {
    if (name == "optimizer") bits |= workload::kOffloadOptimizer;
    if (name == "params") bits |= workload::kOffloadParams;
    if (name == "activations") bits |= workload::kOffloadActivations;
    if (name == "nvme") bits |= workload::kOffloadNvme;
  };
  add(text(run, "offload"));
  if (const Json* list = find(run, "offload"); list != nullptr && list->is_array())
    for (const Json& entry : *list)
      if (entry.is_string()) add(entry.get<std::string>());
  return bits;
}

/// Megatron's own trainers materialise the scores unless told otherwise.
bool attention_unstated_in_megatron(const workload::Request& request) {
  return !request.attention && !request.attention_kernel &&
         (request.framework == Framework::megatron ||
          request.framework == Framework::megatron_deepspeed);
}

/// The optimizer by its name, or by what other names of it contain ("bnb 8bit adam",
/// "fused adam", "lamb"): what counts is the size of its states.
Result<void> read_optimizer(const Json& run, std::optional<workload::Optimizer>& into) {
  using workload::Optimizer;
  const std::string name = text(run, "optimizer");
  into = workload::from_string<Optimizer>(name);
  if (into || name.empty()) return {};
  constexpr std::pair<const char*, Optimizer> kParts[] = {{"8bit", Optimizer::adamw_8bit},
                                                          {"8-bit", Optimizer::adamw_8bit},
                                                          {"paged", Optimizer::adamw_paged},
                                                          {"adafactor", Optimizer::adafactor},
                                                          {"galore", Optimizer::galore},
                                                          {"muon", Optimizer::muon},
                                                          {"adam", Optimizer::adamw},
                                                          {"lamb", Optimizer::adamw},
                                                          {"sgd", Optimizer::sgd}};
  for (const auto& [part, optimizer] : kParts) {
    if (name.find(part) == std::string::npos) continue;
    into = optimizer;
    return {};
  }
  return fail(ErrorCode::input, fmt::format("unknown optimizer '{}'", name));
}

Result<workload::Request> read_request(const Json& run, Sharding sharding) {
  workload::Request request;
  const auto all = {take(run, "mode", request.mode),
                    take(run, "precision", request.precision),
                    read_optimizer(run, request.optimizer),
                    take(run, "attention", request.attention),
                    take(run, "attention_kernel", request.attention_kernel),
                    take(run, "kernel_profile", request.kernel_profile),
                    take(run, "loss", request.loss),
                    take(run, "quant", request.quant)};
  for (const Result<void>& one : all)
    if (!one) return tl::unexpected(one.error());
  if (request.mode == workload::Mode::serve)
    return fail(ErrorCode::input, "a training row with mode 'serve'");
  request.framework = read_framework(run, request.kernel_profile, sharding);
  if (attention_unstated_in_megatron(request)) request.attention = workload::Attention::eager;
  request.seq_len = count(run, "seq_len", kUsualSequence);
  read_switches(run, request);
  // torchtitan compiles only where the run says so.
  if (request.framework == Framework::torchtitan && !request.kernel_profile &&
      request.compile != true)
    request.kernel_profile = KernelProfile::eager;
  const bool adapters =
      request.mode == workload::Mode::lora || request.mode == workload::Mode::qlora;
  if (adapters) read_lora(run, sharding, request);
  if (!adapters) request.quant = workload::Quant::none;
  return request;
}

Result<workload::Plan> read_plan(const Json& row) {
  const Json& json = section(row, "plan");
  const Json& run = section(row, "run");
  workload::Plan plan;
  plan.tp = degree(json, "tp");
  plan.pp = degree(json, "pp");
  plan.vpp = degree(json, "vpp");
  plan.cp = degree(json, "cp");
  plan.ep = degree(json, "ep");
  const std::int64_t split = std::int64_t{plan.tp} * plan.pp * plan.cp;
  const std::int64_t gpus = count(section(row, "cluster"), "gpus", split * degree(json, "dp"));
  plan.dp = degree(json, "dp", std::max<std::int64_t>(1, gpus / split));
  // A printed degree that contradicts the number of GPUs is the less reliable of the two.
  if (plan.gpus() != gpus && gpus % split == 0) plan.dp = static_cast<std::int32_t>(gpus / split);
  auto sharding = enumerator<Sharding>(json, "sharding");
  if (!sharding) return tl::unexpected(sharding.error());
  plan.sharding = sharding->value_or(Sharding::none);
  auto schedule = enumerator<workload::Schedule>(run, "schedule");
  if (!schedule) return tl::unexpected(schedule.error());
  plan.schedule = schedule->value_or(plan.vpp > 1 ? workload::Schedule::interleaved
                                                  : workload::Schedule::one_f_one_b);
  auto recompute = enumerator<workload::Recompute>(run, "recompute");
  if (!recompute) return tl::unexpected(recompute.error());
  plan.recompute = recompute->value_or(workload::Recompute::none);
  plan.micro_batch = degree(run, "micro_batch");
  plan.offload = read_offload(run);
  return plan;
}

/// Stands for a card that the row does not name: enough to count bytes, no rates.
const catalog::Gpu& unknown_gpu() {
  static const catalog::Gpu gpu = [] {
    catalog::Gpu card;
    card.id = "unknown";
    card.vendor = "NVIDIA";
    card.compute_capability = 8.0;
    card.memory_usable_bytes = 1e15;
    card.bf16 = card.fp16 = 1e12;
    return card;
  }();
  return gpu;
}

Result<catalog::Cluster> read_cluster(const Json& json, const workload::Plan& plan,
                                      const catalog::Catalog& catalog) {
  auto gpu = read_gpu(json, catalog);
  if (!gpu) return tl::unexpected(gpu.error());
  const auto gpus = static_cast<int>(plan.gpus());
  const int per_node = degree(json, "gpus_per_node", std::min(gpus, kUsualNode));
  auto fabric = catalog::Fabric::none;
  if (gpus > per_node) {
    const std::string name = text(json, "fabric");
    fabric = catalog::Fabric::infiniband;
    for (const auto kind : {catalog::Fabric::tcp, catalog::Fabric::erdma, catalog::Fabric::roce,
                            catalog::Fabric::efa, catalog::Fabric::opa})
      if (name == catalog::to_string(kind)) fabric = kind;
  }
  const double nic = number(json, "node_nic_gb_s").value_or(0) * kGB;
  catalog::Cluster cluster =
      catalog::make_cluster(**gpu, gpus, std::min(gpus, per_node), nic, fabric);
  if (const auto rate = number(json, "pcie_collective_gb_s"); rate && *rate > 0) {
    cluster.link = catalog::NodeLink::pcie;
    cluster.allreduce_bw = cluster.allgather_bw = *rate * kGB;
    cluster.h2d_bw = std::min(cluster.h2d_bw, *rate * kGB * kHostOverCollective);
  }
  cluster.power_w = number(json, "power_w").value_or(0);
  if (const auto total = number(json, "total_gpu_memory_gib"); total && *total > 0)
    cluster.gpu_memory_bytes = *total * kGiB;
  else if (const auto card = number(json, "card_gb"); card && *gpu == &unknown_gpu())
    cluster.gpu_memory_bytes = *card * kGB;
  return cluster;
}

void read_batch(const Json& run, workload::Training& training, workload::Plan& plan) {
  const std::int64_t step = std::int64_t{plan.micro_batch} * plan.dp;
  if (const auto batch = integer(run, "global_batch"); batch && *batch > 0) {
    training.global_batch = *batch;
  } else if (const auto accum = integer(run, "grad_accum"); accum && *accum > 0) {
    training.global_batch = step * std::min(*accum, kLargestCount);
  } else {
    training.micro_batches_unknown = true;
    const bool many = plan.pp > 1 && !training.framework.memory.pipeline_splits_micro_batch;
    training.global_batch = step * (many ? kManyMicroBatches * plan.pp : 1);
  }
  plan.grad_accum =
      static_cast<std::int32_t>(std::min(workload::micro_batches(training, plan), kLargestCount));
}

}  // namespace

Result<const catalog::Gpu*> read_gpu(const Json& cluster, const catalog::Catalog& catalog) {
  const std::string name = text(cluster, "gpu");
  if (name.empty() || name == "unknown") return &unknown_gpu();
  if (const catalog::Gpu* gpu = catalog.find_gpu(name)) return gpu;
  auto resolved = catalog.resolve_gpu(name, "cluster.gpu");
  if (!resolved) return fail(ErrorCode::input, fmt::format("unknown GPU '{}'", name));
  return resolved;
}

Result<TrainingRow> read_training_row(const Json& row, const catalog::Catalog& catalog) {
  const Json& run = section(row, "run");
  TrainingRow out;
  out.id = text(row, "id");
  out.kind = text(row, "kind");
  out.quality = text(row, "quality");
  out.source = text(row, "source");
  auto plan = read_plan(row);
  if (!plan) return tl::unexpected(plan.error());
  out.plan = *plan;
  auto request = read_request(run, out.plan.sharding);
  if (!request) return tl::unexpected(request.error());
  if (const auto layers = integer(section(row, "model"), "mtp_layers"))
    request->mtp_layers = static_cast<std::int32_t>(std::clamp<std::int64_t>(*layers, 0, 64));
  auto architecture = read_model(section(row, "model"), *request->seq_len);
  if (!architecture) return tl::unexpected(architecture.error());
  out.architecture = *architecture;
  auto cluster = read_cluster(section(row, "cluster"), out.plan, catalog);
  if (!cluster) return tl::unexpected(cluster.error());
  out.cluster = *cluster;
  auto resolved = workload::resolve(*request, out.architecture, out.cluster.gpu);
  if (!resolved) return tl::unexpected(resolved.error());
  out.training = resolved->training;
  out.plan.sequence_parallel =
      out.plan.tp > 1 && flag(section(row, "plan"), "sequence_parallel")
                             .value_or(out.training.framework.sequence_parallel);
  read_batch(run, out.training, out.plan);
  const std::string rank = text(section(row, "measured"), "rank");
  out.stage = rank == "last" ? memory::StageChoice::last : memory::StageChoice::worst;
  return out;
}

}  // namespace gpuadvisor::accuracy
