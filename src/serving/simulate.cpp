// Continuous batching as a queue: requests are admitted in order while the sequence cap
// and the cache allow; every engine step is timed by the step model.
#include <algorithm>
#include <cmath>
#include <deque>

#include "gpuadvisor/serving.hpp"
#include "serving/server.hpp"

namespace gpuadvisor::serving {
namespace {

struct Active {
  std::size_t index = 0;
  double prompt_left = 0, prompt = 0, produced = 0, output = 0, reserved = 0;
  [[nodiscard]] bool decoding() const { return prompt_left <= 0; }
};

class Queue {
 public:
  Queue(const Server& server, std::span<const Arrival> arrivals)
      : server_(server),
        arrivals_(arrivals),
        results_(arrivals.size()),
        first_(arrivals.size(), 0) {
    const Request& r = *server.context().request;
    const Plan& plan = server.context().plan;
    pool_ = server.memory().kv_pool * (plan.dp_attention ? plan.tp : 1);
    cap_ = r.max_num_seqs > 0 ? r.max_num_seqs : server.profile().max_sequences;
    chunk_ = r.max_num_batched_tokens > 0 ? r.max_num_batched_tokens : 8192;
  }

  void run() {
    while (next_ < arrivals_.size() || !active_.empty()) {
      admit();
      if (active_.empty()) {
        clock_ = std::max(clock_, arrivals_[next_].time_s);
        continue;
      }
      advance();
      finish();
    }
  }

  [[nodiscard]] std::vector<SimulatedRequest>& results() { return results_; }
  [[nodiscard]] double clock() const { return clock_; }
  [[nodiscard]] double peak() const { return peak_; }

 private:
  [[nodiscard]] double cache_of(const Arrival& a) const {
    const double share = server_.profile().admits_whole ? 1.0 : 0.5;
    return kv_bytes(*server_.context().model, server_.context().plan,
                    std::max(1.0, a.input_len + share * a.output_len),
                    server_.context().element_bytes, server_.profile().windows);
  }

  void admit() {
    while (next_ < arrivals_.size() && arrivals_[next_].time_s <= clock_) {
      const Arrival& a = arrivals_[next_];
      const double cache = cache_of(a);
      // One request always runs, so that a queue never stands still.
      const bool room = static_cast<double>(active_.size()) < cap_ && reserved_ + cache <= pool_;
      if (!room && !active_.empty()) return;
      const double hit = std::clamp(server_.context().request->prefix_hit, 0.0, 1.0);
      active_.push_back({next_, std::max(1.0, a.input_len * (1 - hit)), a.input_len, 0,
                         std::max(1.0, a.output_len), cache});
      reserved_ += cache;
      ++next_;
      peak_ = std::max(peak_, static_cast<double>(active_.size()));
    }
  }

  /// Takes prompt tokens for this step, oldest request first.
  double take_prompts(StepWork& work) {
    double context = 0;
    for (Active& a : active_) {
      if (a.decoding() || work.prompt_tokens >= chunk_) continue;
      const double taken = std::min(a.prompt_left, chunk_ - work.prompt_tokens);
      context += taken * (a.prompt - a.prompt_left + taken / 2);
      a.prompt_left -= taken;
      work.prompt_tokens += taken;
    }
    if (work.prompt_tokens > 0) work.prompt_context = context / work.prompt_tokens;
    return work.prompt_tokens;
  }

  void advance() {
    StepWork work;
    double contexts = 0;
    for (const Active& a : active_)
      if (a.decoding()) {
        work.sequences += 1;
        contexts += a.prompt + a.produced;
      }
    if (work.sequences > 0) work.context = contexts / work.sequences;
    stepping_.clear();
    for (Active& a : active_)
      if (a.decoding()) stepping_.push_back(&a);
    const double prompts = take_prompts(work);
    const bool stopped = prompts > 0 && !server_.profile().prompts_ride;
    if (stopped) {  // decoding waits for the prompts
      work.sequences = 0;
      stepping_.clear();
    }
    clock_ += step_time(server_.context(), work).total();
    for (Active* a : stepping_) a->produced += server_.tokens_a_step();
    for (Active& a : active_)
      if (a.decoding() && a.produced <= 0) {  // its last prompt token gave the first token
        a.produced = 1;
        first_[a.index] = clock_;
      }
  }

  void finish() {
    for (const Active& a : active_) {
      if (a.produced < a.output) continue;
      const Arrival& arrival = arrivals_[a.index];
      SimulatedRequest& r = results_[a.index];
      r.ttft_s = first_[a.index] - arrival.time_s;
      r.finish_s = clock_;
      r.tpot_s = a.output > 1 ? (clock_ - first_[a.index]) / (a.output - 1) : 0;
      reserved_ -= a.reserved;
    }
    active_.erase(std::remove_if(active_.begin(), active_.end(),
                                 [](const Active& a) { return a.produced >= a.output; }),
                  active_.end());
  }

  const Server& server_;
  std::span<const Arrival> arrivals_;
  std::vector<SimulatedRequest> results_;
  std::vector<double> first_;
  std::deque<Active> active_;
  std::vector<Active*> stepping_;
  std::size_t next_ = 0;
  double clock_ = 0, reserved_ = 0, pool_ = 0, cap_ = 256, chunk_ = 8192, peak_ = 0;
};

/// Nearest-rank percentile of a sorted list.
double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size() - 1, rank > 0 ? rank - 1 : 0)];
}

struct Statistics {
  double mean = 0, p50 = 0, p95 = 0, p99 = 0;
};

Statistics statistics(const std::vector<SimulatedRequest>& requests,
                      double SimulatedRequest::*value) {
  std::vector<double> values;
  values.reserve(requests.size());
  double sum = 0;
  for (const SimulatedRequest& r : requests) {
    values.push_back(r.*value);
    sum += r.*value;
  }
  std::sort(values.begin(), values.end());
  const double count = std::max<double>(1, static_cast<double>(values.size()));
  return {sum / count, percentile(values, .50), percentile(values, .95), percentile(values, .99)};
}

void summarise(Simulation& result, std::span<const Arrival> arrivals) {
  double tokens = 0;
  for (const Arrival& a : arrivals) tokens += a.output_len;
  result.output_tokens_per_s = result.duration_s > 0 ? tokens / result.duration_s : 0;
  const Statistics first = statistics(result.requests, &SimulatedRequest::ttft_s);
  const Statistics token = statistics(result.requests, &SimulatedRequest::tpot_s);
  result.ttft_mean_s = first.mean;
  result.ttft_p50_s = first.p50;
  result.ttft_p95_s = first.p95;
  result.ttft_p99_s = first.p99;
  result.tpot_mean_s = token.mean;
  result.tpot_p50_s = token.p50;
  result.tpot_p95_s = token.p95;
  result.tpot_p99_s = token.p99;
}

/// splitmix64 (Steele et al. 2014): the same numbers on every platform.
struct Random {
  std::uint64_t state;
  double uniform() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }
};

/// Log-normal length of a mean and 95th percentile: ln(p95/mean) = 1.645·s - s²/2.
double draw_length(Random& random, double mean, double p95) {
  if (p95 <= mean || mean <= 0) return mean;
  constexpr double kZ = 1.6448536269514722;
  const double root = kZ * kZ - 2 * std::log(p95 / mean);
  const double sigma = kZ - std::sqrt(std::max(0.0, root));
  const double length = std::exp(std::log(mean) - sigma * sigma / 2 + sigma * random.normal());
  return std::max(1.0, std::round(length));
}

}  // namespace

Simulation simulate(const Model& model, const Request& request, const Plan& plan,
                    const catalog::Cluster& cluster, std::span<const Arrival> arrivals) {
  const Server server(model, request, plan, cluster);
  const auto replicas = static_cast<std::size_t>(std::max(1, plan.replicas));
  Simulation result;
  result.requests.resize(arrivals.size());
  double end = 0;
  for (std::size_t replica = 0; replica < replicas; ++replica) {
    std::vector<Arrival> share;
    for (std::size_t i = replica; i < arrivals.size(); i += replicas) share.push_back(arrivals[i]);
    Queue queue(server, share);
    queue.run();
    for (std::size_t i = 0; i < share.size(); ++i)
      result.requests[replica + i * replicas] = queue.results()[i];
    end = std::max(end, queue.clock());
    result.peak_running = std::max(result.peak_running, queue.peak());
  }
  result.duration_s = arrivals.empty() ? 0 : end - arrivals.front().time_s;
  summarise(result, arrivals);
  return result;
}

std::vector<Arrival> poisson_arrivals(double rate_rps, std::size_t count, double input_mean,
                                      double input_p95, double output_mean, double output_p95,
                                      std::uint64_t seed) {
  Random random{seed};
  std::vector<Arrival> arrivals(count);
  double time = 0;
  for (Arrival& a : arrivals) {
    if (rate_rps > 0) time += -std::log(random.uniform()) / rate_rps;
    a.time_s = time;
    a.input_len = draw_length(random, input_mean, input_p95);
    a.output_len = draw_length(random, output_mean, output_p95);
  }
  return arrivals;
}

}  // namespace gpuadvisor::serving
