#include "accuracy/explain.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gpuadvisor::accuracy {
namespace {

std::string configuration(const TrainingRow& row) {
  const auto& a = row.architecture;
  const auto& t = row.training;
  std::string text =
      fmt::format("{} ({}, quality {})\n  source: {}\n", row.id, row.kind, row.quality, row.source);
  text += fmt::format("  model: {} layers, hidden {}, heads {}/{}, ffn {}, vocabulary {}", a.layers,
                      a.hidden, a.heads, a.kv_heads, a.ffn, a.vocab);
  if (a.is_moe())
    text +=
        fmt::format(", {} experts x {}, {} a token", a.experts, a.expert_ffn, a.experts_per_token);
  text += fmt::format("\n  run: {}, {}, {}, {} attention, {} kernels, {} loss, {} framework\n",
                      to_string(t.mode), to_string(t.precision), to_string(t.optimizer),
                      to_string(t.attention), to_string(t.kernel_profile), to_string(t.loss),
                      t.framework.name);
  text += fmt::format("  sequence {}, global batch {}{}\n", t.seq_len, t.global_batch,
                      t.micro_batches_unknown ? " (not stated)" : "");
  text += fmt::format("  plan: {} on {} x {} ({} a node)\n", describe(row.plan), row.cluster.gpus,
                      row.cluster.gpu->id, row.cluster.gpus_per_node);
  return text;
}

std::string line(const char* name, double value, const char* unit) {
  return fmt::format("    {:<22}{:>12.4f} {}\n", name, value, unit);
}

std::string terms(const memory::Breakdown& b) {
  return line("weights", b.weights / kGiB, "GiB") + line("gradients", b.gradients / kGiB, "GiB") +
         line("optimizer", b.optimizer / kGiB, "GiB") +
         line("activations", b.activations / kGiB, "GiB") + line("logits", b.logits / kGiB, "GiB") +
         line("buffers", b.buffers / kGiB, "GiB") + line("allocated", b.allocated() / kGiB, "GiB");
}

}  // namespace

std::string explain_memory(const TrainingRow& row) {
  const auto prepared = memory::prepare(row.architecture, row.training);
  const auto estimate = memory::estimate(prepared, row.plan, row.cluster, row.stage);
  std::string text = configuration(row);
  text += fmt::format("  measured {}: {}\n", row.quantity, row.measured);
  text += fmt::format("  peak: {} phase, stage {}\n", to_string(estimate.peak_phase),
                      estimate.peak_stage);
  text += terms(estimate.peak);
  text += line("reserved", estimate.reserved_bytes / kGiB, "GiB");
  text += line("outside the allocator", estimate.overhead_bytes / kGiB, "GiB");
  text += line("as nvidia-smi shows", estimate.smi_bytes / kGiB, "GiB");
  text += line("needed", estimate.needed() / kGiB, "GiB");
  text += line("usable", row.cluster.gpu_memory_bytes / kGiB, "GiB");
  for (const auto phase : {memory::Phase::loss, memory::Phase::backward, memory::Phase::step}) {
    if (phase == estimate.peak_phase) continue;
    text += fmt::format("  {} phase, same stage\n", to_string(phase));
    text +=
        terms(memory::phase_breakdown(prepared, row.plan, row.cluster, phase, estimate.peak_stage));
  }
  return text;
}

std::string explain_speed(const TrainingRow& row, const performance::Estimate& estimate,
                          double measured_s) {
  const performance::StepBreakdown& b = estimate.breakdown;
  std::string text = configuration(row);
  text += fmt::format("  measured step time: {:.4f} s, predicted {:.4f} s ({:+.1f}%)\n", measured_s,
                      estimate.step_time_s, 100 * (estimate.step_time_s / measured_s - 1));
  text +=
      line("compute", b.compute, "s") + line("recompute", b.recompute, "s") +
      line("tensor parallel", b.tensor_comm, "s") + line("context parallel", b.context_comm, "s") +
      line("expert parallel", b.expert_comm, "s") + line("pipeline sends", b.pipeline_comm, "s") +
      line("data parallel", b.data_comm, "s") + line("bubble", b.bubble, "s") +
      line("optimizer", b.optimizer, "s") + line("offload", b.offload, "s") +
      line("host", b.host, "s") + line("straggler", b.straggler, "s");
  text += fmt::format("  {:.0f} tokens/s a GPU, MFU {:.1f}%, HFU {:.1f}%\n",
                      estimate.tokens_per_s_per_gpu, 100 * estimate.mfu, 100 * estimate.hfu);
  return text;
}

}  // namespace gpuadvisor::accuracy
