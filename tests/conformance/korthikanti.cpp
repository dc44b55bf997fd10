// Korthikanti et al. 2022, table 2: activation bytes of a layer in 16 bit with 1-byte
// dropout masks, GELU, f = 4h and materialised scores.
#include "conformance/peers.hpp"
#include "gpuadvisor/memory.hpp"
#include "test_support/catch.hpp"

using namespace conformance;
using namespace gpuadvisor;

namespace {

constexpr double kBytesPerGiB = 1024.0 * 1024 * 1024;

struct Shape {
  double sbh, scores, t;  ///< s·b·h, 5·a·s²·b, tensor-parallel size
};

Shape shape_of(const Json& in) {
  const double s = number(in, "seq");
  const double b = number(in, "micro_batch");
  return {s * b * number(in, "hidden"), 5 * number(in, "heads") * s * s * b, number(in, "tp")};
}

/// Kept activations of a layer in the memory model: what one layer more adds.
double modelled_layer(const Json& in, bool sequence_parallel, bool selective) {
  model::Architecture a;
  a.layers = static_cast<std::int32_t>(number(in, "layers"));
  a.hidden = static_cast<std::int32_t>(number(in, "hidden"));
  a.heads = a.kv_heads = static_cast<std::int32_t>(number(in, "heads"));
  a.head_dim = a.hidden / a.heads;
  a.ffn = 4 * a.hidden;
  a.vocab = static_cast<std::int32_t>(number(in, "vocab"));
  a.gated = false;
  a.norm = model::Norm::layer;
  workload::Plan plan;
  plan.tp = static_cast<std::int32_t>(number(in, "tp"));
  plan.micro_batch = static_cast<std::int32_t>(number(in, "micro_batch"));
  plan.sequence_parallel = sequence_parallel;
  plan.recompute = selective ? workload::Recompute::selective : workload::Recompute::none;
  catalog::Gpu gpu;
  gpu.compute_capability = 8.0;
  gpu.bf16 = gpu.fp16 = 1;
  catalog::Cluster cluster;
  cluster.gpu = &gpu;
  cluster.gpus = cluster.gpus_per_node = plan.tp;
  workload::Request request;
  request.mode = workload::Mode::pretrain;
  request.framework = workload::Framework::megatron_deepspeed;
  request.seq_len = static_cast<std::int64_t>(number(in, "seq"));
  request.attention = workload::Attention::eager;
  request.dropout = 0.1;
  const auto activations = [&](int layers) {
    a.layers = layers;
    a.kind_count = 0;
    model::fill_uniform_layers(a);
    const auto resolved = workload::resolve(request, a, &gpu);
    REQUIRE(resolved.has_value());
    const auto prepared = memory::prepare(a, resolved->training);
    return memory::phase_breakdown(prepared, plan, cluster, memory::Phase::loss, 0).activations;
  };
  return (activations(9) - activations(1)) / 8 / kBytesPerGiB;
}

}  // namespace

TEST_CASE("Korthikanti's table 2 is reproduced") {
  const Json& cases = peers()["korthikanti"]["cases"];
  REQUIRE(cases.size() == 6);
  for (const Json& entry : cases) {
    INFO(entry["id"]);
    const Shape s = shape_of(entry["input"]);
    const auto equal = [&](const char* key, double bytes) {
      CHECK_THAT(bytes / kBytesPerGiB, WithinRel(number(entry["output"], key), 1e-9));
    };
    equal("no_parallel", 34 * s.sbh + s.scores);
    equal("tensor", (10 + 24 / s.t) * s.sbh + s.scores / s.t);
    equal("tensor_sp", (34 * s.sbh + s.scores) / s.t);
    equal("tensor_selective", (10 + 24 / s.t) * s.sbh);
    equal("tensor_sp_selective", 34 * s.sbh / s.t);
    equal("full_recompute", 2 * s.sbh);
  }
}

TEST_CASE("the memory model keeps what Korthikanti counts") {
  for (const Json& entry : peers()["korthikanti"]["cases"]) {
    INFO(entry["id"]);
    const Json& in = entry["input"];
    const Json& want = entry["output"];
    CHECK_THAT(modelled_layer(in, false, false), WithinRel(number(want, "tensor"), 1e-3));
    CHECK_THAT(modelled_layer(in, true, false), WithinRel(number(want, "tensor_sp"), 1e-3));
    CHECK_THAT(modelled_layer(in, false, true), WithinRel(number(want, "tensor_selective"), 1e-3));
    CHECK_THAT(modelled_layer(in, true, true),
               WithinRel(number(want, "tensor_sp_selective"), 1e-3));
  }
}
