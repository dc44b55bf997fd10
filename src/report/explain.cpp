// --explain: every term of memory, time and cost of one result, with the formula it
// follows. Symbols: tp, pp, cp, dp, ep parallel sizes; s sequence length; b micro-batch.
#include <fmt/format.h>

#include "gpuadvisor/units.hpp"
#include "report/format.hpp"
#include "report/ranking.hpp"

namespace gpuadvisor::report {
namespace {

struct Term {
  std::string_view name;
  double value;
  std::string_view formula;
};

Grid terms_grid(std::string_view unit, std::span<const Term> terms, double total, bool bytes) {
  Grid grid;
  grid.columns = {{"term", "term"},
                  {"value", std::string(unit), Align::right},
                  {"share", "share", Align::right},
                  {"formula", "from"}};
  const auto shown = [&](double value) {
    return bytes ? format_bytes(Bytes(value)) : format_duration(Seconds(value));
  };
  for (const Term& term : terms)
    if (term.value > 0)
      grid.rows.push_back({std::string("  ") + std::string(term.name), shown(term.value),
                           total > 0 ? percent(term.value / total) : "-",
                           std::string(term.formula)});
  grid.rows.push_back({std::string("  total"), shown(total), std::string("100.0%"), std::string()});
  return grid;
}

std::string memory_terms(const advisor::ResultRow& row, const model::Architecture& architecture) {
  const memory::Estimate& estimate = row.best.memory;
  const memory::Prepared prepared = memory::prepare(architecture, row.training);
  const memory::Terms details = memory::explain(prepared, row.best.plan, row.cluster,
                                                estimate.peak_phase, estimate.peak_stage);
  std::vector<Term> terms;
  for (int i = 0; i < details.count; ++i) {
    const memory::Term& term = details.items[static_cast<std::size_t>(i)];
    terms.push_back({term.name, term.bytes, term.formula});
  }
  terms.push_back({"overhead", estimate.overhead_bytes,
                   "CUDA context and communicators, outside the allocator"});
  return fmt::format("memory of one GPU at its peak ({} phase, stage {}), usable {}\n",
                     memory::to_string(estimate.peak_phase), estimate.peak_stage,
                     format_bytes(Bytes(row.cluster.gpu_memory_bytes))) +
         table_text(terms_grid("bytes", terms, estimate.needed(), true), 0, false);
}

std::string time_terms(const advisor::ResultRow& row) {
  const performance::StepBreakdown& time = row.best.performance.breakdown;
  const Term terms[] = {
      {"compute", time.compute,
       "GEMMs by shape, attention, element-wise work, head; forward and backward"},
      {"recompute", time.recompute, "forward work done again in the backward pass"},
      {"tensor_comm", time.tensor_comm,
       "exposed tensor-parallel collectives / measured bus bandwidth"},
      {"context_comm", time.context_comm, "exposed context-parallel exchange"},
      {"expert_comm", time.expert_comm, "exposed all-to-all of experts"},
      {"pipeline_comm", time.pipeline_comm, "exposed sends between stages"},
      {"data_comm", time.data_comm, "exposed gradient and parameter collectives"},
      {"bubble", time.bubble, "(pp - 1) / (vpp x micro-batches) of the pipeline, stage imbalance"},
      {"optimizer", time.optimizer, "optimizer traffic / memory bandwidth"},
      {"offload", time.offload, "host transfers and CPU optimizer"},
      {"host", time.host, "kernel launches above the GPU's own time"},
      {"straggler", time.straggler, "slowest of many"}};
  return fmt::format("time of one step: {} tokens/s, MFU {}, HFU {}\n",
                     short_number(row.best.performance.tokens_per_s),
                     percent(row.best.performance.mfu), percent(row.best.performance.hfu)) +
         table_text(terms_grid("time", terms, row.best.performance.step_time_s, false), 0, false);
}

std::string cost_terms(const advisor::ResultRow& row) {
  std::string text =
      fmt::format("cost: {} tokens / {} tokens/s = {} h", format_count(row.training.tokens),
                  short_number(row.best.performance.tokens_per_s), short_number(row.cost.hours));
  if (!row.quote) return text + "; no price\n";
  text += fmt::format("; x {} x {}/h", row.count,
                      format_money({row.quote->per_hour, row.quote->currency}));
  if (row.cost.total) text += " = " + format_money({*row.cost.total, row.quote->currency});
  text += fmt::format("\n  price: {}/h{}{}, {}\n",
                      format_money({row.quote->original_per_hour, row.quote->original_currency}),
                      row.quote->region.empty() ? "" : " in " + row.quote->region,
                      row.quote->date.empty() ? ", undated" : " of " + row.quote->date,
                      row.quote->source);
  return text;
}

std::string serving_terms(const advisor::ResultRow& row) {
  const serving::Memory& memory = row.serving->estimate.memory;
  const Term bytes[] = {
      {"weights", memory.weights, "matrices / tp in the chosen format, rest 16 bit"},
      {"activations", memory.activations, "peak of the largest forward pass"},
      {"graphs", memory.graphs, "CUDA graphs"},
      {"non_torch", memory.non_torch, "context, communicators"},
      {"kv_pool", memory.kv_pool, "what the engine keeps for the KV cache"}};
  double total = 0;
  for (const Term& term : bytes) total += term.value;
  const serving::StepTime& step = row.serving->estimate.speed.step;
  const Term times[] = {
      {"weights", step.weights, "bytes of the weights / memory bandwidth"},
      {"compute", step.compute, "GEMMs beyond reading the weights"},
      {"kv_read", step.kv_read, "cache of the running sequences / memory bandwidth"},
      {"prompt_attention", step.prompt_attention, "attention of prompts in the step"},
      {"elementwise", step.elementwise, "norms, activations, sampling"},
      {"all_reduce", step.all_reduce, "tensor-parallel sums"},
      {"launch", step.launch, "host and kernel launches"}};
  return "memory of one GPU\n" + table_text(terms_grid("bytes", bytes, total, true), 0, false) +
         "time of one decode step\n" +
         table_text(terms_grid("time", times, step.total(), false), 0, false);
}

}  // namespace

std::string explanation(const advisor::ResultRow& row, const model::Architecture& architecture) {
  const std::string head = fmt::format("\nTerms of {}. {}\n", row.rank, cluster_label(row));
  if (row.serving) return head + serving_terms(row);
  return head + memory_terms(row, architecture) + time_terms(row) + cost_terms(row);
}

}  // namespace gpuadvisor::report
