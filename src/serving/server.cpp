#include "serving/server.hpp"

#include <algorithm>
#include <cmath>

namespace gpuadvisor::serving {
namespace {

/// Expected tokens of one verification step, (1 - a^(k+1)) / (1 - a)
/// (Leviathan et al. 2023, equation 1).
double expected_tokens(const Draft& draft) {
  if (draft.model == nullptr || draft.tokens <= 0) return 1;
  const double a = std::clamp(draft.acceptance, 0.0, 1.0);
  if (a > 0.999999) return draft.tokens + 1.0;
  return (1 - std::pow(a, draft.tokens + 1)) / (1 - a);
}

}  // namespace

Server::Server(const Model& model, const Request& request, const Plan& plan,
               const catalog::Cluster& cluster)
    : context_(make_context(model, request, plan, cluster)),
      memory_(estimate_memory(model, request, plan, cluster)) {
  const EngineProfile& p = *context_.profile;
  const double ranks = plan.dp_attention ? plan.tp : 1;
  const double length = request.input_len + request.output_len * (p.admits_whole ? 1.0 : 0.5);
  const double sequence =
      kv_bytes(model, plan, std::max(1.0, length), context_.element_bytes, p.windows);
  cache_capacity_ =
      sequence > 0 ? std::max(0.0, memory_.kv_pool) * ranks / sequence : p.max_sequences * ranks;
  if (p.pool == PoolRule::growing || p.engine == Engine::other)
    cache_capacity_ = std::max(cache_capacity_, request.concurrency);
  cache_capacity_ = std::max(1.0, std::floor(cache_capacity_));
  const double cap = request.max_num_seqs > 0 ? request.max_num_seqs : p.max_sequences * ranks;
  capacity_ = std::max(1.0, std::min(cache_capacity_, cap));
  tokens_a_step_ = expected_tokens(request.draft);
  if (request.draft.model != nullptr)
    draft_ = make_context(*request.draft.model, request, plan, cluster);
}

double Server::mean_context() const {
  const Request& r = *context_.request;
  return r.input_len + r.output_len / 2;
}

double Server::prompt_tokens() const {
  const Request& r = *context_.request;
  return r.input_len * (1 - std::clamp(r.prefix_hit, 0.0, 1.0));
}

StepTime Server::prefill(double prompts) const {
  const Request& r = *context_.request;
  StepWork work;
  work.prompt_tokens = prompt_tokens() * prompts;
  work.prompt_context = r.input_len - prompt_tokens() / 2;
  return step_time(context_, work);
}

double Server::draft_time(double sequences) const {
  if (draft_.model == nullptr) return 0;
  StepWork work;
  work.sequences = sequences;
  work.context = mean_context();
  return context_.request->draft.tokens * step_time(draft_, work).total();
}

StepTime Server::decode(double sequences, double prompt_tokens) const {
  const Request& r = *context_.request;
  StepWork work;
  work.sequences = sequences;
  work.context = mean_context();
  work.prompt_tokens = prompt_tokens;
  work.prompt_context = r.input_len / 2;
  if (draft_.model != nullptr) {
    // The proposed tokens are verified like prompt tokens at the full context.
    const double proposed = sequences * r.draft.tokens;
    const double tokens = proposed + prompt_tokens;
    work.prompt_context = (proposed * work.context + prompt_tokens * work.prompt_context) / tokens;
    work.prompt_tokens = tokens;
  }
  StepTime step = step_time(context_, work);
  step.weights += draft_time(sequences);
  return step;
}

double Server::iteration(double sequences) const {
  const Request& r = *context_.request;
  const double output = std::max(1.0, r.output_len);
  const double share = sequences * tokens_a_step_ / output;  // requests that start a step
  if (context_.profile->prompts_ride)
    return decode(sequences, share * prompt_tokens()).total() / tokens_a_step_;
  return (decode(sequences, 0).total() + share * prefill(1).total()) / tokens_a_step_;
}

}  // namespace gpuadvisor::serving
