// What the user wants to run, and how a framework runs it. A Request holds what
// was said; resolve() fills the rest with documented defaults and lists each of
// them as an assumption.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/model.hpp"
#include "gpuadvisor/units.hpp"

namespace gpuadvisor::workload {

enum class Mode : std::uint8_t { pretrain, full_ft, lora, qlora, dpo, serve };
enum class Precision : std::uint8_t { bf16, fp16, fp8, fp32, bf16_pure };
enum class Optimizer : std::uint8_t {
  adamw,
  adamw_8bit,
  adamw_paged,
  adafactor,
  sgd,
  lion,
  muon,
  galore
};
enum class Recompute : std::uint8_t { none, selective, selective_op, selective_layer, full };
enum class Attention : std::uint8_t { flash, eager };
enum class AttentionKernel : std::uint8_t { fa1, fa2, fa3 };
enum class KernelProfile : std::uint8_t { fused, eager, compiled, mpt };
enum class Loss : std::uint8_t { plain, fused, compiled, chunked };
enum class Quant : std::uint8_t {
  none,
  nf4,
  nf4_dq,
  int8_bnb,
  gptq_int4,
  gptq_int8,
  awq_int4,
  fp8,
  fp4,
  gguf
};
enum class Sharding : std::uint8_t { none, zero1, zero2, zero3, fsdp, fsdp_grad_op, hsdp };
enum class Schedule : std::uint8_t { one_f_one_b, interleaved, gpipe, zb_1p, zb_2p };
enum class Framework : std::uint8_t {
  hf,
  deepspeed,
  fsdp,
  megatron,
  megatron_deepspeed,
  torchtitan,
  torchtune,
  litgpt,
  llm_foundry,
  nemo,
  internevo,
  paddle,
  maxtext,
  llm_c,
  oneflow,
  pytorch,
  unsloth,
  other
};

/// What stays in host memory (or on disk) instead of the GPU.
enum Offload : std::uint8_t {
  kOffloadNone = 0,
  kOffloadOptimizer = 1,
  kOffloadParams = 2,
  kOffloadActivations = 4,
  kOffloadNvme = 8,
};

/// How the training state is kept, in bytes a parameter before sharding. Data of
/// the framework profile, or of the precision recipe.
enum class StateRecipe : std::uint8_t {
  megatron,    ///< 16-bit weights, fp32 main gradients, fp32 master and moments
  deepspeed,   ///< 16-bit weights and gradients, fp32 master and moments
  fsdp_mixed,  ///< fp32 sharded weights, gradients and moments, 16-bit gathers
  hf_16bit,    ///< model, gradients and moments all 16-bit
  hf_amp,      ///< fp32 weights under autocast
};

/// What a framework keeps in memory while it trains, and for how long. Comments name
/// the frameworks whose value differs from the default.
struct MemoryTraits {
  /// Gradients live in one persistent buffer (true: megatron, megatron_deepspeed, nemo,
  /// deepspeed, internevo, paddle); else they exist from backward to step only.
  bool gradient_buffer = false;
  /// FSDP1 no_sync accumulation keeps whole flat gradients on each GPU (true: litgpt).
  bool no_sync_gradients = false;
  bool repeats_kv = false;          ///< k and v expanded to all heads before attention (litgpt)
  bool joint_qkv = false;           ///< v is a view that keeps the joint qkv output (litgpt)
  bool adapter_index_copy = false;  ///< LoRA writes into a zero tensor of q, k, v (litgpt)
  bool unties_head = false;         ///< a tied head gets its own matrix (litgpt)
  bool keeps_gathered_in_pipeline = false;  ///< no resharding when pp > 1 (torchtitan)
  /// pp splits micro_batch into min(pp, micro_batch) parts when grad_accum is 1 (torchtitan).
  bool pipeline_splits_micro_batch = false;
  bool dummy_weight_gradients = false;  ///< Transformer Engine caches one a shape (megatron, nemo)
  bool legacy_stack = false;  ///< Megatron kernels and CUDA of 2021-22 (megatron_deepspeed)
  double adapter_bytes = 4;   ///< an adapter weight; 2: litgpt, fsdp; 4 under HF PEFT
  /// Bytes a logit at the loss, allocated and reserved; 0: by kernel profile. megatron, nemo
  /// 6/6; megatron_deepspeed 10/10; litgpt 8/8.
  double head_bytes = 0, head_reserved_bytes = 0;
  double head_full_bytes = 0;  ///< same when all weights are trained; litgpt 16
  double head_tp_bytes = 0;    ///< same with tp > 1; torchtitan 16
  double head_fused_bytes =
      0;  ///< same for loss fused; megatron, nemo 6, litgpt 8, torchtune 3; 0: fused linear
  double head_compiled_bytes =
      4;  ///< same for loss compiled; torchtune 12 (its model casts logits before)
  double logits_kept_bytes =
      0;  ///< more a logit still referenced in backward; llm_foundry 2, fsdp 4
  double fragmentation = 0.05;  ///< reserved over allocated, fixed shapes; megatron, nemo 0.03,
                                ///< megatron_deepspeed 0.10
};

/// Behaviour of a framework that memory and time depend on: data of
/// data/frameworks.json, one record a framework; a row or flag overrides single
/// values through Training.
struct FrameworkProfile {
  std::string_view name;
  Framework id = Framework::other;
  KernelProfile kernel_profile = KernelProfile::eager;
  StateRecipe recipe = StateRecipe::deepspeed;
  bool vocab_parallel = false;     ///< the head and loss are divided by tp
  bool pad_vocab = false;          ///< vocabulary padded to a multiple of 128·tp
  bool sequence_parallel = false;  ///< on by default when tp > 1
  bool foreach_optimizer = false;  ///< step makes a copy of the moments
  bool fused_norm = false;
  bool fused_rope = true;
  bool dropout_default = false;  ///< 0.1 when nothing is said
  AttentionKernel attention_kernel = AttentionKernel::fa2;
  // Speed.
  double host_layer_s = 0;       ///< launch time of one layer's forward on the host
  double host_peft_s = 0;        ///< more with adapters
  double host_gptq_s = 0;        ///< more with GPTQ layers
  double host_zero3_s = 0;       ///< more with ZeRO-3 hooks
  double host_fsdp_s = 0;        ///< more under FSDP
  double loss_bytes = 34;        ///< loss traffic, bytes a logit
  double optimizer_bytes = 50;   ///< optimizer traffic, bytes a parameter
  double grad_reduce_bytes = 2;  ///< bytes a gradient on the wire
  double grad_overlap = 0;       ///< share of gradient reduction that may hide
  bool overlap_param_gather = false;
  bool tp_overlap = false;
  bool tp_backward_overlap = false;
  bool p2p_overlap = false;
  bool checkpoint_early_stop = false;
  bool reduce_every_micro_batch = false;  ///< ZeRO-2 reduces in each micro-step
  bool allreduce_then_shard = false;      ///< whole gradients are all-reduced, then sharded
  /// Updated parameters are broadcast owner by owner when all ranks share ZeRO-1 (internevo).
  bool owner_broadcast = false;
  /// Selective recompute keeps the results of chosen operators (torchtitan, maxtext) instead
  /// of recomputing only the attention core (Megatron).
  bool selective_by_operator = false;
  /// Context parallelism exchanges heads by all-to-all (deepspeed) instead of a ring.
  bool context_all_to_all = false;
  /// Element-wise traffic of an adapter, bytes an element of its input and of its output:
  /// 21 and 10 for fp32 adapters under autocast (hf), 5 and 10 for 16-bit adapters in plain
  /// torch (litgpt, torchtune), 2 and 4 fused (unsloth), 0 (nemo, megatron).
  double adapter_in_bytes = 21, adapter_out_bytes = 10;
  MemoryTraits memory;
};

[[nodiscard]] const FrameworkProfile& framework_profile(Framework framework);

/// The profile with what follows from other kernels than the framework's own: fused
/// kernels bring a fused loss and fewer launches, eager ones a plain loss.
[[nodiscard]] FrameworkProfile adapt_profile(FrameworkProfile profile, KernelProfile kernels);

/// The framework whose behaviour an unknown one is given: by its kernels and by how it
/// shards (fused: Megatron; compiled: torchtitan; mpt: LLM Foundry; else DeepSpeed for
/// ZeRO, FSDP, and Hugging Face).
[[nodiscard]] Framework generic_framework(KernelProfile kernels, Sharding sharding);

/// What was said about a run: flags, a JSON request, or a measurement row.
/// Empty means not said. Sizes in tokens and sequences.
struct Request {
  std::optional<Mode> mode;
  std::optional<Precision> precision;
  std::optional<Optimizer> optimizer;
  std::optional<bool> optimizer_in_backward;
  std::optional<Recompute> recompute;
  std::optional<Attention> attention;
  std::optional<AttentionKernel> attention_kernel;
  std::optional<Framework> framework;
  std::optional<KernelProfile> kernel_profile;
  std::optional<Loss> loss;
  std::optional<bool> loss_16bit;
  std::optional<Quant> quant;
  std::optional<std::int64_t> seq_len, micro_batch, global_batch, grad_accum;
  std::optional<double> tokens, samples, epochs;
  std::optional<std::int32_t> lora_rank;
  std::optional<std::vector<std::string>> lora_targets;
  std::optional<std::string> lora_variant;  ///< dora, lora+, rslora
  std::optional<bool> trained_embeddings;
  std::optional<bool> unquantised_fp32;
  std::optional<bool> replaced_embedding_kept;
  std::optional<bool> varying_lengths;
  std::optional<double> mean_len;
  std::optional<std::uint8_t> offload;  ///< Offload bits
  std::optional<Schedule> schedule;
  std::optional<std::int64_t> zero1_group;
  std::optional<bool> grad_reduce_fp32;
  std::optional<bool> checkpoint_early_stop, compile, async_tp, fp8_rowwise, fp8_all_gather;
  std::optional<bool> fused_norm, fused_rope, expandable_segments;
  std::optional<double> dropout;
  std::optional<double> grad_overlap;
  std::optional<bool> overlap_param_gather, tp_overlap, tp_backward_overlap, p2p_overlap;
  std::optional<bool> allreduce_then_shard;
  std::optional<std::int32_t> mtp_layers;  ///< a row's model.mtp_layers
};

/// How the GPUs split the work.
struct Plan {
  std::int32_t tp = 1, pp = 1, vpp = 1, cp = 1, ep = 1, dp = 1;
  Sharding sharding = Sharding::none;
  bool sequence_parallel = false;
  Schedule schedule = Schedule::one_f_one_b;
  std::int32_t micro_batch = 1;  ///< sequences a GPU and micro-step
  std::int32_t grad_accum = 1;   ///< micro-batches a step and replica
  Recompute recompute = Recompute::none;
  std::uint8_t offload = kOffloadNone;
  std::int32_t hsdp_group = 0;  ///< GPUs of one sharding group of hsdp; 0 a node

  [[nodiscard]] std::int64_t gpus() const { return std::int64_t{tp} * pp * cp * dp; }
  /// Ranks that share states: the data-parallel group including context parallelism.
  [[nodiscard]] std::int64_t shard_group() const { return std::int64_t{dp} * cp; }
  bool operator==(const Plan&) const = default;
};

/// One thing that was not said and was chosen.
struct Assumption {
  std::string field;  ///< JSON name, "seq_len"
  std::string value;  ///< as printed
  std::string flag;   ///< the flag that changes it
};

/// A training run with every value decided. Plain data: no allocation when copied.
struct Training {
  Mode mode = Mode::full_ft;
  Precision precision = Precision::bf16;
  Optimizer optimizer = Optimizer::adamw;
  bool optimizer_in_backward = false;
  Attention attention = Attention::flash;
  AttentionKernel attention_kernel = AttentionKernel::fa2;
  KernelProfile kernel_profile = KernelProfile::eager;
  Loss loss = Loss::plain;
  bool loss_16bit = false;
  Quant quant = Quant::none;  ///< of a frozen base
  std::int64_t seq_len = 4096;
  std::int64_t global_batch = 128;
  bool micro_batches_unknown = false;  ///< a row that does not say the global batch
  double tokens = 0;                   ///< whole job; 0 unknown
  model::LoraSpec lora;
  double lora_parameters = 0;
  std::int32_t mtp_layers = 0;  ///< multi-token-prediction layers trained too; 0 unless said
  bool trained_embeddings = false;
  bool unquantised_fp32 = false;
  bool replaced_embedding_kept = false;
  bool varying_lengths = false;
  double mean_len = 0;           ///< 0 unknown
  std::int64_t zero1_group = 0;  ///< 0: all data-parallel ranks
  StateRecipe recipe = StateRecipe::deepspeed;
  double grad_reduce_bytes = 2;
  bool checkpoint_early_stop = false, compile = false, async_tp = false;
  bool fp8_rowwise = false, fp8_all_gather = false;
  bool fused_norm = false, fused_rope = true;
  bool expandable_segments = false;
  double dropout = 0;
  double grad_overlap = 0;
  bool overlap_param_gather = false, tp_overlap = false, tp_backward_overlap = false;
  bool p2p_overlap = false;
  bool allreduce_then_shard = false;
  FrameworkProfile framework;

  /// Only adapters are trained; preference tuning with adapters too, whose reference is
  /// the base without them.
  [[nodiscard]] bool adapters() const {
    return mode == Mode::lora || mode == Mode::qlora || (mode == Mode::dpo && lora_parameters > 0);
  }
};

struct Resolved {
  Training training;
  std::vector<Assumption> assumed;
};

/// Fills what was not said (cli.md, Defaults): sequence length, batch, tokens,
/// recipe, framework, LoRA targets, precision by the GPU (`gpu` may be null).
/// Errors name the flag: contradictory values, an unknown LoRA module, fp8 on a
/// GPU without it, a sequence longer than a learned position table.
[[nodiscard]] Result<Resolved> resolve(const Request& request,
                                       const model::Architecture& architecture,
                                       const catalog::Gpu* gpu);

/// The recipe under `sharding`: DeepSpeed ZeRO keeps fp32 masters and FSDP fp32 shards
/// although the same script on one GPU would train in 16 bit; bf16-pure and Megatron
/// stay what they are.
[[nodiscard]] StateRecipe effective_recipe(const Training& training, Sharding sharding);

/// Relative error to expect (fractions): the median and 90th percentile of the absolute
/// errors on published measurements of the same mode and kind of GPU; empty where too
/// few exist.
struct Band {
  std::optional<double> p50, p90;
};
/// The class of a GPU that bands are kept by: "volta", "ampere", "hopper", ...
[[nodiscard]] std::string_view band_class(const catalog::Gpu& gpu);
[[nodiscard]] Band memory_band(Mode mode, Framework framework, const catalog::Gpu& gpu);
[[nodiscard]] Band speed_band(Mode mode, Framework framework, const catalog::Gpu& gpu);

// Names of the command line and of JSON; from_string returns nothing for an unknown
// name. `names_of<E>()` lists all, in order.
[[nodiscard]] std::string_view to_string(Mode value);
[[nodiscard]] std::string_view to_string(Precision value);
[[nodiscard]] std::string_view to_string(Optimizer value);
[[nodiscard]] std::string_view to_string(Recompute value);
[[nodiscard]] std::string_view to_string(Attention value);
[[nodiscard]] std::string_view to_string(AttentionKernel value);
[[nodiscard]] std::string_view to_string(KernelProfile value);
[[nodiscard]] std::string_view to_string(Loss value);
[[nodiscard]] std::string_view to_string(Quant value);
[[nodiscard]] std::string_view to_string(Sharding value);
[[nodiscard]] std::string_view to_string(Schedule value);
[[nodiscard]] std::string_view to_string(Framework value);
[[nodiscard]] std::string_view to_string(StateRecipe value);
template <class E>
[[nodiscard]] std::optional<E> from_string(std::string_view name);
template <class E>
[[nodiscard]] std::span<const std::string_view> names_of();

/// ZeRO stage of a sharding: 0 to 3 (fsdp and hsdp 3, fsdp-grad-op 2).
[[nodiscard]] int zero_stage(Sharding sharding);
/// "TP4 x PP2 x DP8, ZeRO-1, micro-batch 2, full recompute".
[[nodiscard]] std::string describe(const Plan& plan);

/// Layers of stage `stage` of `pp`: L div p, the first L mod p stages one more.
[[nodiscard]] int stage_layers(int layers, int pp, int stage);

/// Micro-batches a step and replica: global_batch / (micro_batch · dp), at least 1.
[[nodiscard]] std::int64_t micro_batches(const Training& training, const Plan& plan);

}  // namespace gpuadvisor::workload
