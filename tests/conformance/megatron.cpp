// Megatron-LM's theoretical memory report: 18 bytes a parameter, or 6 + 12/DP with the
// distributed optimizer (experts over their own data-parallel group), and activations
// of selective recomputation with sequence parallelism, or without both.
#include <algorithm>

#include "conformance/peers.hpp"
#include "test_support/catch.hpp"

using namespace conformance;

namespace {

constexpr double kMiB = 1024.0 * 1024;

double moe_layers(const Json& in) {
  if (number(in, "num_experts") == 0) return 0;
  const Json& frequency = in["moe_layer_freq"];
  if (!frequency.is_array()) return number(in, "num_layers") / frequency.get<double>();
  double count = 0;
  for (const Json& layer : frequency) count += layer.get<double>();
  return count;
}

double attention_parameters(const Json& in) {
  const double h = number(in, "hidden_size");
  const double heads = number(in, "num_attention_heads");
  if (!flag(in, "multi_latent_attention")) {
    const double groups =
        flag(in, "group_query_attention") ? number(in, "num_query_groups") : heads;
    return 2 * h * number(in, "kv_channels") * (heads + groups);
  }
  const double qk = number(in, "qk_head_dim") + number(in, "qk_pos_emb_head_dim");
  const double q = number(in, "q_lora_rank");
  const double kv = number(in, "kv_lora_rank");
  const double v = number(in, "v_head_dim");
  const double query = q > 0 ? h * q + q * heads * qk + q : h * heads * qk;
  return query + h * (kv + number(in, "qk_pos_emb_head_dim")) +
         kv * heads * (number(in, "qk_head_dim") + v) + kv + heads * v * h;
}

double state_bytes(const Json& in) {
  const double h = number(in, "hidden_size");
  const double t = number(in, "tensor_model_parallel_size");
  const double p = number(in, "pipeline_model_parallel_size");
  const double layers = number(in, "num_layers");
  const double moe = moe_layers(in);
  const double gated = flag(in, "swiglu") ? 1.5 : 1.0;
  const double norm = in["normalization"] == "RMSNorm" ? h : 2 * h;
  const double dense_mlp = 2 * h * number(in, "ffn_hidden_size") * gated;
  const double shared = 2 * h * number(in, "moe_shared_expert_intermediate_size") * gated;
  const double expert = 2 * h * number(in, "moe_ffn_hidden_size") * gated;
  const double divided =
      (layers * attention_parameters(in) + (layers - moe) * dense_mlp + moe * shared) / t;
  const double whole = layers * 2 * norm + norm + moe * h * number(in, "num_experts");
  const double embedding = number(in, "padded_vocab_size") * h / t;
  const bool head_here = p == 1 && flag(in, "untie_embeddings_and_output_weights");
  const double experts =
      moe * expert * number(in, "num_experts") / number(in, "expert_model_parallel_size") / p;
  const bool sharded = flag(in, "use_distributed_optimizer");
  const double expert_group =
      number(in, "world_size") / (p * number(in, "expert_model_parallel_size"));
  const double bytes = sharded ? 6 + 12 / number(in, "data_parallel_size") : 18;
  const double expert_bytes = sharded ? 6 + 12 / expert_group : 18;
  return bytes * ((divided + whole) / p + embedding * (head_here ? 2 : 1)) + expert_bytes * experts;
}

/// Micro-batches in flight on the first stage over the stages of its pipeline.
double in_flight(const Json& in) {
  const double p = number(in, "pipeline_model_parallel_size");
  const double v = number(in, "virtual_pipeline_model_parallel_size");
  const double m = number(in, "num_microbatches");
  if (v > 0) return 1 + (p - 1) / (p * v);
  return p > 1 && m > 0 ? std::min(1.0, m / p) : 1;
}

double activation_bytes(const Json& in) {
  const double h = number(in, "hidden_size");
  const double t = number(in, "tensor_model_parallel_size");
  const double p = number(in, "pipeline_model_parallel_size");
  const double tokens = number(in, "seq_length") * number(in, "micro_batch_size");
  const double vocab = number(in, "padded_vocab_size");
  const double layers = number(in, "num_layers");
  const bool selective =
      in["recompute_granularity"].is_string() && in["recompute_granularity"] == "selective";
  const double embedding = 8 * tokens * p + tokens * h * p;
  if (flag(in, "sequence_parallel") && selective) {
    const double layer = tokens * h * (18 + 4 * number(in, "ffn_hidden_size") / h);
    const double head = p == 1 ? 4 * tokens * (h + vocab) : 0;
    return ((layer * layers + embedding) * in_flight(in) + head) / t;
  }
  const double head = p == 1 ? 4 * tokens * (h / t + vocab / (t * t)) : 0;
  return 1.05 * ((tokens * h * (10 + 24 / t) * layers + embedding) * in_flight(in) + head);
}

}  // namespace

TEST_CASE("Megatron-LM weight and optimizer bytes are reproduced") {
  const Json& cases = peers()["megatron"]["cases"];
  REQUIRE(cases.size() == 25);
  for (const Json& entry : cases) {
    INFO(entry["id"]);
    CHECK_THAT(state_bytes(megatron_input(entry)) / kMiB,
               WithinRel(number(entry["output"], "weight_and_optimizer_mb"), 1e-12));
  }
}

TEST_CASE("Megatron-LM activation bytes are reproduced") {
  for (const Json& entry : peers()["megatron"]["cases"]) {
    INFO(entry["id"]);
    CHECK_THAT(activation_bytes(megatron_input(entry)) / kMiB,
               WithinRel(number(entry["output"], "activation_mb"), 1e-9));
  }
}
