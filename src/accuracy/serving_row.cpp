// Serving rows: a published run as JSON becomes a request, a plan and a cluster, is
// predicted, and is compared figure by figure.
#include "accuracy/serving_row.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accuracy/row_model.hpp"
#include "accuracy/rows.hpp"

namespace gpuadvisor::accuracy {
namespace {

double number_or(const Json& object, const char* key, double fallback) {
  return number(object, key).value_or(fallback);
}

int count(const Json& object, const char* key, int fallback) {
  const double value = number_or(object, key, fallback);
  return value >= 1 && value <= 1e6 ? static_cast<int>(value) : fallback;
}

/// Requests of NVIDIA's published throughput runs, by input and output length: short
/// runs end in a partly filled batch.
double benchmark_requests(double input, double output) {
  struct Recipe {
    double input, output, requests;
  };
  constexpr Recipe kRecipes[] = {{128, 128, 30000},  {128, 2048, 3000},  {128, 4096, 1500},
                                 {500, 2000, 3000},  {1000, 1000, 3000}, {1000, 2000, 1500},
                                 {2048, 128, 3000},  {2048, 2048, 1500}, {5000, 500, 1500},
                                 {20000, 2000, 1000}};
  for (const Recipe& recipe : kRecipes)
    if (recipe.input == input && recipe.output == output) return recipe.requests;
  return 0;
}

void read_load(serving::Request& request, const Json& run) {
  const std::string load = text(run, "load");
  request.concurrency = std::max(1.0, number_or(run, "concurrency", number_or(run, "batch", 1)));
  request.requests = number_or(run, "requests", 0);
  request.rate_rps = number_or(run, "offered_rps", 0);
  if (load == "saturated") {
    request.load = serving::Load::saturated;
    if (request.engine == serving::Engine::tensorrt_llm && request.requests <= 0)
      request.requests = benchmark_requests(request.input_len, request.output_len);
  } else if (load == "burst") {
    request.load = serving::Load::burst;
  } else if (load == "open" && request.rate_rps > 0) {
    request.load = serving::Load::open;
  } else {
    const bool clients =
        (request.engine == serving::Engine::vllm || request.engine == serving::Engine::sglang) &&
        request.concurrency > 1;
    request.load = clients ? serving::Load::closed : serving::Load::batch;
  }
  const std::string phase = text(run, "phase");
  request.phase = phase == "prefill"  ? serving::Phase::prefill
                  : phase == "decode" ? serving::Phase::decode
                                      : serving::Phase::whole;
}

void read_settings(serving::Request& request, const Json& run,
                   const model::Architecture& architecture) {
  request.gpu_memory_utilization = number_or(run, "gpu_memory_utilization", 0);
  // Engines take the model's own limit where nothing is said.
  request.max_model_len = number_or(run, "max_model_len", architecture.max_positions);
  request.max_num_seqs = number_or(run, "max_num_seqs", 0);
  request.max_num_batched_tokens = number_or(run, "max_num_batched_tokens", 0);
  request.block_size = number_or(run, "block_size", 16);
  request.enforce_eager = flag(run, "enforce_eager").value_or(false);
}

/// Empty, or why the formats cannot be told.
std::string read_formats(serving::Request& request, const Json& run) {
  const std::string quant = text(run, "quant"), dtype = text(run, "dtype");
  if (!quant.empty()) {
    const auto known = serving::quant_from_string(quant);
    if (!known) return "unknown quantisation " + quant;
    request.quant = *known;
  }
  if (request.quant == serving::Quant::none && dtype == "fp8") request.quant = serving::Quant::fp8;
  if (request.quant == serving::Quant::none && dtype == "fp32")
    request.quant = serving::Quant::fp32;
  const std::string kv = text(run, "kv_dtype");
  if (!kv.empty())
    request.kv_type = serving::kv_type_from_string(kv).value_or(serving::KvType::automatic);
  return {};
}

void read_plan(ServingRow& result, const Json& row, const model::Architecture& architecture) {
  const Json& plan = section(row, "plan");
  serving::Plan& p = result.plan;
  p.tp = count(plan, "tp", 1);
  p.pp = count(plan, "pp", 1);
  const int gpus = std::max(1, result.cluster.gpus);
  const bool eager = result.request.engine == serving::Engine::transformers ||
                     result.request.engine == serving::Engine::llama_cpp ||
                     result.request.engine == serving::Engine::autoawq;
  if (text(plan, "split") == "layer" || (eager && p.tp * p.pp == 1)) {
    p.layer_split = gpus > 1;
    p.split_gpus = std::max(1, gpus / (p.tp * p.pp));
  } else {
    p.replicas = std::max(1, gpus / (p.tp * p.pp));
  }
  const auto& profile = serving::engine_profile(result.request.engine, result.request.version);
  p.dp_attention = p.tp > 1 && (flag(section(row, "run"), "dp_attention").value_or(false) ||
                                (profile.moe_dp_attention && architecture.is_moe()));
}

/// A card the catalog does not know leaves gpu null: memory needs only its size.
void read_cluster(ServingRow& result, const catalog::Catalog& catalog, const Json& row) {
  const Json& cluster = section(row, "cluster");
  const int gpus = count(cluster, "gpus", 1);
  const auto found = read_gpu(cluster, catalog);
  const catalog::Gpu* gpu = found ? *found : nullptr;
  const double total = number_or(cluster, "total_gpu_memory_gib", 0) * kGiB;
  if (gpu != nullptr) {
    const double nic = number_or(cluster, "node_nic_gb_s", 0) * kGB;
    const auto fabric = gpus > 8 ? catalog::Fabric::infiniband : catalog::Fabric::none;
    result.cluster = catalog::make_cluster(
        *gpu, gpus, count(cluster, "gpus_per_node", std::min(gpus, 8)), nic, fabric);
    const double pcie = number_or(cluster, "pcie_collective_gb_s", 0) * kGB;
    if (pcie > 0 && result.cluster.link == catalog::NodeLink::pcie)
      result.cluster.allreduce_bw = pcie;
  } else {
    result.cluster.gpus = gpus;
    result.cluster.gpus_per_node = std::min(gpus, 8);
  }
  if (total > 0) result.cluster.gpu_memory_bytes = total;
  if (result.cluster.gpu_memory_bytes <= 0)
    result.cluster.gpu_memory_bytes = number_or(cluster, "card_gb", 0) * kGiB;
}

}  // namespace

ServingRow read_serving_row(const catalog::Catalog& catalog, const Json& row,
                            const model::Architecture& architecture) {
  ServingRow result;
  const Json& run = section(row, "run");
  serving::Request& request = result.request;
  request.engine =
      serving::engine_from_string(text(run, "engine")).value_or(serving::Engine::other);
  request.version = serving::parse_version(text(run, "engine_version"));
  request.input_len = std::max(0.0, number_or(run, "input_len", 1));
  request.output_len = std::max(0.0, number_or(run, "output_len", 256));
  result.skipped = read_formats(request, run);
  read_cluster(result, catalog, row);
  read_load(request, run);
  read_settings(request, run, architecture);
  read_plan(result, row, architecture);
  return result;
}

}  // namespace gpuadvisor::accuracy
