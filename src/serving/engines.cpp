// Behaviour of engines as data. Each record holds from its version on, until a newer
// one of the same engine; the first record of an engine is also its generic profile
// where `generic` says so.
#include "calibration_data.hpp"
#include "gpuadvisor/serving.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::serving {
namespace {

namespace k = calibration::serving;

constexpr EngineProfile common(Engine engine, std::int32_t from, std::string_view name) {
  EngineProfile p;
  p.engine = engine;
  p.from_version = from;
  p.name = name;
  p.non_torch_1_bytes = k::non_torch_1 * kGiB;
  p.host_s = k::c_generic;
  p.host_layer_s = k::c_generic_layer;
  p.host_sequence_s = k::c_sequence;
  p.host_quant_layer_s = k::c_quant_layer;
  p.host_moe_layer_s = k::c_moe_layer;
  p.expert_factor = k::expert_rate;
  return p;
}

/// vLLM before 0.5: graphs up to 8192 tokens, AWQ without Marlin, experts one by one.
constexpr EngineProfile vllm_04() {
  EngineProfile p = common(Engine::vllm, 0, "vLLM to 0.4");
  p.non_torch_1_bytes = k::non_torch_1_old * kGiB;
  p.host_layer_s = k::c_vllm4_layer;
  p.eager_context = 8192;
  p.cache_factor = k::kv_vllm4;
  p.host_moe_layer_s = k::unfused_old_moe_layer;
  p.unfused_moe_layer_s = k::unfused_int4_moe_layer;
  p.marlin = false;
  p.prompts_ride = false;
  p.prompts_eager = true;
  p.windows = false;
  p.auto_chunk_above = 32768;
  return p;
}

/// vLLM 0.5 to 0.7 (V0): whole prompts, chunked by itself above 32,768 tokens.
constexpr EngineProfile vllm_05(std::int32_t from, double non_torch_gib) {
  EngineProfile p = vllm_04();
  p.from_version = from;
  p.name = "vLLM 0.5 to 0.7";
  p.non_torch_1_bytes = non_torch_gib * kGiB;
  p.host_s = k::c_vllm6;
  p.host_layer_s = k::c_generic_layer;
  p.eager_context = 0;
  p.cache_factor = 1;
  p.host_moe_layer_s = k::c_moe_layer;
  p.unfused_moe_layer_s = 0;
  p.marlin = true;
  return p;
}

/// vLLM from 0.8 (V1): chunked prefill, prompts ride along.
constexpr EngineProfile vllm_08(std::int32_t from, double graphs_share) {
  EngineProfile p = vllm_05(from, k::non_torch_1);
  p.name = "vLLM from 0.8";
  p.host_s = k::c_vllm8;
  p.host_layer_s = k::c_vllm8_layer;
  p.auto_chunk_above = 0;
  p.profile_tokens = -1;  // by the card
  p.prompts_ride = true;
  p.graphs_share = graphs_share;
  return p;
}

constexpr EngineProfile vllm_windows(EngineProfile p, std::int32_t from) {
  p.from_version = from;
  p.windows = true;
  return p;
}

constexpr EngineProfile sglang() {
  EngineProfile p = common(Engine::sglang, 0, "SGLang");
  p.pool = PoolRule::static_fraction;
  p.fraction = 0.88;
  p.host_s = k::c_sglang;
  p.host_layer_s = k::c_sglang_layer;
  p.unfused_moe_layer_s = k::unfused_int4_moe_layer;
  p.prompts_ride = false;
  p.prompts_eager = true;
  return p;
}

constexpr EngineProfile tensorrt(std::int32_t from, double fraction, double reserve_gib,
                                 double step_factor) {
  EngineProfile p = common(Engine::tensorrt_llm, from, "TensorRT-LLM");
  p.pool = PoolRule::free_fraction;
  p.fraction = fraction;
  p.reserve_bytes = reserve_gib * kGiB;
  p.step_factor = step_factor;
  p.admits_whole = true;
  p.fp8_cache_with_fp8 = true;
  p.windows = false;
  p.windows_in_kernels = false;
  p.max_sequences = 2048;
  if (from >= 1900) {  // PyTorch backend
    p.moe_dp_attention = true;
    p.host_s = k::c_trt10;
    p.host_layer_s = k::c_trt10_layer;
  }
  return p;
}

constexpr EngineProfile transformers(std::int32_t from, double host_layer_s) {
  EngineProfile p = common(Engine::transformers, from, "transformers");
  p.pool = PoolRule::growing;
  p.step = StepRule::eager_python;
  p.host_s = 0;
  p.host_layer_s = host_layer_s;
  p.continuous = false;
  p.prompts_ride = false;
  p.marlin = false;
  return p;
}

constexpr EngineProfile lmdeploy() {
  EngineProfile p = common(Engine::lmdeploy, 0, "lmdeploy");
  p.pool = PoolRule::free_fraction;
  p.fraction = 0.8;
  p.host_layer_s = k::c_lmdeploy_layer;
  p.prompts_ride = false;
  return p;
}

constexpr EngineProfile llama_cpp() {
  EngineProfile p = common(Engine::llama_cpp, 0, "llama.cpp");
  p.pool = PoolRule::growing;
  p.step = StepRule::llama_cpp;
  p.host_s = k::lc_host;
  p.host_layer_s = k::lc_layer;
  p.prompts_ride = false;
  return p;
}

constexpr EngineProfile autoawq() {
  EngineProfile p = common(Engine::autoawq, 0, "AutoAWQ");
  p.pool = PoolRule::growing;
  p.continuous = false;
  p.prompts_ride = false;
  return p;
}

constexpr EngineProfile zhilight() {
  EngineProfile p = common(Engine::zhilight, 0, "ZhiLight");
  return p;
}

constexpr EngineProfile other() { return common(Engine::other, 0, "generic engine"); }

constexpr EngineProfile kProfiles[] = {
    vllm_04(),
    vllm_05(500, k::non_torch_1_old),
    vllm_05(605, k::non_torch_1),
    vllm_08(800, 0),
    vllm_windows(vllm_08(1000, 0), 1000),
    vllm_windows(vllm_08(2100, k::graphs_share), 2100),
    sglang(),
    tensorrt(0, .90, k::trt_reserve, k::trt_old_factor),
    tensorrt(800, k::trt_fraction, k::trt_reserve, 1),
    tensorrt(1900, k::trt_fraction, k::trt_reserve_torch, 1),
    transformers(0, k::hf_host_layer),
    transformers(45000, k::hf_host_layer_451),
    lmdeploy(),
    llama_cpp(),
    autoawq(),
    zhilight(),
    other(),
};

/// Profile of an engine whose version is not known: the widest spread one.
constexpr std::int32_t generic_version(Engine engine) {
  switch (engine) {
    case Engine::vllm:
      return 600;
    case Engine::tensorrt_llm:
      return 1700;
    case Engine::transformers:
      return 44600;
    default:
      return 0;
  }
}

}  // namespace

std::span<const EngineProfile> engine_profiles() { return kProfiles; }

const EngineProfile& engine_profile(Engine engine, std::int32_t version) {
  const std::int32_t wanted = version > 0 ? version : generic_version(engine);
  const EngineProfile* best = nullptr;
  for (const EngineProfile& profile : kProfiles)
    if (profile.engine == engine && (best == nullptr || profile.from_version <= wanted))
      best = &profile;
  return best != nullptr ? *best : kProfiles[std::size(kProfiles) - 1];
}

}  // namespace gpuadvisor::serving
