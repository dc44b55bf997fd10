// EleutherAI's cookbook calculator (calc_transformer_mem.py), training and inference,
// with its own conventions: embeddings always untied, activations without flash
// attention and undivided, gradients and optimizer divided by GPUs only.
#include "conformance/peers.hpp"
#include "test_support/catch.hpp"

using namespace conformance;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

struct Cookbook {
  double parameters = 0, activation = 0, model = 0, gradient = 0, optimizer = 0, communication = 0,
         kv_cache = 0, total = 0, replica = 0;
};

double parameters_of(const Json& in) {
  const double layers = number(in, "num_layers");
  const double h = number(in, "hidden_size");
  const double embeddings = 2 * number(in, "vocab_size") * h + number(in, "sequence_length") * h;
  const double norms = 8 * h * layers + 2 * h;
  const double attention = 2 * (1 + number(in, "kv_size_ratio", 1)) * layers * h * h;
  const double mlp =
      number(in, "num_mlp_linears") * number(in, "ffn_expansion_factor") * layers * h * h;
  const double experts = number(in, "num_experts") / number(in, "expert_parallelism", 1);
  return embeddings + norms + attention + (experts > 0 ? experts * mlp : mlp);
}

double activations_of(const Json& in, bool inference) {
  const double h = number(in, "hidden_size");
  const double s = number(in, "sequence_length");
  const double t = flag(in, "partition_activations") ? number(in, "tensor_parallel_size", 1) : 1;
  const double tokens = s * number(in, "batch_size_per_gpu", 1);
  if (inference) return 34 * tokens * h / t;
  const double layers = number(in, "num_layers");
  if (flag(in, "checkpoint_activations")) return 34 * tokens * h * layers / t;
  return tokens * h * layers * (34 / t + 5 * number(in, "num_attention_heads") * s / (h * t));
}

Cookbook cookbook(const Json& in) {
  Cookbook out;
  const double gpus = number(in, "num_gpus", 1);
  const double stage = number(in, "zero_stage");
  const double split =
      number(in, "tensor_parallel_size", 1) * number(in, "pipeline_parallel_size", 1);
  const bool inference = flag(in, "infer");
  const double weight_bytes = flag(in, "is_mixed_precision", true) ? 2 : 4;
  const double state_bytes = in.value("optimizer", "adam") == "sgd_momentum" ? 8 : 12;
  const double p = out.parameters = parameters_of(in);
  const double gradient = number(in, "bytes_per_grad_ele", 4) * p / kGiB;
  const double optimizer = state_bytes * p / kGiB;
  out.activation = activations_of(in, inference) / kGiB;
  out.model = weight_bytes * p / split / (stage >= 3 ? gpus : 1) / kGiB;
  out.gradient = gradient / (stage >= 2 ? gpus : 1);
  out.optimizer = optimizer / (stage >= 1 ? gpus : 1);
  if (stage >= 1) out.communication = 2 * (5e8 + (stage >= 3 ? 1e9 : 0)) / kGiB;
  if (inference) {  // no factor for keys and values, no grouped heads
    const double tokens = number(in, "sequence_length") + number(in, "output_tokens");
    out.kv_cache = 2 * number(in, "batch_size_per_gpu", 1) * tokens * number(in, "num_layers") *
                   number(in, "hidden_size") / kGiB;
    out.total = out.replica = out.activation + out.model + out.kv_cache;
    return out;
  }
  const double misc = number(in, "misc_mem_gib");
  out.total = out.activation + out.model + out.gradient + out.optimizer + out.communication + misc;
  const double t = flag(in, "partition_activations") ? number(in, "tensor_parallel_size", 1) : 1;
  out.replica = out.activation * t + weight_bytes * p / kGiB + gradient + optimizer + misc * gpus;
  return out;
}

}  // namespace

TEST_CASE("EleutherAI cookbook estimates are reproduced") {
  const Json& cases = peers()["eleutherai"]["cases"];
  REQUIRE(cases.size() == 35);
  for (const Json& entry : cases) {
    INFO(entry["id"]);
    const Cookbook got = cookbook(entry["input"]);
    const Json& want = entry["output"];
    const auto equal = [&](double value, const char* key) {
      INFO(key);
      CHECK_THAT(value, WithinRel(number(want, key), 1e-12) || WithinAbs(number(want, key), 1e-9));
    };
    equal(got.parameters, "total_params");
    equal(got.activation, "per_gpu_activation_mem_gib");
    equal(got.model, "per_gpu_model_mem_gib");
    equal(got.gradient, "per_gpu_gradient_mem_gib");
    equal(got.optimizer, "per_gpu_optimizer_mem_gib");
    equal(got.communication, "per_gpu_communication_mem_gib");
    equal(got.kv_cache, "per_gpu_kv_cache_mem_gib");
    equal(got.total, "per_gpu_mem_gib");
    equal(got.replica, "single_replica_mem_gib");
  }
}
