#include "performance/head.hpp"

#include <algorithm>

#include "performance/gemm.hpp"

namespace gpuadvisor::performance {
namespace {

constexpr double kEmbeddingBytes = 12;  // look-up, gradient sort and scatter, an element
constexpr double kFusedLossBytes = 8;   // logits never leave the chunk
constexpr double kCompiledLossBytes = 20;
constexpr double kForwardShare = 1.0 / 3;

double loss_bytes(const workload::Training& training) {
  const double usual = training.framework.loss_bytes;
  switch (training.loss) {
    case workload::Loss::fused:
      return std::min(usual, kFusedLossBytes);
    case workload::Loss::compiled:
      return std::min(usual, kCompiledLossBytes);
    case workload::Loss::chunked:
    case workload::Loss::plain:
      break;
  }
  return usual;
}

}  // namespace

bool has_head(const model::Architecture& architecture) {
  return architecture.topology == model::Topology::decoder ||
         architecture.topology == model::Topology::encoder_decoder;
}

HeadTimes head_times(const Machine& machine, const memory::Prepared& prepared,
                     const LayerKey& key) {
  const auto& a = prepared.architecture;
  const workload::Training& training = prepared.training;
  const double tokens = 1.0 * key.micro_batch * static_cast<double>(training.seq_len) / key.cp;
  HeadTimes times;
  times.embedding = kEmbeddingBytes * tokens * a.hidden / machine.elementwise_bw;
  if (!has_head(a) || !a.causal) return times;
  const double vocabulary = 1.0 * a.vocab / (training.framework.vocab_parallel ? key.tp : 1);
  const double loss = loss_bytes(training) * tokens * vocabulary / machine.elementwise_bw;
  const bool frozen = training.adapters() && !training.trained_embeddings;
  times.forward = matmul_time(machine, {tokens, vocabulary, 1.0 * a.hidden}) + kForwardShare * loss;
  times.backward =
      matmul_time(machine, {tokens, 1.0 * a.hidden, vocabulary}) + (1 - kForwardShare) * loss;
  if (!frozen) times.backward += matmul_time(machine, {vocabulary, 1.0 * a.hidden, tokens});
  return times;
}

}  // namespace gpuadvisor::performance
