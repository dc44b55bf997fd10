// Which layers and parameters a pipeline stage holds, and how many micro-batches.
#include <algorithm>

#include "memory/terms.hpp"

namespace gpuadvisor::memory {
namespace {

double layers_of_kind(const Prepared& prepared, std::size_t kind, int from, int to) {
  const auto& before = prepared.layers_before[kind];
  return before[static_cast<std::size_t>(to)] - before[static_cast<std::size_t>(from)];
}

int first_layer(int layers, int pp, int stage) {
  return stage * (layers / pp) + std::min(stage, layers % pp);
}

void add_layers(StageParameters& own, const PlanContext& c, int stage) {
  const Architecture& m = c.prepared.architecture;
  const int from = first_layer(m.layers, c.plan.pp, stage);
  const int to = first_layer(m.layers, c.plan.pp, stage + 1);
  for (int k = 0; k < m.kind_count; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const LayerTable& table = c.prepared.layer[i];
    const double count = layers_of_kind(c.prepared, i, from, to);
    const double experts = count * table.expert_parameters * c.expert_share;
    const double matrices = count * table.tensor_parameters * c.tensor_share;
    own.layers[i] = count;
    own.layer_count += count;
    own.dense += matrices + count * table.whole_parameters;
    own.expert += experts;
    own.linear += matrices + count * table.linear_whole + experts;
  }
  own.share = m.layers > 0 ? own.layer_count / m.layers : 1;
}

// The embedding, which a tied head on another stage or an untied copy needs again.
void add_ends(StageParameters& own, const PlanContext& c) {
  const auto& counts = c.prepared.counts;
  if (own.first && counts.embedding > 0) own.embedding = c.end_matrix;
  if (own.first) own.embedding += counts.positions;
  const bool untied = counts.head > 0 || c.traits().unties_head;
  if (own.last && counts.embedding > 0 && (untied || c.plan.pp > 1)) own.head = c.end_matrix;
  if (own.last) own.dense += counts.final_norm;
  own.dense += own.embedding + own.head;
}

// Multi-token prediction: one layer more, a 2h x h projection, and the embedding again.
void add_prediction_layers(StageParameters& own, const PlanContext& c) {
  const Architecture& m = c.prepared.architecture;
  const int mtp = c.run().mtp_layers;
  const LayerTable& table =
      c.prepared.layer[m.kind_of_layer[static_cast<std::size_t>(m.layers - 1)]];
  const double h = m.hidden;
  own.dense +=
      mtp * ((table.tensor_parameters + 2 * h * h) * c.tensor_share + table.whole_parameters);
  own.expert += mtp * table.expert_parameters * c.expert_share;
  if (!own.first) own.dense += c.end_matrix;
}

}  // namespace

StageParameters stage_parameters(const PlanContext& c, int stage) {
  StageParameters own;
  own.first = stage == 0;
  own.last = stage == c.plan.pp - 1;
  add_layers(own, c, stage);
  add_ends(own, c);
  own.dense += c.prepared.remainder_parameters * own.share * c.tensor_share;
  if (own.last && c.run().mtp_layers > 0) add_prediction_layers(own, c);
  return own;
}

double in_flight(const PlanContext& c, int stage) {
  const Plan& plan = c.plan;
  if (plan.pp == 1) return 1;
  const double p = plan.pp, v = plan.vpp, i = stage;
  if (c.parts > 1) return std::min(1.0, (p - i) / c.parts);
  // An unknown number of micro-batches is taken as large.
  const double m = c.run().micro_batches_unknown ? 1e9 : std::max(1, plan.grad_accum);
  if (plan.schedule == workload::Schedule::gpipe) return m;
  if (plan.schedule == workload::Schedule::zb_2p) return std::min(2 * p - 1, m);
  if (plan.vpp > 1) return std::min(2 * (p - i - 1) + (v - 1) * p + 1, m * v) / v;
  return std::min(p - i, m);
}

}  // namespace gpuadvisor::memory
