// What serving a model needs and gives: weights, KV cache and concurrency on each
// GPU by engine and version, time to first token, time a token, throughput, and
// what bounds it. Everything is one function of one engine step; batches, saturated
// and open load, targets and the queue simulation only ask it different questions.
// Pure functions; nothing here allocates except the list-valued advice and simulate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/units.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::serving {

enum class Engine : std::uint8_t {
  vllm,
  sglang,
  tensorrt_llm,
  transformers,
  lmdeploy,
  llama_cpp,
  autoawq,
  zhilight,
  other
};

/// Format of the weight matrices. `none` is 16 bit as published.
enum class Quant : std::uint8_t {
  none,
  fp32,
  fp8,
  int8,
  fp4,
  mxfp4,
  gptq_int4,
  gptq_int8,
  awq_int4,
  nf4,
  nf4_dq,
  int8_bnb,
  gguf_f32,
  gguf_f16,
  gguf_q8_0,
  gguf_q6_k,
  gguf_q5_k_m,
  gguf_q5_k_s,
  gguf_q5_0,
  gguf_q5_1,
  gguf_q4_k_m,
  gguf_q4_k_s,
  gguf_q4_0,
  gguf_q4_1,
  gguf_iq4_nl,
  gguf_iq4_xs,
  gguf_q3_k_l,
  gguf_q3_k_m,
  gguf_q3_k_s,
  gguf_iq3_m,
  gguf_iq3_s,
  gguf_iq3_xs,
  gguf_iq3_xxs,
  gguf_q2_k,
  gguf_iq2_m,
  gguf_iq2_s,
  gguf_iq2_xs,
  gguf_iq2_xxs,
  gguf_iq1_m,
  gguf_iq1_s,
  count_
};
[[nodiscard]] constexpr bool is_gguf(Quant quant) { return quant >= Quant::gguf_f32; }

/// Element type of the KV cache; `automatic` is what the engine does by itself.
enum class KvType : std::uint8_t { automatic, fp16, fp8, int8, q8_0, q4_0, fp4 };

/// Shape of the load.
enum class Load : std::uint8_t {
  batch,      ///< `concurrency` prompts at once, no other load
  closed,     ///< `concurrency` clients, each sends its next request when one ends
  saturated,  ///< more requests than can run, for ever or `requests` of them
  open,       ///< `rate_rps` arrivals a second, Poisson
  burst,      ///< `requests` arrive together and queue
};
enum class Phase : std::uint8_t { whole, prefill, decode };

/// What bounds the figure: the largest term of the step, or the cache.
enum class Limit : std::uint8_t { compute, bandwidth, kv_capacity, all_reduce, launch };

/// An engine version as one comparable number, "0.6.3.post1" -> 603; 0 unknown.
/// Only a leading number counts; a year ("2025-07") is no version.
[[nodiscard]] std::int32_t parse_version(std::string_view text);

/// How the pool of the KV cache is sized.
enum class PoolRule : std::uint8_t {
  budget,           ///< vLLM: total x utilisation - weights - peak - other
  static_fraction,  ///< SGLang: total x fraction - weights - other
  free_fraction,    ///< TensorRT-LLM, lmdeploy: fraction of what weights leave
  growing,          ///< transformers, AutoAWQ, llama.cpp: only what the run needs
};
/// Which step model the engine follows.
enum class StepRule : std::uint8_t { graphs, eager_python, llama_cpp };

/// Behaviour of one engine from one version on: data, not code. Times in seconds.
struct EngineProfile {
  Engine engine = Engine::other;
  std::int32_t from_version = 0;
  std::string_view name;
  PoolRule pool = PoolRule::budget;
  StepRule step = StepRule::graphs;
  double fraction = 0.9;             ///< utilisation, or share of the free memory
  double reserve_bytes = 0;          ///< engine and workspaces before the pool is cut
  double non_torch_1_bytes = 0;      ///< outside the allocator, one GPU a replica
  double graphs_share = 0;           ///< CUDA graphs inside the budget, share of the card
  double host_s = 0;                 ///< c0: scheduler and sampler a step
  double host_layer_s = 0;           ///< c1: a layer
  double host_sequence_s = 0;        ///< cseq: a sequence
  double host_quant_layer_s = 0;     ///< more a layer with integer weights
  double host_moe_layer_s = 0;       ///< more a layer with experts
  double unfused_moe_layer_s = 0;    ///< more a layer where int4 experts have no fused kernel
  double expert_factor = 1;          ///< rate of expert GEMMs relative to dense ones
  double cache_factor = 1;           ///< rate of decode attention relative to flash decoding
  double step_factor = 1;            ///< of the whole step (old kernels)
  double eager_context = 0;          ///< contexts longer than this run without graphs; 0 never
  double profile_tokens = 0;         ///< prompt tokens of the profiling run; 0 by the card
  double auto_chunk_above = 0;       ///< model length at which chunked prefill comes on; 0 never
  bool prompts_ride = true;          ///< prompts share steps with decoding (chunked prefill)
  bool prompts_eager = false;        ///< steps of prompts only have no CUDA graphs
  bool admits_whole = false;         ///< a request starts only if it can finish in the cache
  bool fp8_cache_with_fp8 = false;   ///< fp8 weights bring an fp8 cache
  bool windows = true;               ///< sliding windows shorten the cache
  bool windows_in_kernels = true;    ///< attention reads no more than the window
  bool continuous = true;            ///< requests join a running batch
  bool moe_dp_attention = false;     ///< its MoE recipe keeps attention whole on each rank
  bool marlin = true;                ///< int4 and int8 kernels at memory speed
  std::int32_t max_sequences = 256;  ///< default cap a rank
};
/// The newest profile of the engine that is not newer than `version`; version 0 takes
/// the generic one of the engine. Unknown engines take `other`.
[[nodiscard]] const EngineProfile& engine_profile(Engine engine, std::int32_t version);
[[nodiscard]] std::span<const EngineProfile> engine_profiles();

/// Parameter sums an estimate reads again and again: built once a model.
struct Model {
  model::Architecture architecture;
  model::ParameterCounts counts;
  double layers = 0;               ///< L, decoder and encoder
  double attention = 0;            ///< matrices of token mixers, whole model
  double attention_whole = 0;      ///< of those, kept whole on each tensor rank
  double dense = 0;                ///< dense MLP and shared experts
  double experts = 0;              ///< routed experts
  double rest = 0;                 ///< norms, biases, routers, towers: always 16 bit
  double embedding = 0, head = 0;  ///< V·h each; `stored_head` 0 when tied
  double stored_head = 0;
  double dense_layers = 0, moe_layers = 0, attention_layers = 0;
  double dense_width = 0;  ///< width of the dense MLP, or of the shared experts
  double g_idx = 0;        ///< GPTQ input rows of all matrices
  double key_value = 0;    ///< k and v matrices of all layers (replicated when tp > kv heads)
};
[[nodiscard]] Model prepare(const model::Architecture& architecture);

/// How one or more copies of the model lie on the GPUs.
struct Plan {
  std::int32_t tp = 1;          ///< tensor parallel size of one replica
  std::int32_t pp = 1;          ///< pipeline stages of one replica
  std::int32_t replicas = 1;    ///< independent copies behind a balancer
  bool layer_split = false;     ///< layers lie on the GPUs one after the other, no overlap
  std::int32_t split_gpus = 1;  ///< GPUs of a layer split
  bool dp_attention = false;    ///< attention whole on each rank, experts divided
  [[nodiscard]] std::int32_t gpus_per_replica() const { return tp * pp * split_gpus; }
  [[nodiscard]] std::int32_t gpus() const { return gpus_per_replica() * replicas; }
};

/// A draft model that proposes tokens (speculative decoding, Leviathan et al. 2023).
struct Draft {
  const Model* model = nullptr;
  std::int32_t tokens = 4;  ///< proposed a step
  double acceptance = 0.7;  ///< probability that one proposed token is kept
};

/// What is asked of the engine. Lengths in tokens; 0 means the engine's default.
struct Request {
  Engine engine = Engine::vllm;
  std::int32_t version = 800;
  Quant quant = Quant::none;
  KvType kv_type = KvType::automatic;
  double input_len = 1024, output_len = 256;
  Load load = Load::closed;
  Phase phase = Phase::whole;
  double concurrency = 16;
  double rate_rps = 0;
  double requests = 0;
  double gpu_memory_utilization = 0;
  double max_model_len = 0;  ///< 0: input + output
  double max_num_seqs = 0;
  double max_num_batched_tokens = 0;
  double block_size = 16;
  bool enforce_eager = false;
  double prefix_hit = 0;     ///< share of prompt tokens found in the prefix cache, 0..1
  double lora_adapters = 0;  ///< adapters kept on the GPU at once
  model::LoraSpec lora;
  Draft draft;
  std::int32_t gpu_layers = -1;                 ///< llama.cpp: layers on the GPU; -1 all
  double ttft_target_s = 0, tpot_target_s = 0;  ///< 0 none
};

/// Bytes of ONE GPU (the worst rank) unless said otherwise.
struct Memory {
  double weights = 0;  ///< on the worst rank
  double lora = 0;
  double draft = 0;                  ///< weights of a draft model
  double activations = 0;            ///< peak of the largest forward pass
  double non_torch = 0;              ///< outside the allocator
  double graphs = 0;                 ///< CUDA graphs counted in the budget
  double kv_bytes_per_token = 0;     ///< one more token of one sequence, this GPU
  double kv_bytes_per_sequence = 0;  ///< one sequence of input + output tokens, this GPU
  double kv_pool = 0;                ///< cache the engine can hold; 0 or less: does not fit
  double kv_tokens = 0;  ///< tokens in whole blocks (one rank; a group under dp_attention)
  double kv_blocks = 0;
  double max_concurrency = 0;  ///< sequences of max_model_len that the cache holds
  double need = 0;             ///< weights + peak + other + cache: of one sequence of the model
                               ///< length; estimate() adds that of all running sequences
  double reserved = 0;         ///< what the engine takes when it starts
  double usable = 0;           ///< what a process can allocate
  double budget = 0;           ///< of that, what the engine's settings let it use
  double table_total = 0;      ///< allocator peak summed over the GPUs, as memory tables print it
  double host = 0;             ///< weights left in host memory (CPU layers)
  bool fits = false;
  [[nodiscard]] double missing() const { return need > budget ? need - budget : 0; }
};

/// Seconds of one engine step by cause; the terms sum to total().
struct StepTime {
  double weights = 0;  ///< GEMMs as far as reading weights explains them
  double compute = 0;  ///< the rest of the GEMMs
  double kv_read = 0;  ///< decode attention
  double prompt_attention = 0;
  double elementwise = 0;
  double all_reduce = 0;
  double launch = 0;  ///< host and kernel launches not hidden
  double total() const {
    return weights + compute + kv_read + prompt_attention + elementwise + all_reduce + launch;
  }
  [[nodiscard]] Limit limit() const;
};

/// Work of one step: sequences that decode at a mean context, and prompt tokens
/// that see a mean context.
struct StepWork {
  double sequences = 0;
  double context = 0;
  double prompt_tokens = 0;
  double prompt_context = 0;
};

/// All replicas together for rates, one request for latencies.
struct Speed {
  double ttft_s = 0;  ///< time to first token, queueing included
  double tpot_s = 0;  ///< time a token after the first
  double output_tokens_per_s = 0;
  double total_tokens_per_s = 0;    ///< prompt and output
  double prefill_tokens_per_s = 0;  ///< of one prompt batch without other load
  double decode_tokens_per_s = 0;   ///< of the running batch, prompts left out
  double requests_per_s = 0;
  double running = 0;         ///< sequences in a step, one replica
  double input_token_s = 0;   ///< cluster seconds spent on one prompt token, and on one
  double output_token_s = 0;  ///< output token; times the price they split the cost
  double utilisation = 0;     ///< open load: share of the saturated rate; above 1 the queue grows
  StepTime step;              ///< the decode step
  Limit limit = Limit::bandwidth;
};

struct Estimate {
  Memory memory;
  Speed speed;
};

// --- estimates ------------------------------------------------------------------

/// Bytes of the weights on the worst rank: quantised matrices with group scales and
/// zero points, what stays 16 bit, what tensor parallelism replicates. GGUF follows
/// the per-tensor types of llama.cpp's quantisation mixes.
[[nodiscard]] double weight_bytes(const Model& model, Quant quant, const Plan& plan,
                                  const EngineProfile& profile);
/// Nominal bits of one quantised weight, scales included ("gguf": of the base type).
[[nodiscard]] double bits_per_weight(Quant quant);
/// Cache bytes of one sequence of `tokens` tokens on one GPU: GQA replicated when tp
/// exceeds the KV heads, latent attention never divided, windows and states respected.
[[nodiscard]] double kv_bytes(const Model& model, const Plan& plan, double tokens,
                              double bytes_per_element, bool windows);
[[nodiscard]] double kv_element_bytes(const Request& request, const EngineProfile& profile);

/// Memory of one replica. `cluster.gpu` may be null; gpu_memory_bytes must be known
/// for pools (0: weights and totals only).
[[nodiscard]] Memory estimate_memory(const Model& model, const Request& request, const Plan& plan,
                                     const catalog::Cluster& cluster);
/// Time of one engine step on one replica (equations: step.cpp).
[[nodiscard]] StepTime step_time(const Model& model, const Request& request, const Plan& plan,
                                 const catalog::Cluster& cluster, const StepWork& work);
/// Memory and speed under the request's load. Requires cluster.gpu.
[[nodiscard]] Estimate estimate(const Model& model, const Request& request, const Plan& plan,
                                const catalog::Cluster& cluster);

/// Why the GPU cannot run the format, or the plan is illegal; empty when it can.
[[nodiscard]] std::string_view refusal(const Model& model, const Request& request, const Plan& plan,
                                       const catalog::Gpu& gpu);

// --- advice ---------------------------------------------------------------------

/// Longest input + output of one request that fits; 0 when not even the weights do.
[[nodiscard]] double largest_context(const Model& model, Request request, const Plan& plan,
                                     const catalog::Cluster& cluster);

/// Concurrency from which another 10% of sequences gains less than 1% of throughput,
/// or the cache is full.
struct Saturation {
  double concurrency = 0;
  double output_tokens_per_s = 0;
  Limit limit = Limit::bandwidth;
};
[[nodiscard]] Saturation saturation(const Model& model, Request request, const Plan& plan,
                                    const catalog::Cluster& cluster);

/// The largest load that meets the latency targets of the request, as an open load
/// (requests/s) when its load is open, else as concurrency. Nothing when even one
/// request misses them.
[[nodiscard]] std::optional<Estimate> meet_targets(const Model& model, Request request,
                                                   const Plan& plan,
                                                   const catalog::Cluster& cluster);

/// One way to serve: a format, a tensor parallel size and copies of it.
struct Option {
  Quant quant = Quant::none;
  Plan plan;
  Estimate estimate;
  bool pareto = false;  ///< no other option has both less time a token and more throughput
};
/// Every legal (format, tp, pp, replicas) that fills the cluster and fits, best
/// throughput first; marks the front of time a token against throughput. Pipelines are
/// tried across nodes and where GPUs meet over PCIe; engines without tensor parallelism
/// split layers instead.
[[nodiscard]] std::vector<Option> compare_options(const Model& model, const Request& request,
                                                  const catalog::Cluster& cluster,
                                                  std::span<const Quant> formats);

// --- queue simulation -------------------------------------------------------------

struct Arrival {
  double time_s = 0;
  double input_len = 0, output_len = 0;
};
struct SimulatedRequest {
  double ttft_s = 0, tpot_s = 0, finish_s = 0;
};
struct Simulation {
  std::vector<SimulatedRequest> requests;  ///< in order of arrival
  double duration_s = 0;
  double output_tokens_per_s = 0;
  double ttft_mean_s = 0, ttft_p50_s = 0, ttft_p95_s = 0, ttft_p99_s = 0;
  double tpot_mean_s = 0, tpot_p50_s = 0, tpot_p95_s = 0, tpot_p99_s = 0;
  double peak_running = 0;
};
/// Continuous batching, step by step, arrivals dealt to replicas in turn: admits in order while
/// sequence cap and cache allow, carries at most max_num_batched_tokens prompt tokens a step, times
/// each step with step_time. Arrivals must be sorted by time. Deterministic.
[[nodiscard]] Simulation simulate(const Model& model, const Request& request, const Plan& plan,
                                  const catalog::Cluster& cluster,
                                  std::span<const Arrival> arrivals);
/// Reads a trace: one JSON object a line with input_len and output_len in tokens and
/// arrival_s (0 when absent), at most a million lines; sorted by arrival. Errors name
/// `where` and the line.
[[nodiscard]] Result<std::vector<Arrival>> parse_trace(std::string_view text,
                                                       std::string_view where);
/// The open load that a trace is on the mean: lengths, and requests a second (a burst
/// when all arrive at once).
void apply_trace(Request& request, std::span<const Arrival> arrivals);
/// `count` arrivals of a Poisson process at `rate_rps` with log-normal lengths of the
/// given means and 95th percentiles (0: fixed). The same seed gives the same arrivals.
[[nodiscard]] std::vector<Arrival> poisson_arrivals(double rate_rps, std::size_t count,
                                                    double input_mean, double input_p95,
                                                    double output_mean, double output_p95,
                                                    std::uint64_t seed);

// --- names --------------------------------------------------------------------------

[[nodiscard]] std::string_view to_string(Engine value);
[[nodiscard]] std::string_view to_string(Quant value);
[[nodiscard]] std::string_view to_string(KvType value);
[[nodiscard]] std::string_view to_string(Load value);
[[nodiscard]] std::string_view to_string(Limit value);
[[nodiscard]] std::optional<Engine> engine_from_string(std::string_view name);
[[nodiscard]] std::optional<Quant> quant_from_string(std::string_view name);
[[nodiscard]] std::optional<KvType> kv_type_from_string(std::string_view name);
[[nodiscard]] std::optional<Load> load_from_string(std::string_view name);
/// "TP8 x PP2 x 3 replicas", "4-GPU layer split x 1 replica".
[[nodiscard]] std::string describe(const Plan& plan);
/// All names, for help and errors.
[[nodiscard]] std::span<const std::string_view> engine_names();
[[nodiscard]] std::span<const std::string_view> quant_names();

}  // namespace gpuadvisor::serving
