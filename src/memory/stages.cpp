// Which layers and parameters a pipeline stage holds, and how many micro-batches.
#include <algorithm>
#include <cmath>

#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

constexpr double kVocabularyMultiple = 128;  // Megatron: make-vocab-size-divisible-by

double layers_of_kind(const Prepared& prepared, std::size_t kind, int from, int to) {
  const auto& before = prepared.layers_before[kind];
  return before[static_cast<std::size_t>(to)] - before[static_cast<std::size_t>(from)];
}

int first_layer(int layers, int pp, int stage) {
  return stage * (layers / pp) + std::min(stage, layers % pp);
}

void add_layers(StageParameters& own, const Prepared& prepared, const Plan& plan, int stage) {
  const Architecture& m = prepared.architecture;
  const int from = first_layer(m.layers, plan.pp, stage);
  const int to = first_layer(m.layers, plan.pp, stage + 1);
  for (int k = 0; k < m.kind_count; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const LayerTable& table = prepared.layer[i];
    const double count = layers_of_kind(prepared, i, from, to);
    const double experts = count * table.expert_parameters / plan.ep;
    own.layers[i] = count;
    own.layer_count += count;
    own.dense += count * (table.tensor_parameters / plan.tp + table.whole_parameters);
    own.expert += experts;
    own.linear += count * (table.tensor_parameters / plan.tp + table.linear_whole) + experts;
  }
  own.share = m.layers > 0 ? own.layer_count / m.layers : 1;
}

// The embedding, which a tied head on another stage or an untied copy needs again.
void add_ends(StageParameters& own, const Prepared& prepared, const Plan& plan) {
  const auto& counts = prepared.counts;
  const double matrix = padded_vocabulary(prepared, plan.tp) * prepared.architecture.hidden / plan.tp;
  if (own.first && counts.embedding > 0) own.embedding = matrix;
  if (own.first) own.embedding += counts.positions;
  const bool untied = counts.head > 0 || prepared.training.framework.memory.unties_head;
  if (own.last && counts.embedding > 0 && (untied || plan.pp > 1)) own.head = matrix;
  if (own.last) own.dense += counts.final_norm;
  own.dense += own.embedding + own.head;
}

}  // namespace

double padded_vocabulary(const Prepared& prepared, double tp) {
  const double v = prepared.architecture.vocab;
  if (!prepared.training.framework.pad_vocab) return v;
  const double multiple = kVocabularyMultiple * tp;
  return std::ceil(v / multiple) * multiple;
}

StageParameters stage_parameters(const Prepared& prepared, const Plan& plan, int stage) {
  StageParameters own;
  own.first = stage == 0;
  own.last = stage == plan.pp - 1;
  add_layers(own, prepared, plan, stage);
  add_ends(own, prepared, plan);
  own.dense += prepared.remainder_parameters * own.share / plan.tp;
  const int mtp = prepared.training.mtp_layers;
  if (own.last && mtp > 0) {
    const auto kind = static_cast<std::size_t>(
        prepared.architecture.kind_of_layer[static_cast<std::size_t>(prepared.architecture.layers - 1)]);
    const LayerTable& table = prepared.layer[kind];
    const double h = prepared.architecture.hidden;
    own.dense += mtp * (table.tensor_parameters / plan.tp + table.whole_parameters + 2 * h * h / plan.tp);
    own.expert += mtp * table.expert_parameters / plan.ep;
    if (!own.first) own.dense += padded_vocabulary(prepared, plan.tp) * h / plan.tp;
  }
  return own;
}

double micro_batch_parts(const Prepared& prepared, const Plan& plan) {
  const bool cuts = prepared.training.framework.memory.pipeline_splits_micro_batch;
  const bool said = plan.grad_accum > 1 && !prepared.training.micro_batches_unknown;
  if (!cuts || plan.pp == 1 || said) return 1;
  return std::min(plan.pp, plan.micro_batch);
}

double in_flight(const Prepared& prepared, const Plan& plan, int stage) {
  const double p = plan.pp, v = plan.vpp, i = stage;
  if (plan.pp == 1) return 1;
  const double parts = micro_batch_parts(prepared, plan);
  if (parts > 1) return std::min(1.0, (p - i) / parts);
  // An unknown number of micro-batches is taken as large.
  const double m = prepared.training.micro_batches_unknown ? 1e9 : std::max(1, plan.grad_accum);
  if (plan.schedule == workload::Schedule::gpipe) return m;
  if (plan.schedule == workload::Schedule::zb_2p) return std::min(2 * p - 1, m);
  if (plan.vpp > 1) return std::min(2 * (p - i - 1) + (v - 1) * p + 1, m * v) / v;
  return std::min(p - i, m);
}

double micro_tokens(const Prepared& prepared, const Plan& plan) {
  return static_cast<double>(plan.micro_batch) * static_cast<double>(prepared.training.seq_len) /
         plan.cp;
}

}  // namespace gpuadvisor::memory
