#include <algorithm>
#include <cmath>

#include "calibration_data.hpp"
#include "gpuadvisor/serving.hpp"
#include "gpuadvisor/units.hpp"
#include "serving/memory_eager.hpp"

namespace gpuadvisor::serving {
namespace {

namespace k = calibration::serving;

double model_length(const Request& request) {
  return request.max_model_len > 0 ? request.max_model_len : request.input_len + request.output_len;
}

double non_torch_bytes(const EngineProfile& profile, int ranks) {
  if (ranks <= 1) return profile.non_torch_1_bytes;
  if (ranks <= 2) return k::non_torch_2 * kGiB;
  return (ranks <= 4 ? k::non_torch_4 : k::non_torch_8) * kGiB;
}

/// Prompt tokens of the largest forward pass the engine makes.
double profile_tokens(const Request& request, const EngineProfile& profile, double card_bytes,
                      const catalog::Gpu* gpu) {
  constexpr double kChunk = 2048, kLargeChunk = 8192, kLargeCard = 70 * kGiB;
  if (request.max_num_batched_tokens > 0) return request.max_num_batched_tokens;
  if (profile.profile_tokens > 0) return profile.profile_tokens;
  if (profile.profile_tokens < 0) return card_bytes >= kLargeCard ? kLargeChunk : kChunk;
  const double length = model_length(request);
  // The prefix kernels of chunked prefill need more shared memory than Volta has.
  const bool volta = gpu != nullptr && gpu->compute_capability > 0 && gpu->compute_capability < 7.5;
  if (profile.auto_chunk_above > 0 && length > profile.auto_chunk_above && !volta) return kChunk;
  return std::max(length, kChunk);
}

/// Peak of the profiling run: MLP buffers, or the sampler over all sequences.
double activation_peak(const Model& model, const Request& request, const EngineProfile& profile,
                       const Plan& plan, const catalog::Cluster& cluster) {
  const double tokens = profile_tokens(request, profile, cluster.gpu_memory_bytes, cluster.gpu);
  const double sequences = request.max_num_seqs > 0 ? request.max_num_seqs : 256;
  const double tp = plan.dp_attention ? 1 : plan.tp;
  return std::max(activation_bytes_per_token(model, tp) * tokens,
                  k::sampler_bytes * sequences * model.architecture.vocab);
}

/// An engine nobody knows takes a share of the card only where that share is given.
PoolRule pool_rule(const EngineProfile& profile, const Request& request) {
  const bool unknown = profile.engine == Engine::other && request.gpu_memory_utilization <= 0;
  return unknown ? PoolRule::growing : profile.pool;
}

double lora_bytes(const Model& model, const Request& request, const Plan& plan) {
  if (request.lora_adapters <= 0) return 0;
  return request.lora_adapters * 2 * model::lora_parameters(model.architecture, request.lora) /
         plan.tp;
}

double draft_bytes(const Request& request, const Plan& plan, const EngineProfile& profile) {
  if (request.draft.model == nullptr) return 0;
  return weight_bytes(*request.draft.model, Quant::none, plan, profile);
}

double share_of_card(const Request& request, const EngineProfile& profile) {
  return request.gpu_memory_utilization > 0 ? request.gpu_memory_utilization : profile.fraction;
}

double pool_bytes(const Memory& m, const Request& request, const EngineProfile& profile,
                  double total) {
  const double fraction = share_of_card(request, profile);
  const double weights = m.weights + m.lora + m.draft;
  switch (pool_rule(profile, request)) {
    case PoolRule::budget:
      return total * fraction - weights - m.activations - m.non_torch - m.graphs;
    case PoolRule::static_fraction:
      return total * fraction - weights - m.non_torch;
    case PoolRule::free_fraction:
      return fraction * (total - weights - profile.reserve_bytes);
    case PoolRule::growing:
      return total - weights - m.activations - k::context * kGiB;
  }
  return 0;
}

/// Tokens in whole blocks; windowed and hybrid caches count what one sequence of the
/// model length needs, as engines do.
void count_blocks(Memory& m, const Model& model, const Request& request, const Plan& plan,
                  const EngineProfile& profile) {
  const double element = kv_element_bytes(request, profile);
  const double length = std::max(1.0, model_length(request));
  const double ranks = plan.dp_attention ? plan.tp : 1;
  const double sequence = kv_bytes(model, plan, length, element, profile.windows);
  const double block = request.block_size > 0 ? request.block_size : 1;
  m.kv_bytes_per_token = kv_bytes(model, plan, length + 1, element, profile.windows) - sequence;
  const bool uniform = std::abs(m.kv_bytes_per_token * length - sequence) < 1e-6 * sequence;
  const double per_token = uniform ? m.kv_bytes_per_token : sequence / length;
  m.kv_bytes_per_sequence = kv_bytes(
      model, plan, std::max(1.0, request.input_len + request.output_len), element, profile.windows);
  if (m.kv_pool <= 0 || per_token <= 0) return;
  m.kv_blocks = std::floor(m.kv_pool / (per_token * block)) * ranks;
  m.kv_tokens = m.kv_blocks * block;
  m.max_concurrency = m.kv_pool * ranks / sequence;
}

/// CPU layers of llama.cpp leave the GPU with their share of weights and cache.
void move_layers_to_host(Memory& m, const Model& model, const Request& request,
                         const EngineProfile& profile) {
  if (profile.step != StepRule::llama_cpp || request.gpu_layers < 0) return;
  const double share = std::clamp(request.gpu_layers / std::max(1.0, model.layers), 0.0, 1.0);
  m.host = m.weights * (1 - share);
  m.weights *= share;
}

/// Engines with a pool start when one sequence of the model length fits; the others need
/// the cache of the whole batch.
void judge(Memory& m, const Request& request, const EngineProfile& profile, double total,
           double longest) {
  const bool growing = pool_rule(profile, request) == PoolRule::growing;
  const double one = growing ? m.kv_bytes_per_sequence * std::max(1.0, request.concurrency)
                             : std::max(m.kv_bytes_per_sequence, longest);
  const PoolRule rule = pool_rule(profile, request);
  const bool capped = rule == PoolRule::budget || rule == PoolRule::static_fraction;
  m.usable = total;
  m.budget = capped ? total * share_of_card(request, profile) : total;
  const double fixed = m.weights + m.lora + m.draft + m.activations + m.non_torch + m.graphs;
  m.need = fixed + one + (rule == PoolRule::free_fraction ? profile.reserve_bytes : 0);
  m.reserved = growing ? m.need : fixed + std::max(0.0, m.kv_pool);
  m.fits = m.kv_pool >= one && m.kv_pool > 0 && m.need <= total;
}

}  // namespace

Memory estimate_memory(const Model& model, const Request& request, const Plan& plan,
                       const catalog::Cluster& cluster) {
  const EngineProfile& profile = engine_profile(request.engine, request.version);
  const double total = cluster.gpu_memory_bytes;
  const double element = kv_element_bytes(request, profile);
  Memory m;
  m.weights = weight_bytes(model, request.quant, plan, profile) / plan.split_gpus;
  move_layers_to_host(m, model, request, profile);
  m.lora = lora_bytes(model, request, plan);
  m.draft = draft_bytes(request, plan, profile);
  m.non_torch = non_torch_bytes(profile, plan.tp * plan.pp);
  m.graphs = request.enforce_eager ? 0 : profile.graphs_share * total;
  const bool growing = pool_rule(profile, request) == PoolRule::growing;
  if (growing) {
    const GrowingPeak peak =
        growing_peak(model, request, profile, m.weights * plan.split_gpus, element);
    m.activations = peak.activations / plan.split_gpus;
    m.table_total = peak.total;
    m.non_torch = k::context * kGiB;
  } else {
    m.activations = activation_peak(model, request, profile, plan, cluster);
  }
  m.kv_pool = total > 0 ? pool_bytes(m, request, profile, total) : 0;
  count_blocks(m, model, request, plan, profile);
  judge(m, request, profile, total,
        kv_bytes(model, plan, model_length(request), element, profile.windows));
  if (!growing) m.table_total = m.reserved * plan.gpus_per_replica();
  return m;
}

}  // namespace gpuadvisor::serving
