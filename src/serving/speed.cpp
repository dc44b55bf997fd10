// The load models: a batch, closed clients, saturation, open arrivals and a burst, all
// asked of one server and its step.
#include <algorithm>
#include <cmath>

#include "gpuadvisor/serving.hpp"
#include "serving/server.hpp"

namespace gpuadvisor::serving {
namespace {

struct Ask {
  const Server& server;
  const Request& request;
  double replicas;
};

/// Rates of all replicas from the output rate of one.
void set_rates(Speed& speed, const Ask& a, double output_tokens_per_s) {
  const double output = std::max(1.0, a.request.output_len);
  speed.output_tokens_per_s = output_tokens_per_s * a.replicas;
  speed.requests_per_s = speed.output_tokens_per_s / output;
  speed.total_tokens_per_s = speed.requests_per_s * (a.request.input_len + a.request.output_len);
}

/// A batch that starts together: prompt, then o steps. What the cache cannot hold runs
/// in later shares.
void batch_load(Speed& speed, const Ask& a) {
  const Request& r = a.request;
  const double wanted = std::max(1.0, std::ceil(r.concurrency / a.replicas));
  const double held = std::min(wanted, a.server.cache_capacity());
  const double rounds = wanted / held;
  const double prompt = a.server.prefill(wanted).total();
  speed.step = a.server.decode(held, 0);
  speed.tpot_s = speed.step.total() / a.server.tokens_a_step();
  const double decode = r.output_len * speed.tpot_s * rounds;
  speed.ttft_s = prompt + (rounds - 1) / 2 * r.output_len * speed.tpot_s;
  speed.running = held;
  const double prompt_share = r.phase == Phase::decode ? 0 : prompt;
  const double time = prompt_share + decode;
  set_rates(speed, a, time > 0 ? wanted * r.output_len / time : 0);
  if (rounds > 1) speed.limit = Limit::kv_capacity;
}

/// Time from arrival to first token of a prompt beside `running` sequences.
double first_token(const Ask& a, double running) {
  const double alone = a.server.prefill(1).total();
  if (running < 1) return alone;
  if (a.server.profile().prompts_ride) {
    const double with = a.server.decode(running, a.server.prompt_tokens()).total();
    return with + a.server.decode(running, 0).total() / 2;
  }
  return alone + a.server.decode(running, 0).total() / 2;
}

void closed_load(Speed& speed, const Ask& a) {
  const double clients = std::max(1.0, a.request.concurrency / a.replicas);
  const double running = std::min(clients, a.server.capacity());
  speed.running = running;
  speed.step = a.server.decode(running, 0);
  speed.tpot_s = a.server.iteration(running);
  set_rates(speed, a, running / speed.tpot_s);
  speed.ttft_s = first_token(a, running - 1);
  const double rate = running / speed.tpot_s / std::max(1.0, a.request.output_len);
  if (clients > running) speed.ttft_s += (clients - running) / rate;
  if (clients > a.server.cache_capacity()) speed.limit = Limit::kv_capacity;
}

/// Output tokens/s of one replica with endless work.
double saturated_rate(const Ask& a) {
  return a.server.capacity() / a.server.iteration(a.server.capacity());
}

/// Few requests run in whole waves and a smaller last one.
double finite_rate(const Ask& a, double requests) {
  const double full = std::min(a.server.capacity(), requests);
  if (requests > 8 * full) return saturated_rate(a);
  const double waves = std::floor(requests / full), rest = requests - waves * full;
  double time = waves * a.request.output_len * a.server.iteration(full);
  if (rest >= 1) time += a.request.output_len * a.server.iteration(rest);
  return requests * a.request.output_len / time;
}

void saturated_load(Speed& speed, const Ask& a) {
  const double requests = a.request.requests / a.replicas;
  speed.running = requests > 0 ? std::min(a.server.capacity(), requests) : a.server.capacity();
  set_rates(speed, a, requests > 0 ? finite_rate(a, requests) : saturated_rate(a));
  speed.step = a.server.decode(speed.running, 0);
  speed.tpot_s = a.server.iteration(speed.running);
  speed.ttft_s = first_token(a, speed.running - 1);
  if (a.server.cache_capacity() <= a.server.capacity() && requests <= 0)
    speed.limit = Limit::kv_capacity;
}

void burst_load(Speed& speed, const Ask& a) {
  const double requests = std::max(
      1.0, (a.request.requests > 0 ? a.request.requests : a.request.concurrency) / a.replicas);
  const double first = std::min(a.server.capacity(), requests);
  speed.running = first;
  set_rates(speed, a, finite_rate(a, requests));
  speed.step = a.server.decode(first, 0);
  speed.tpot_s = a.server.iteration(first);
  // The first wave waits for half of its prompts, the others for their turn.
  const double rate = speed.requests_per_s / a.replicas;
  const double later = requests - first;
  speed.ttft_s = a.server.prefill(first).total() / 2 + a.server.prefill(1).total() / 2;
  if (rate > 0) speed.ttft_s += later * later / (2 * requests * rate);
  if (later > 0 && a.server.cache_capacity() <= a.server.capacity())
    speed.limit = Limit::kv_capacity;
}

/// Running sequences at `rate` requests/s: fixed point of B = rate·o·time a token.
double open_running(const Ask& a, double rate) {
  double running = std::min(1.0, a.server.capacity());
  for (int i = 0; i < 30; ++i) {
    const double prompts = rate * a.server.prompt_tokens();
    double tau = a.server.decode(std::max(1.0, running), 0).total();
    if (a.server.profile().prompts_ride)
      tau = a.server.decode(std::max(1.0, running), prompts * tau).total();
    else
      tau /= std::max(1e-3, 1 - rate * a.server.prefill(1).total());
    const double next =
        std::min(a.server.capacity(), rate * a.request.output_len * tau / a.server.tokens_a_step());
    if (std::abs(next - running) < 1e-3 * std::max(1.0, running)) return next;
    running = next;
  }
  return running;
}

void open_load(Speed& speed, const Ask& a) {
  const double rate = a.request.rate_rps / a.replicas;
  const double output = std::max(1.0, a.request.output_len);
  const double alone = a.server.prefill(1).total();
  // Prompts serialise; decoding has the capacity of the batch.
  const double most = a.request.output_len > 1 ? saturated_rate(a) / output : 1 / alone;
  speed.utilisation = rate / most;
  const double running = open_running(a, std::min(rate, most));
  const double at_least = std::max(1.0, running);
  speed.running = running;
  speed.step = a.server.decode(at_least, 0);
  const double rho = std::min(rate * alone, 0.999);
  if (a.server.profile().prompts_ride) {
    const double tau = speed.step.total();
    speed.tpot_s = a.server.decode(at_least, rate * a.server.prompt_tokens() * tau).total();
  } else {
    speed.tpot_s = speed.step.total() / (1 - rho);
  }
  speed.tpot_s /= a.server.tokens_a_step();
  speed.ttft_s = alone * (1 + rho / (2 * (1 - rho))) + (running > 0.5 ? speed.tpot_s / 2 : 0);
  set_rates(speed, a, std::min(rate, most) * output);
  if (speed.utilisation > 1) {
    // Above saturation the queue grows for as long as the run lasts.
    const double span = a.request.requests > 0 ? a.request.requests / a.replicas / rate : 600;
    speed.ttft_s += span / 2 * (speed.utilisation - 1);
    if (a.server.cache_capacity() <= a.server.capacity()) speed.limit = Limit::kv_capacity;
  }
}

void add_phase_rates(Speed& speed, const Ask& a) {
  const double prompts =
      a.request.load == Load::batch ? std::max(1.0, a.request.concurrency / a.replicas) : 1;
  const double time = a.server.prefill(prompts).total();
  speed.prefill_tokens_per_s = time > 0 ? prompts * a.request.input_len / time * a.replicas : 0;
  const double step = speed.step.total();
  if (step > 0)
    speed.decode_tokens_per_s =
        std::max(1.0, speed.running) * a.server.tokens_a_step() / step * a.replicas;
}

/// Splits the time of one request on the cluster between its prompt and its output, as
/// the prompt alone and its part of the decode steps would take.
void add_token_times(Speed& speed, const Ask& a) {
  const double input = std::max(1.0, a.request.input_len);
  const double prompt = a.server.prefill(1).total();
  const double token = speed.step.total() / std::max(1.0, speed.running) / a.server.tokens_a_step();
  const double request = prompt + token * a.request.output_len;
  if (speed.requests_per_s <= 0 || request <= 0) return;
  const double scale = 1 / (speed.requests_per_s * request);
  speed.input_token_s = prompt / input * scale;
  speed.output_token_s = token * scale;
}

}  // namespace

Estimate estimate(const Model& model, const Request& request, const Plan& plan,
                  const catalog::Cluster& cluster) {
  const Server server(model, request, plan, cluster);
  Estimate result;
  result.memory = server.memory();
  Speed& speed = result.speed;
  const Ask ask{server, request, static_cast<double>(std::max(1, plan.replicas))};
  const Load load =
      request.load == Load::closed && !server.profile().continuous ? Load::batch : request.load;
  switch (load) {
    case Load::batch:
      batch_load(speed, ask);
      break;
    case Load::closed:
      closed_load(speed, ask);
      break;
    case Load::saturated:
      saturated_load(speed, ask);
      break;
    case Load::open:
      open_load(speed, ask);
      break;
    case Load::burst:
      burst_load(speed, ask);
      break;
  }
  if (speed.limit != Limit::kv_capacity) speed.limit = speed.step.limit();
  add_phase_rates(speed, ask);
  add_token_times(speed, ask);
  Memory& memory = result.memory;
  const double more = std::max(0.0, speed.running - 1) * memory.kv_bytes_per_sequence;
  const double cached = plan.dp_attention ? more / plan.tp : more;
  memory.need = std::min(std::max(memory.need, memory.reserved), memory.need + cached);
  return result;
}

}  // namespace gpuadvisor::serving
