// The memory model against other estimators: where it agrees (Megatron-LM, SimuMax) and
// by what it differs from the others.
//
//   DeepSpeed ZeRO-2   counts the fp32 copy of the gradient partition (4 bytes a
//                      parameter / n) as a lasting state; here it is a temporary of the
//                      optimizer step. Buckets and activations are not in its figure.
//   DeepSpeed ZeRO-3   fp32 gradients (2 bytes more a parameter / n), and its largest
//                      gathered layer stands for live parameters, which the runtime holds
//                      up to 1e9 of.
//   EleutherAI         fp32 gradients never divided by TP or PP, ZeRO-3 weights divided
//                      by TP·PP and again by all GPUs, no logits: not a target.
//   llm-analysis       leaves the output embedding out and takes 8·h² for every MLP.
//   Megatron-LM        divides latent attention's down projections by TP; they are whole
//                      on each rank in the code and here.
//   SimuMax            same states; its selective recomputation redoes more than the
//                      attention core, so its peak is lower there.
#include <algorithm>
#include <cmath>

#include "accuracy/row_model.hpp"
#include "conformance/peers.hpp"
#include "gpuadvisor/memory.hpp"
#include "test_support/catch.hpp"

using namespace conformance;
using namespace gpuadvisor;

namespace {

struct Run {
  memory::Prepared prepared;
  workload::Plan plan;
  catalog::Cluster cluster;

  [[nodiscard]] memory::Breakdown at_step(int stage) const {
    return memory::phase_breakdown(prepared, plan, cluster, memory::Phase::step, stage);
  }
};

const catalog::Gpu& any_gpu() {
  static const catalog::Gpu gpu = [] {
    catalog::Gpu card;
    card.compute_capability = 8.0;
    card.bf16 = card.fp16 = 1;
    card.fa2 = 1;
    card.memory_usable_bytes = 1e12;
    return card;
  }();
  return gpu;
}

Run make_run(const model::Architecture& a, const workload::Request& request,
             const workload::Plan& plan) {
  auto resolved = workload::resolve(request, a, &any_gpu());
  if (!resolved) FAIL(resolved.error().message);
  // Cached weight gradients of newer Transformer Engine are in none of the peers.
  resolved->training.framework.memory.dummy_weight_gradients = false;
  Run run;
  run.prepared = memory::prepare(a, resolved->training);
  run.plan = plan;
  run.cluster.gpu = &any_gpu();
  run.cluster.gpus = static_cast<int>(plan.gpus());
  run.cluster.gpus_per_node = std::min(8, run.cluster.gpus);
  return run;
}

std::int32_t integer(const Json& in, const char* key) {
  return static_cast<std::int32_t>(number(in, key));
}

/// A Megatron case in the words of a measurement row.
Json row_model(const Json& in) {
  Json model = {{"layers", in["num_layers"]},
                {"hidden", in["hidden_size"]},
                {"heads", in["num_attention_heads"]},
                {"ffn", in["ffn_hidden_size"]},
                {"vocab", in["padded_vocab_size"]},
                {"gated", in["swiglu"]},
                {"head_dim", in["kv_channels"]},
                {"kv_heads", in["num_query_groups"]},
                {"tied", !flag(in, "untie_embeddings_and_output_weights")},
                {"norm", in["normalization"] == "RMSNorm" ? "rms" : "layer"}};
  if (in["num_experts"].is_number()) {
    model["experts"] = in["num_experts"];
    model["experts_per_token"] = in["moe_router_topk"];
    model["moe_ffn"] = in["moe_ffn_hidden_size"];
    model["shared_expert_ffn"] = in["moe_shared_expert_intermediate_size"];
    if (in["moe_layer_freq"].is_array()) model["moe_layers"] = in["moe_layer_freq"];
  }
  if (flag(in, "multi_latent_attention")) {
    model["head_dim"] = nullptr;
    model["q_lora_rank"] = in["q_lora_rank"];
    model["kv_lora_rank"] = in["kv_lora_rank"];
    model["qk_nope_head_dim"] = in["qk_head_dim"];
    model["qk_rope_head_dim"] = in["qk_pos_emb_head_dim"];
    model["v_head_dim"] = in["v_head_dim"];
  }
  return model;
}

Run megatron_run(const Json& in) {
  auto a = accuracy::read_model(row_model(in), integer(in, "seq_length"));
  if (!a) FAIL(a.error().message);
  a->norm_bias = a->norm == model::Norm::layer;
  workload::Request request;
  request.mode = workload::Mode::pretrain;
  request.framework = workload::Framework::megatron;
  request.seq_len = integer(in, "seq_length");
  workload::Plan plan;
  plan.tp = integer(in, "tensor_model_parallel_size");
  plan.pp = integer(in, "pipeline_model_parallel_size");
  plan.ep = integer(in, "expert_model_parallel_size");
  plan.dp = integer(in, "data_parallel_size");
  plan.sequence_parallel = plan.tp > 1;
  if (flag(in, "use_distributed_optimizer")) plan.sharding = workload::Sharding::zero1;
  Run run = make_run(*a, request, plan);
  run.prepared.training.framework.pad_vocab = false;  // its input is padded already
  return run;
}

Run simumax_run(const Json& entry) {
  const Json& parallel = entry["parallel"];
  Json model = {{"preset", entry["model"] == "llama3-70b"  ? "llama-3-70b"
                           : entry["model"] == "llama3-8b" ? "llama-3-8b"
                           : entry["model"] == "llama2-7b" ? "llama-2-7b"
                                                           : "deepseek-v2"},
                {"layers", entry["layers"]}};
  auto a = accuracy::read_model(model, integer(parallel, "seq"));
  if (!a) FAIL(a.error().message);
  workload::Request request;
  request.mode = workload::Mode::pretrain;
  request.framework = workload::Framework::megatron;
  request.seq_len = integer(parallel, "seq");
  request.loss = workload::Loss::fused;
  request.global_batch = integer(parallel, "gbs");
  workload::Plan plan;
  plan.tp = integer(parallel, "tp");
  plan.pp = integer(parallel, "pp");
  plan.ep = integer(parallel, "ep");
  plan.dp = integer(parallel, "dp");
  plan.micro_batch = integer(parallel, "mbs");
  plan.grad_accum = integer(parallel, "mbc");
  plan.sequence_parallel = plan.tp > 1;
  plan.sharding = workload::Sharding::zero1;
  const std::string recompute =
      entry["recompute"].is_string() ? entry["recompute"].get<std::string>() : "";
  if (recompute == "full_block") plan.recompute = workload::Recompute::full;
  if (recompute == "selective_recompute") plan.recompute = workload::Recompute::selective;
  return make_run(*a, request, plan);
}

double states(const memory::Breakdown& b) { return b.weights + b.gradients + b.optimizer; }

}  // namespace

TEST_CASE("model states equal Megatron-LM's report") {
  for (const Json& entry : peers()["megatron"]["cases"]) {
    INFO(entry["id"]);
    const Json in = megatron_input(entry);
    const Run run = megatron_run(in);
    // The report spreads layers evenly and gives each of p stages one embedding; over all
    // stages the model has the layers once, the embedding on the first, a head on the last.
    double sum = 0;
    for (int stage = 0; stage < run.plan.pp; ++stage) sum += states(run.at_step(stage));
    const double p = run.plan.pp;
    const double bytes = flag(in, "use_distributed_optimizer") ? 6 + 12.0 / run.plan.dp : 18;
    const double embedding =
        bytes * number(in, "padded_vocab_size") * number(in, "hidden_size") / run.plan.tp;
    const double reported = number(entry["output"], "weight_and_optimizer_mb") * kMiB;
    const double want = p * reported - std::max(0.0, p - 2) * embedding;
    const bool latent_split = flag(in, "multi_latent_attention") && run.plan.tp > 1;
    CHECK_THAT(sum, WithinRel(want, latent_split ? 0.02 : 2e-4));
  }
}

TEST_CASE("model states equal SimuMax's") {
  const Json& cases = peers()["simumax"]["cases"];
  REQUIRE(cases.size() == 14);
  for (const Json& entry : cases) {
    const Run run = simumax_run(entry);
    for (const auto& stage : entry["stages"].items()) {
      INFO(entry["id"] << " " << stage.key());
      const memory::Breakdown b = run.at_step(stage.key() == "last" ? run.plan.pp - 1 : 0);
      const auto want = [&](std::size_t part) {
        return (stage.value()["dense"][part].get<double>() +
                stage.value()["moe"][part].get<double>()) *
               kGiB;
      };
      CHECK_THAT(b.weights, WithinRel(want(0), 5e-4));
      CHECK_THAT(b.gradients, WithinRel(want(1), 5e-4));
      CHECK_THAT(b.optimizer, WithinRel(want(2), 5e-4));
    }
  }
}

TEST_CASE("peaks stay near SimuMax's on dense models") {
  for (const Json& entry : peers()["simumax"]["cases"]) {
    INFO(entry["id"]);
    const Run run = simumax_run(entry);
    double want = 0;
    for (const auto& stage : entry["stages"].items())
      want = std::max(want, stage.value()["peak_gib"].get<double>());
    const double got =
        memory::estimate(run.prepared, run.plan, run.cluster).peak.allocated() / kGiB;
    const bool experts = run.prepared.architecture.is_moe();
    const bool selective = run.plan.recompute == workload::Recompute::selective;
    CHECK_THAT(got, WithinRel(want, selective ? 0.10 : experts ? 0.04 : 0.015));
  }
}

TEST_CASE("DeepSpeed's estimator counts the fp32 gradient copy as a state") {
  const auto a = accuracy::read_model({{"preset", "llama-2-7b"}}, 2048);
  REQUIRE(a.has_value());
  workload::Request request;
  request.mode = workload::Mode::full_ft;
  request.framework = workload::Framework::deepspeed;
  const double parameters = model::count_parameters(*a).total;
  for (const auto sharding : {workload::Sharding::zero2, workload::Sharding::zero3}) {
    workload::Plan plan;
    plan.dp = 8;
    plan.sharding = sharding;
    const Run run = make_run(*a, request, plan);
    const bool stage2 = sharding == workload::Sharding::zero2;
    const double deepspeed = (stage2 ? 2 + 18.0 / 8 : 18.0 / 8) * parameters;
    const memory::Breakdown b = run.at_step(0);
    // ZeRO-2: 18 = 2 + 4 + 12 beside the gradients' 2; ZeRO-3: fp32 in place of 16-bit ones.
    const double copy = (stage2 ? 4.0 : 2.0) / 8 * parameters;
    CHECK_THAT(deepspeed - states(b), WithinRel(copy, 1e-6));
    CHECK(b.buffers >= 4.0 / 8 * parameters);  // the copy, as the step's temporary
  }
}
