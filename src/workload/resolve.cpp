#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "gpuadvisor/model.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::workload {
namespace {

constexpr double kTokensPerParameter = 20;  // compute-optimal ratio of Hoffmann et al. 2022
constexpr double kFineTuneTokens = 1e8;
constexpr double kFlashCapability = 8.0;

/// Takes what was said, or the default and a note of it.
class Chooser {
 public:
  explicit Chooser(std::vector<Assumption>& assumed) : assumed_(assumed) {}

  template <class E>
  E choose(const std::optional<E>& said, E fallback, const char* field, const char* flag) {
    if (said) return *said;
    note(field, std::string(to_string(fallback)), flag);
    return fallback;
  }
  std::int64_t choose_count(const std::optional<std::int64_t>& said, std::int64_t fallback,
                            const char* field, const char* flag) {
    if (said) return *said;
    note(field, std::to_string(fallback), flag);
    return fallback;
  }
  void note(const char* field, std::string value, const char* flag) {
    assumed_.push_back({field, std::move(value), flag});
  }

 private:
  std::vector<Assumption>& assumed_;
};

bool adapter_mode(Mode mode) { return mode == Mode::lora || mode == Mode::qlora; }

Framework default_framework(Mode mode) {
  if (mode == Mode::pretrain) return Framework::megatron;
  return mode == Mode::full_ft ? Framework::deepspeed : Framework::hf;
}

std::int64_t default_seq_len(Mode mode, const model::Architecture& architecture) {
  const std::int64_t usual = mode == Mode::pretrain || mode == Mode::full_ft ? 4096 : 2048;
  const std::int64_t table = architecture.learned_positions > 0 ? architecture.learned_positions
                                                                : architecture.max_positions;
  return table > 0 ? std::min(usual, table) : usual;
}

std::int64_t default_batch(Mode mode) {
  if (mode == Mode::pretrain) return 1024;
  return mode == Mode::full_ft ? 128 : 16;
}

Result<void> check_contradictions(const Request& request, Mode mode) {
  const auto refuse = [](std::string message, const char* flags) -> Result<void> {
    return fail(ErrorCode::usage, std::move(message), flags);
  };
  if (request.tokens && request.samples)
    return refuse("say either tokens or samples, not both", "--tokens, --samples");
  if (!adapter_mode(mode) && mode != Mode::dpo && (request.lora_rank || request.lora_targets))
    return refuse("LoRA options need a mode with adapters (lora, qlora)",
                  request.lora_rank ? "--mode, --lora-rank" : "--mode, --lora-targets");
  const bool quantised = request.quant && *request.quant != Quant::none;
  if (quantised && (mode == Mode::pretrain || mode == Mode::full_ft))
    return refuse("a quantised base cannot be trained whole; use --mode qlora", "--mode, --quant");
  if (mode == Mode::qlora && request.quant && !quantised)
    return refuse("qlora needs a quantised base; use --mode lora for a 16-bit one",
                  "--mode, --quant");
  return {};
}

Result<void> choose_precision(const Request& request, const catalog::Gpu* gpu, Chooser& chooser,
                              Training& training) {
  const bool has_bf16 = gpu == nullptr || gpu->has_bf16();
  training.precision = chooser.choose(
      request.precision, has_bf16 ? Precision::bf16 : Precision::fp16, "precision", "--precision");
  if (training.precision == Precision::fp8 && gpu != nullptr && !gpu->has_fp8())
    return fail(ErrorCode::usage, fmt::format("{} has no fp8 matrix units", gpu->id), "--precision",
                "use bf16 or fp16");
  return {};
}

void choose_attention(const Request& request, const catalog::Gpu* gpu, Chooser& chooser,
                      Training& training) {
  const bool flash =
      gpu == nullptr || gpu->has_flash_attention_2() || gpu->compute_capability >= kFlashCapability;
  training.attention = chooser.choose(
      request.attention, flash ? Attention::flash : Attention::eager, "attention", "--attention");
  training.attention_kernel =
      request.attention_kernel.value_or(training.framework.attention_kernel);
}

/// Values that the request overrides one by one and the framework decides otherwise.
void apply_profile(const Request& request, Training& training) {
  const FrameworkProfile& profile = training.framework;
  training.recipe = profile.recipe;
  training.grad_reduce_bytes = profile.grad_reduce_bytes;
  if (request.grad_reduce_fp32) training.grad_reduce_bytes = *request.grad_reduce_fp32 ? 4 : 2;
  training.checkpoint_early_stop =
      request.checkpoint_early_stop.value_or(profile.checkpoint_early_stop);
  training.compile = request.compile.value_or(training.kernel_profile == KernelProfile::compiled);
  training.async_tp = request.async_tp.value_or(false);
  training.fp8_rowwise = request.fp8_rowwise.value_or(false);
  training.fp8_all_gather = request.fp8_all_gather.value_or(false);
  training.fused_norm = request.fused_norm.value_or(profile.fused_norm);
  training.fused_rope = request.fused_rope.value_or(profile.fused_rope);
  training.expandable_segments = request.expandable_segments.value_or(false);
  training.dropout = request.dropout.value_or(profile.dropout_default ? 0.1 : 0.0);
  training.grad_overlap = std::clamp(request.grad_overlap.value_or(profile.grad_overlap), 0.0, 1.0);
  training.overlap_param_gather =
      request.overlap_param_gather.value_or(profile.overlap_param_gather);
  training.tp_overlap = request.tp_overlap.value_or(profile.tp_overlap);
  training.tp_backward_overlap = request.tp_backward_overlap.value_or(profile.tp_backward_overlap);
  training.p2p_overlap = request.p2p_overlap.value_or(profile.p2p_overlap);
  training.allreduce_then_shard =
      request.allreduce_then_shard.value_or(profile.allreduce_then_shard);
}

Result<void> choose_targets(const std::vector<std::string>& modules,
                            const model::Architecture& architecture, model::LoraSpec& lora) {
  lora.targets = 0;
  for (const std::string& module : modules) {
    const std::uint32_t bits = model::target_bits(module, architecture);
    if (bits == 0)
      return fail(ErrorCode::usage, fmt::format("unknown module '{}'", module), "--lora-targets",
                  "q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, or all-linear");
    constexpr std::uint32_t kQkv = model::kTargetQ | model::kTargetK | model::kTargetV;
    constexpr std::uint32_t kGateUp = model::kTargetGate | model::kTargetUp;
    if (bits == kQkv) lora.fused_qkv = true;
    if (bits == kGateUp) lora.fused_gate_up = true;
    lora.targets |= bits;
  }
  return {};
}

Result<void> choose_adapters(const Request& request, const model::Architecture& architecture,
                             Chooser& chooser, Training& training) {
  training.quant = request.quant.value_or(Quant::none);
  if (training.mode == Mode::qlora)
    training.quant = chooser.choose(request.quant, Quant::nf4, "quant", "--quant");
  if (!adapter_mode(training.mode) && !request.lora_rank && !request.lora_targets) return {};
  training.lora.rank = static_cast<std::int32_t>(chooser.choose_count(
      request.lora_rank ? std::optional<std::int64_t>(*request.lora_rank) : std::nullopt, 8,
      "lora_rank", "--lora-rank"));
  training.lora.dora = request.lora_variant == "dora";
  if (request.lora_targets) {
    if (auto chosen = choose_targets(*request.lora_targets, architecture, training.lora); !chosen)
      return chosen;
  } else {
    chooser.note("lora_targets", "q_proj,k_proj,v_proj,o_proj", "--lora-targets");
  }
  training.lora_parameters = model::lora_parameters(architecture, training.lora);
  return {};
}

double job_tokens(const Request& request, const model::Architecture& architecture,
                  const Training& training, Chooser& chooser) {
  const double epochs = request.epochs.value_or(1.0);
  const double length = training.mean_len > 0
                            ? std::min(training.mean_len, static_cast<double>(training.seq_len))
                            : static_cast<double>(training.seq_len);
  if (request.samples) return *request.samples * length * epochs;
  if (request.tokens) return *request.tokens * epochs;
  double tokens = kFineTuneTokens;
  if (training.mode == Mode::pretrain) {
    const double reported = architecture.parameters_reported;
    tokens = kTokensPerParameter *
             (reported > 0 ? reported : model::count_parameters(architecture).total);
  }
  chooser.note("tokens", format_count(tokens), "--tokens");
  return tokens;
}

Result<void> choose_lengths(const Request& request, const model::Architecture& architecture,
                            Chooser& chooser, Training& training) {
  training.seq_len = chooser.choose_count(
      request.seq_len, default_seq_len(training.mode, architecture), "seq_len", "--seq-len");
  if (architecture.learned_positions > 0 && training.seq_len > architecture.learned_positions)
    return fail(ErrorCode::usage,
                fmt::format("{} tokens are more than the model's {} learned positions",
                            training.seq_len, architecture.learned_positions),
                "--seq-len");
  training.global_batch = chooser.choose_count(request.global_batch, default_batch(training.mode),
                                               "global_batch", "--global-batch");
  training.varying_lengths = request.varying_lengths.value_or(false);
  training.mean_len = request.mean_len.value_or(0.0);
  return {};
}

void choose_run(const Request& request, Chooser& chooser, Training& training) {
  const Framework framework = chooser.choose(request.framework, default_framework(training.mode),
                                             "framework", "--framework");
  const FrameworkProfile& profile = framework_profile(framework);
  training.kernel_profile = request.kernel_profile.value_or(profile.kernel_profile);
  training.framework = adapt_profile(profile, training.kernel_profile);
  training.optimizer =
      chooser.choose(request.optimizer, Optimizer::adamw, "optimizer", "--optimizer");
  training.optimizer_in_backward = request.optimizer_in_backward.value_or(false);
  const Loss usual = framework == Framework::unsloth ? Loss::fused : Loss::plain;
  training.loss = chooser.choose(request.loss, usual, "loss", "--loss");
  training.loss_16bit = request.loss_16bit.value_or(false);
  training.trained_embeddings = request.trained_embeddings.value_or(false);
  training.unquantised_fp32 = request.unquantised_fp32.value_or(false);
  training.mtp_layers = request.mtp_layers.value_or(0);
  training.replaced_embedding_kept = request.replaced_embedding_kept.value_or(false);
  training.zero1_group = request.zero1_group.value_or(0);
}

}  // namespace

Result<Resolved> resolve(const Request& request, const model::Architecture& architecture,
                         const catalog::Gpu* gpu) {
  Resolved resolved;
  Training& training = resolved.training;
  Chooser chooser(resolved.assumed);
  training.mode = chooser.choose(request.mode, Mode::full_ft, "mode", "--mode");
  if (auto checked = check_contradictions(request, training.mode); !checked)
    return tl::unexpected(checked.error());
  choose_run(request, chooser, training);
  if (auto chosen = choose_precision(request, gpu, chooser, training); !chosen)
    return tl::unexpected(chosen.error());
  choose_attention(request, gpu, chooser, training);
  apply_profile(request, training);
  if (auto chosen = choose_lengths(request, architecture, chooser, training); !chosen)
    return tl::unexpected(chosen.error());
  if (auto chosen = choose_adapters(request, architecture, chooser, training); !chosen)
    return tl::unexpected(chosen.error());
  training.tokens = job_tokens(request, architecture, training, chooser);
  return resolved;
}

}  // namespace gpuadvisor::workload
