#include "planner/space.hpp"

#include <algorithm>

namespace gpuadvisor::planner {
namespace {

using workload::Sharding;

std::vector<std::int32_t> divisors(std::int64_t whole, std::int64_t limit) {
  std::vector<std::int32_t> low, high;
  for (std::int64_t part = 1; part * part <= whole; ++part) {
    if (whole % part != 0) continue;
    low.push_back(static_cast<std::int32_t>(part));
    if (part * part != whole) high.push_back(static_cast<std::int32_t>(whole / part));
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  while (!low.empty() && low.back() > limit) low.pop_back();
  return low;
}

Set<Sharding> with_stage(Set<Sharding> set, int stage) {
  Set<Sharding> kept;
  for (unsigned bit = 0; bit <= static_cast<unsigned>(Sharding::hsdp); ++bit)
    if (workload::zero_stage(static_cast<Sharding>(bit)) == stage)
      kept.bits |= set.bits & 1U << bit;
  return kept;
}

/// The shardings to enumerate. A quantised base stays whole or in FSDP units.
Set<Sharding> wanted_shardings(const FrameworkRules& rules, const workload::Training& training,
                               const Constraints& constraints) {
  if (constraints.sharding) return Set<Sharding>{*constraints.sharding} & rules.legal;
  if (constraints.zero_stage) {
    const auto searched = with_stage(rules.searched, *constraints.zero_stage);
    return searched.bits != 0 ? searched : with_stage(rules.legal, *constraints.zero_stage);
  }
  if (training.mode == workload::Mode::qlora)
    return rules.searched & Set<Sharding>{Sharding::none, Sharding::fsdp};
  return rules.searched;
}

/// A frozen base that one GPU holds stays there; a quantised one is never offloaded.
bool frozen_base_fits(const model::Architecture& architecture, const workload::Training& training,
                      const catalog::Cluster& cluster) {
  constexpr double kBytesOf16Bit = 2;
  if (training.mode == workload::Mode::qlora) return true;
  return training.mode == workload::Mode::lora &&
         kBytesOf16Bit * model::count_parameters(architecture).total < cluster.gpu_memory_bytes;
}

}  // namespace

std::uint64_t Inner::plans_per_state() const {
  std::uint64_t count = 0;
  for (const auto& interleave : interleaves) count += interleave.last - interleave.first;
  return count * recomputes.size();
}

Space::Space(const model::Architecture& architecture, const workload::Training& training,
             const catalog::Cluster& cluster, const Constraints& constraints)
    : architecture_(architecture),
      training_(training),
      cluster_(cluster),
      constraints_(constraints),
      rules_(framework_rules(training.framework.id)),
      shardings_(wanted_shardings(rules_, training, constraints)),
      searches_offload_(rules_.searches_offload && cluster.host_memory_bytes > 0 &&
                        !frozen_base_fits(architecture, training, cluster)) {
  const std::int64_t gpus = cluster.gpus;
  for (const auto tp : values(constraints.tp, Dimension::tp, gpus)) {
    if (!tp_divides_model(architecture, tp)) continue;
    if (!tp_in_node(cluster, tp, constraints.tp_across_nodes)) continue;
    for (const auto pp : values(constraints.pp, Dimension::pp, architecture.layers)) {
      if (!divides(std::int64_t{tp} * pp, gpus) || !pp_allows(architecture, rules_, pp)) continue;
      for (const auto cp : values(constraints.cp, Dimension::cp, training.seq_len)) {
        if (!divides(std::int64_t{tp} * pp * cp, gpus)) continue;
        if (!cp_divides_sequence(architecture, training, cp)) continue;
        add_outers(tp, pp, cp);
      }
    }
  }
}

std::vector<std::int32_t> Space::values(std::optional<int> fixed, Dimension dimension,
                                        std::int64_t limit) const {
  if (fixed) {
    const bool legal = *fixed == 1 || rules_.legal_dimensions.has(dimension);
    if (!legal || *fixed < 1 || *fixed > limit) return {};
    return {*fixed};
  }
  if (!rules_.searched_dimensions.has(dimension)) return {1};
  return divisors(cluster_.gpus, limit);
}

void Space::add_outers(std::int32_t tp, std::int32_t pp, std::int32_t cp) {
  const auto dp = static_cast<std::int32_t>(cluster_.gpus / (std::int64_t{tp} * pp * cp));
  if (constraints_.dp && *constraints_.dp != dp) return;
  if (!batch_divides(training_, 1, dp)) return;
  const std::int64_t ranks = std::int64_t{dp} * cp * tp;
  std::vector<std::int32_t> eps{1};
  if (constraints_.ep) {
    const bool legal = *constraints_.ep == 1 || rules_.legal_dimensions.has(Dimension::ep);
    eps.assign(legal && *constraints_.ep >= 1 ? 1U : 0U, *constraints_.ep);
  } else if (architecture_.experts > 0 && rules_.searched_dimensions.has(Dimension::ep)) {
    eps = divisors(architecture_.experts, ranks);
  }
  for (const auto ep : eps)
    if (ep_allows(architecture_, ep, ranks)) outers_.push_back({tp, pp, cp, ep, dp});
}

bool Space::shards_nothing(const StateChoice& state, const Outer& outer) const {
  const bool asked = constraints_.sharding || constraints_.zero_stage;
  return !asked && state.sharding != Sharding::none && state.offload == workload::kOffloadNone &&
         std::int64_t{outer.dp} * outer.cp == 1;
}

bool Space::state_allowed(const StateChoice& state, const Outer& outer) const {
  if (!sharding_allows_pipeline(rules_, state.sharding, outer.pp)) return false;
  if (!offload_allows(state.sharding, state.offload, workload::Recompute::full)) return false;
  if (state.sharding == Sharding::hsdp &&
      !hsdp_allows(std::int64_t{outer.dp} * outer.cp, hsdp_group(cluster_, outer.tp, 0)))
    return false;
  return !shards_nothing(state, outer);
}

void Space::fill_states(const Outer& outer, Inner& out) const {
  using namespace workload;
  out.states.clear();
  std::uint8_t offloads[3] = {kOffloadNone, kOffloadOptimizer, kOffloadOptimizer | kOffloadParams};
  int choices = 1;
  if (constraints_.offload)
    offloads[0] = *constraints_.offload;
  else if (searches_offload_)
    choices = 3;
  for (unsigned bit = 0; bit <= static_cast<unsigned>(Sharding::hsdp); ++bit) {
    const auto sharding = static_cast<Sharding>(bit);
    if (!shardings_.has(sharding)) continue;
    // Offload is tried as ZeRO-Offload; FSDP's is for those who ask.
    const int tried = is_fsdp(sharding) ? 1 : choices;
    for (int choice = 0; choice < tried; ++choice)
      if (state_allowed({sharding, offloads[choice]}, outer))
        out.states.push_back({sharding, offloads[choice]});
  }
}

void Space::fill_interleaves(const Outer& outer, Inner& out) const {
  using workload::Schedule;
  const std::int64_t share =
      training_.micro_batches_unknown ? 1 : training_.global_batch / outer.dp;
  std::vector<std::int32_t> batches{1};
  if (!training_.micro_batches_unknown) batches = divisors(share, share);
  if (constraints_.micro_batch) batches = {*constraints_.micro_batch};
  std::vector<std::int32_t> stages{1};
  if (constraints_.vpp)
    stages = {*constraints_.vpp};
  else if (rules_.even_interleave && outer.pp > 1 && divides(outer.pp, architecture_.layers))
    stages = divisors(architecture_.layers / outer.pp, architecture_.layers);
  const auto wanted = constraints_.schedule;
  out.interleaves.clear();
  out.micro_batches.clear();
  for (const auto vpp : stages) {
    if (vpp < 1 || !vpp_allows(architecture_, outer.pp, vpp)) continue;
    if (wanted && (*wanted == Schedule::interleaved) != (vpp > 1)) continue;
    Interleave interleave{vpp,
                          vpp > 1 ? Schedule::interleaved : wanted.value_or(Schedule::one_f_one_b),
                          out.micro_batches.size(), 0};
    for (const auto batch : batches)
      if (batch >= 1 && (training_.micro_batches_unknown || divides(batch, share)) &&
          interleave_allows(rules_, vpp, outer.pp, share / batch))
        out.micro_batches.push_back(batch);
    interleave.last = out.micro_batches.size();
    if (interleave.last > interleave.first) out.interleaves.push_back(interleave);
  }
}

void Space::fill_recomputes(Inner& out) const {
  using workload::Recompute;
  const bool full_only =
      constraints_.offload && (*constraints_.offload & workload::kOffloadActivations);
  out.recomputes.clear();
  for (unsigned bit = 0; bit <= static_cast<unsigned>(Recompute::full); ++bit) {
    const auto kind = static_cast<Recompute>(bit);
    const bool wanted = constraints_.recompute ? kind == *constraints_.recompute
                                               : rules_.searched_recompute.has(kind);
    if (wanted && (!full_only || kind == Recompute::full)) out.recomputes.push_back(kind);
  }
}

void Space::inner(const Outer& outer, Inner& out) const {
  fill_states(outer, out);
  fill_interleaves(outer, out);
  fill_recomputes(out);
  const bool possible = sequence_parallel_allows(training_, outer.tp, outer.cp);
  const bool wanted =
      constraints_.sequence_parallel.value_or(training_.framework.sequence_parallel);
  out.sequence_parallel = possible && wanted;
  if (constraints_.sequence_parallel.value_or(false) && !possible) out.states.clear();
}

workload::Plan Space::plan(const Outer& outer, const Inner& inner, const StateChoice& state,
                           const Interleave& interleave, workload::Recompute recompute,
                           std::int32_t micro_batch) const {
  workload::Plan plan;
  plan.tp = outer.tp;
  plan.pp = outer.pp;
  plan.vpp = interleave.vpp;
  plan.cp = outer.cp;
  plan.ep = outer.ep;
  plan.dp = outer.dp;
  plan.sharding = state.sharding;
  plan.sequence_parallel = inner.sequence_parallel;
  plan.schedule = interleave.schedule;
  plan.micro_batch = micro_batch;
  if (!training_.micro_batches_unknown)
    plan.grad_accum =
        static_cast<std::int32_t>(training_.global_batch / (std::int64_t{micro_batch} * outer.dp));
  plan.recompute = recompute;
  plan.offload = state.offload;
  if (state.sharding == Sharding::hsdp)
    plan.hsdp_group = static_cast<std::int32_t>(hsdp_group(cluster_, outer.tp, 0));
  return plan;
}

void for_each_plan(const model::Architecture& architecture, const workload::Training& training,
                   const catalog::Cluster& cluster, const Constraints& constraints,
                   const std::function<bool(const workload::Plan&)>& visit) {
  const Space space(architecture, training, cluster, constraints);
  Inner inner;
  for (const auto& outer : space.outers()) {
    space.inner(outer, inner);
    for (const auto& state : inner.states)
      for (const auto& interleave : inner.interleaves)
        for (const auto recompute : inner.recomputes)
          for (std::size_t at = interleave.first; at < interleave.last; ++at)
            if (!visit(space.plan(outer, inner, state, interleave, recompute,
                                  inner.micro_batches[at])))
              return;
  }
}

}  // namespace gpuadvisor::planner
