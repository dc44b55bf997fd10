#include "accuracy/flops_labels.hpp"

namespace gpuadvisor::accuracy {
namespace {

struct Shape {
  double batch, seq, layers, hidden, vocab, parameters, embedding, attention_width;
  bool checkpointing;
};

Shape shape_of(const TrainingRow& row) {
  const auto& a = row.architecture;
  const auto counts = model::count_parameters(a);
  const double total = a.parameters_reported > 0 ? a.parameters_reported : counts.total;
  return {static_cast<double>(row.training.global_batch),
          static_cast<double>(row.training.seq_len),
          static_cast<double>(a.layers),
          static_cast<double>(a.hidden),
          static_cast<double>(a.vocab),
          total,
          counts.embedding,
          a.q_width(),
          row.plan.recompute == workload::Recompute::full};
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// Narayanan et al. 2021, section 5.1: hardware FLOPs with full recomputation.
double narayanan(const Shape& s) {
  return 96 * s.batch * s.seq * s.layers * s.hidden * s.hidden *
         (1 + s.seq / (6 * s.hidden) + s.vocab / (16 * s.layers * s.hidden));
}

/// Korthikanti et al. 2022, appendix A: model FLOPs.
double korthikanti(const Shape& s) {
  return 72 * s.batch * s.layers * s.seq * s.hidden * s.hidden *
         (1 + s.seq / (6 * s.hidden) + s.vocab / (12 * s.hidden * s.layers));
}

}  // namespace

double labelled_flops(const std::string& formula, const std::string& kind, const TrainingRow& row,
                      const performance::Estimate& estimate) {
  const Shape s = shape_of(row);
  const double tokens = s.batch * s.seq;
  // The score and value products of attention, forward and backward, not halved.
  const double attention = 12 * s.layers * s.attention_width * s.seq * tokens;
  if (contains(formula, "korthikanti")) return korthikanti(s);
  if (contains(formula, "narayanan") || contains(formula, "megatron-deepspeed"))
    return narayanan(s) * (s.checkpointing || contains(kind, "factor 4") ? 1.0 : 0.75);
  if (contains(formula, "bigscience"))
    return (contains(kind, "hardware") ? 8 : 6) * s.parameters * tokens;
  if (contains(formula, "llm-foundry")) return 6 * s.parameters * tokens + attention;
  if (contains(formula, "torchtitan") || contains(formula, "PaLM"))
    return 6 * (s.parameters - s.embedding) * tokens + attention;
  if (contains(formula, "6ND") || contains(formula, "6N")) return 6 * s.parameters * tokens;
  return contains(kind, "hardware") ? estimate.hardware_flops_per_step
                                    : estimate.model_flops_per_step;
}

}  // namespace gpuadvisor::accuracy
