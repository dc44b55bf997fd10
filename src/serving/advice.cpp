// Searches over the same estimates: longest context, saturating batch, targets, options.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gpuadvisor/serving.hpp"
#include "serving/server.hpp"

namespace gpuadvisor::serving {
namespace {

/// Largest x in [low, high] for which `holds`, which is true at low and monotone;
/// relative precision 2^-steps of the range.
template <class Predicate>
double largest(double low, double high, int steps, Predicate holds) {
  if (holds(high)) return high;
  for (int i = 0; i < steps; ++i) {
    const double middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

bool meets(const Speed& speed, const Request& request) {
  return (request.ttft_target_s <= 0 || speed.ttft_s <= request.ttft_target_s) &&
         (request.tpot_target_s <= 0 || speed.tpot_s <= request.tpot_target_s) &&
         speed.utilisation <= 1;
}

bool weight_only_fp8(Engine engine) { return engine == Engine::vllm || engine == Engine::sglang; }

std::string_view format_refusal(const Request& r, const catalog::Gpu& gpu) {
  const double cc = gpu.compute_capability;
  if (is_gguf(r.quant) != (r.engine == Engine::llama_cpp) && is_gguf(r.quant))
    return "GGUF files are served by llama.cpp";
  if (gpu.vendor != "NVIDIA" || cc <= 0) return {};
  if (r.quant == Quant::fp8 && !gpu.has_fp8() && !(weight_only_fp8(r.engine) && cc >= 8))
    return "fp8 weights need compute capability 8.9 (8.0 with weight-only kernels)";
  if ((r.quant == Quant::fp4 || r.quant == Quant::mxfp4) && cc < 8)
    return "fp4 weights need compute capability 8.0 or newer";
  if (r.quant == Quant::awq_int4 && cc < 7.5) return "AWQ kernels need compute capability 7.5";
  if (r.engine == Engine::vllm && cc < 7) return "vLLM needs compute capability 7.0";
  if (r.engine == Engine::sglang && cc < 7.5) return "SGLang needs compute capability 7.5";
  return {};
}

bool legal_tp(const Model& model, std::int32_t tp) {
  const model::Architecture& a = model.architecture;
  if (a.heads % tp != 0) return false;
  return a.kv_heads <= 0 || a.is_mla() || a.kv_heads % tp == 0 || tp % a.kv_heads == 0;
}

bool splits_layers(const Request& request) {
  return engine_profile(request.engine, request.version).step != StepRule::graphs;
}

/// tp GPUs a replica: shards of each layer, or runs of layers where the engine has no
/// tensor parallelism.
Plan lay_out(const Request& request, const catalog::Cluster& cluster, std::int32_t tp,
             std::int32_t pp) {
  Plan plan;
  plan.layer_split = tp > 1 && splits_layers(request);
  (plan.layer_split ? plan.split_gpus : plan.tp) = tp;
  plan.pp = pp;
  plan.replicas = cluster.gpus / (tp * pp);
  return plan;
}

/// Pipelines pay across nodes, each node a stage, and over PCIe inside one.
bool pipeline_helps(const Model& model, const Request& request, const catalog::Cluster& cluster,
                    std::int32_t tp, std::int32_t pp) {
  if (splits_layers(request) || pp > model.layers) return false;
  if (tp * pp > cluster.gpus_per_node) return tp == cluster.gpus_per_node;
  return cluster.link == catalog::NodeLink::pcie;
}

void add_option(std::vector<Option>& options, const Model& model, const Request& request,
                const catalog::Cluster& cluster, Option option) {
  if (cluster.gpus % option.plan.gpus_per_replica() != 0 ||
      !refusal(model, request, option.plan, *cluster.gpu).empty() ||
      !estimate_memory(model, request, option.plan, cluster).fits)
    return;
  option.estimate = estimate(model, request, option.plan, cluster);
  options.push_back(option);
}

bool better(const Option& left, const Option& right) {
  const double a = left.estimate.speed.output_tokens_per_s;
  const double b = right.estimate.speed.output_tokens_per_s;
  if (a != b) return a > b;
  if (left.plan.tp != right.plan.tp) return left.plan.tp < right.plan.tp;
  if (left.plan.pp != right.plan.pp) return left.plan.pp < right.plan.pp;
  return left.quant < right.quant;
}

/// Options are sorted by throughput: one is on the front when it is faster a token than
/// all before it.
void mark_front(std::vector<Option>& options) {
  double fastest = std::numeric_limits<double>::infinity();
  for (Option& option : options) {
    option.pareto = option.estimate.speed.tpot_s < fastest;
    fastest = std::min(fastest, option.estimate.speed.tpot_s);
  }
}

}  // namespace

std::string_view refusal(const Model& model, const Request& request, const Plan& plan,
                         const catalog::Gpu& gpu) {
  if (!legal_tp(model, plan.tp)) return "tensor parallel size does not divide the attention heads";
  return format_refusal(request, gpu);
}

double largest_context(const Model& model, Request request, const Plan& plan,
                       const catalog::Cluster& cluster) {
  const double output = request.output_len;
  const auto fits = [&](double length) {
    request.max_model_len = length;
    request.input_len = std::max(1.0, length - output);
    request.output_len = std::min(output, length - 1);
    return estimate_memory(model, request, plan, cluster).fits;
  };
  const double limit =
      model.architecture.max_positions > 0 ? model.architecture.max_positions : 1048576;
  if (!fits(2)) return 0;
  return std::floor(largest(2, limit, 30, fits));
}

Saturation saturation(const Model& model, Request request, const Plan& plan,
                      const catalog::Cluster& cluster) {
  request.load = Load::saturated;
  const Server server(model, request, plan, cluster);
  const auto rate = [&](double sequences) { return sequences / server.iteration(sequences); };
  const auto gains = [&](double sequences) {
    return rate(std::min(sequences * 1.1, server.capacity())) >= 1.01 * rate(sequences);
  };
  const double most = server.capacity();
  const double knee = gains(1) ? std::ceil(largest(1, most, 16, gains)) : 1;
  Saturation result;
  result.concurrency = knee * plan.replicas;
  result.output_tokens_per_s = rate(knee) * plan.replicas;
  const bool full = knee * 1.1 >= server.cache_capacity();
  result.limit = full ? Limit::kv_capacity : server.decode(knee, 0).limit();
  return result;
}

std::optional<Estimate> meet_targets(const Model& model, Request request, const Plan& plan,
                                     const catalog::Cluster& cluster) {
  const bool open = request.load == Load::open;
  const auto at = [&](double load) {
    (open ? request.rate_rps : request.concurrency) = load;
    return estimate(model, request, plan, cluster);
  };
  if (!open && request.load != Load::batch) request.load = Load::closed;
  const double least = open ? 1e-3 : plan.replicas;
  const auto holds = [&](double load) { return meets(at(load).speed, request); };
  if (!holds(least) || !at(least).memory.fits) return std::nullopt;
  const double most = open ? 1e4 : 65536.0 * plan.replicas;
  const double load = largest(least, most, open ? 40 : 26, holds);
  return at(open ? load : std::max(least, std::floor(load)));
}

std::vector<Option> compare_options(const Model& model, const Request& request,
                                    const catalog::Cluster& cluster,
                                    std::span<const Quant> formats) {
  std::vector<Option> options;
  for (const Quant quant : formats) {
    Request wanted = request;
    wanted.quant = quant;
    for (std::int32_t tp = 1; tp <= cluster.gpus_per_node && tp <= cluster.gpus; tp *= 2)
      for (std::int32_t pp = 1; tp * pp <= cluster.gpus; pp *= 2) {
        const Option option{quant, lay_out(request, cluster, tp, pp), {}, false};
        if (pp > 1 && !pipeline_helps(model, request, cluster, tp, pp)) break;
        add_option(options, model, wanted, cluster, option);
      }
  }
  std::sort(options.begin(), options.end(), better);
  mark_front(options);
  return options;
}

}  // namespace gpuadvisor::serving
