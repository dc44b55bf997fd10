// Configurations of training frameworks. Field names: DeepSpeed's configuration
// reference, Hugging Face accelerate's FSDP plugin, Megatron-LM's arguments.py and
// torchtitan's job configuration.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "emit/parts.hpp"

namespace gpuadvisor::emit {
namespace {

using nlohmann::ordered_json;
using workload::Precision;
using workload::Recompute;

// The bucket sizes that the memory estimate assumes (DeepSpeed's defaults).
constexpr std::int64_t kReduceBucket = 500'000'000;
constexpr std::int64_t kLiveParameters = 1'000'000'000;

bool half(const Job& job) { return job.row->training.precision == Precision::fp16; }

Result<void> only_data_parallel(const Job& job, std::string_view target) {
  const workload::Plan& plan = job.row->best.plan;
  if (plan.tp == 1 && plan.pp == 1 && plan.cp == 1 && plan.ep == 1) return {};
  return fail(ErrorCode::usage,
              fmt::format("{} has no tensor, pipeline, context or expert parallelism: {}", target,
                          workload::describe(plan)),
              "--for", "use --for megatron, or fix --tp 1 --pp 1 --cp 1 --ep 1");
}

ordered_json zero_section(const Job& job) {
  const int stage = workload::zero_stage(job.row->best.plan.sharding);
  ordered_json zero = {{"stage", stage},
                       {"overlap_comm", true},
                       {"contiguous_gradients", true},
                       {"reduce_bucket_size", kReduceBucket},
                       {"allgather_bucket_size", kReduceBucket}};
  if (stage == 3) {
    zero["stage3_max_live_parameters"] = kLiveParameters;
    zero["stage3_max_reuse_distance"] = kLiveParameters;
    zero["stage3_gather_16bit_weights_on_model_save"] = true;
  }
  const char* device = offloads(job, workload::kOffloadNvme) ? "nvme" : "cpu";
  const ordered_json place = {{"device", device}, {"pin_memory", true}};
  if (offloads(job, workload::kOffloadOptimizer)) zero["offload_optimizer"] = place;
  if (offloads(job, workload::kOffloadParams)) zero["offload_param"] = place;
  return zero;
}

std::string_view yes_no(bool value) { return value ? "true" : "false"; }

std::string recompute_arguments(const Job& job) {
  switch (job.row->best.plan.recompute) {
    case Recompute::full:
      return "  --recompute-granularity full --recompute-method uniform --recompute-num-layers 1\n";
    case Recompute::selective:
    case Recompute::selective_op:
    case Recompute::selective_layer:
      return "  --recompute-granularity selective\n";
    case Recompute::none:
      break;
  }
  return {};
}

std::string parallel_arguments(const Job& job) {
  const workload::Plan& plan = job.row->best.plan;
  std::string text = fmt::format(
      "  --tensor-model-parallel-size {} --pipeline-model-parallel-size {}\n", plan.tp, plan.pp);
  if (plan.vpp > 1)
    text += fmt::format("  --num-layers-per-virtual-pipeline-stage {}\n",
                        job.query->model.architecture.layers / (plan.pp * plan.vpp));
  if (plan.cp > 1) text += fmt::format("  --context-parallel-size {}\n", plan.cp);
  if (plan.ep > 1) text += fmt::format("  --expert-model-parallel-size {}\n", plan.ep);
  if (plan.sequence_parallel) text += "  --sequence-parallel\n";
  if (plan.sharding == workload::Sharding::zero1) text += "  --use-distributed-optimizer\n";
  if (job.row->training.grad_overlap > 0) text += "  --overlap-grad-reduce\n";
  if (job.row->training.overlap_param_gather) text += "  --overlap-param-gather\n";
  return text;
}

std::string shape_arguments(const model::Architecture& a) {
  std::string text = fmt::format(
      "  --num-layers {} --hidden-size {} --num-attention-heads {} --ffn-hidden-size {}\n",
      a.layers, a.hidden, a.heads, a.ffn);
  if (a.kv_heads != a.heads)
    text += fmt::format("  --group-query-attention --num-query-groups {}\n", a.kv_heads);
  if (a.head_dim * a.heads != a.hidden) text += fmt::format("  --kv-channels {}\n", a.head_dim);
  if (a.gated) text += "  --swiglu\n";
  if (a.norm == model::Norm::rms) text += "  --normalization RMSNorm\n";
  if (a.positions == model::Positions::rope) text += "  --position-embedding-type rope\n";
  if (!a.tied) text += "  --untie-embeddings-and-output-weights\n";
  if (!a.mlp_bias && !a.out_bias) text += "  --disable-bias-linear\n";
  if (a.experts > 0)
    text += fmt::format("  --num-experts {} --moe-router-topk {} --moe-ffn-hidden-size {}\n",
                        a.experts, a.experts_per_token, a.expert_ffn);
  return text;
}

std::string precision_arguments(const Job& job) {
  switch (job.row->training.precision) {
    case Precision::fp16:
      return "  --fp16\n";
    case Precision::fp8:
      return "  --bf16 --fp8-format hybrid\n";
    case Precision::fp32:
      return {};
    default:
      return "  --bf16\n";
  }
}

std::string torchrun(const Job& job) {
  const catalog::Cluster& cluster = job.row->cluster;
  std::string text =
      fmt::format("torchrun --nproc_per_node {}", std::min(cluster.gpus, cluster.gpus_per_node));
  if (cluster.nodes() > 1)
    text += fmt::format(
        " --nnodes {} --node_rank \"${{NODE_RANK:?0 to {}}}\" --master_addr "
        "\"${{MASTER_ADDR:?address of node 0}}\" --master_port 29500",
        cluster.nodes(), cluster.nodes() - 1);
  return text;
}

}  // namespace

Result<std::string> deepspeed(const Job& job) {
  if (auto legal = only_data_parallel(job, "DeepSpeed's JSON"); !legal)
    return tl::unexpected(legal.error());
  const advisor::ResultRow& row = *job.row;
  ordered_json config = {{"train_batch_size", row.training.global_batch},
                         {"train_micro_batch_size_per_gpu", row.best.plan.micro_batch},
                         {"gradient_accumulation_steps", micro_batches(job)},
                         {"gradient_clipping", 1.0}};
  if (half(job)) {
    config["fp16"] = {{"enabled", true}, {"loss_scale", 0}, {"initial_scale_power", 16}};
  } else if (row.training.precision != Precision::fp32) {
    config["bf16"] = {{"enabled", true}};
  }
  config["zero_optimization"] = zero_section(job);
  return config.dump(2) + "\n";
}

Result<std::string> fsdp(const Job& job) {
  if (auto legal = only_data_parallel(job, "accelerate's FSDP plugin"); !legal)
    return tl::unexpected(legal.error());
  const workload::Plan& plan = job.row->best.plan;
  const catalog::Cluster& cluster = job.row->cluster;
  const int stage = workload::zero_stage(plan.sharding);
  const std::string_view strategy = plan.sharding == workload::Sharding::hsdp ? "HYBRID_SHARD"
                                    : stage == 3                              ? "FULL_SHARD"
                                    : stage == 2                              ? "SHARD_GRAD_OP"
                                                                              : "NO_SHARD";
  return fmt::format(
      "# {}\n# micro-batch {}, {} accumulation steps: set both in the trainer\n"
      "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nmixed_precision: {}\n"
      "num_machines: {}\nnum_processes: {}\nfsdp_config:\n"
      "  fsdp_sharding_strategy: {}\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
      "  fsdp_activation_checkpointing: {}\n  fsdp_offload_params: {}\n"
      "  fsdp_backward_prefetch: BACKWARD_PRE\n  fsdp_state_dict_type: SHARDED_STATE_DICT\n"
      "  fsdp_use_orig_params: true\n",
      describe_job(job), plan.micro_batch, micro_batches(job), half(job) ? "fp16" : "bf16",
      cluster.nodes(), cluster.gpus, strategy, yes_no(plan.recompute == Recompute::full),
      yes_no(offloads(job, workload::kOffloadParams)));
}

Result<std::string> megatron(const Job& job) {
  const advisor::ResultRow& row = *job.row;
  const std::int64_t batch = row.training.global_batch;
  std::string text = script_head(job, "Run on every node, in a Megatron-LM checkout.");
  text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  text += "arguments=(\n" + shape_arguments(job.query->model.architecture) +
          parallel_arguments(job) + recompute_arguments(job) + precision_arguments(job);
  text += fmt::format("  --seq-length {0} --max-position-embeddings {0}\n", row.training.seq_len);
  text += fmt::format("  --micro-batch-size {} --global-batch-size {}\n", row.best.plan.micro_batch,
                      batch);
  if (row.training.attention == workload::Attention::flash) text += "  --use-flash-attn\n";
  if (row.training.tokens > 0)
    text += fmt::format(
        "  --train-samples {}\n",
        static_cast<std::int64_t>(row.training.tokens / static_cast<double>(row.training.seq_len)));
  text += ")\n\n";
  text += torchrun(job) +
          " pretrain_gpt.py \"${arguments[@]}\" \\\n"
          "  --data-path \"${DATA:?prefix of the tokenised data}\" --tokenizer-type "
          "HuggingFaceTokenizer --tokenizer-model \"" +
          model_reference(job) + "\" \"$@\"\n";
  return text;
}

Result<std::string> torchtitan(const Job& job) {
  const workload::Plan& plan = job.row->best.plan;
  const auto shard = plan.sharding == workload::Sharding::none ? 1 : plan.dp;
  const std::string_view recompute = plan.recompute == Recompute::full   ? "full"
                                     : plan.recompute == Recompute::none ? "none"
                                                                         : "selective";
  return fmt::format(
      "# {}\n[training]\nlocal_batch_size = {}\nglobal_batch_size = {}\nseq_len = {}\n"
      "mixed_precision_param = \"bfloat16\"\nmixed_precision_reduce = \"float32\"\n\n"
      "[parallelism]\ndata_parallel_replicate_degree = {}\ndata_parallel_shard_degree = {}\n"
      "tensor_parallel_degree = {}\npipeline_parallel_degree = {}\ncontext_parallel_degree = {}\n"
      "expert_parallel_degree = {}\n\n[activation_checkpoint]\nmode = \"{}\"\n\n[compile]\nenable "
      "= {}\n",
      describe_job(job), plan.micro_batch, job.row->training.global_batch,
      job.row->training.seq_len, plan.dp / std::max(1, shard), shard, plan.tp, plan.pp, plan.cp,
      plan.ep, recompute, yes_no(job.row->training.compile));
}

Result<std::string> slurm(const Job& job) {
  const catalog::Cluster& cluster = job.row->cluster;
  const int local = std::min(cluster.gpus, cluster.gpus_per_node);
  const double hours = job.row->cost.hours;
  std::string text = "#!/usr/bin/env bash\n";
  text += fmt::format(
      "# {}\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node=1\n#SBATCH "
      "--gpus-per-node={}\n#SBATCH --exclusive\n",
      describe_job(job), cluster.nodes(), local);
  if (hours > 0)  // a quarter more than expected, so that the job is not cut
    text += fmt::format("#SBATCH --time={}:00:00\n", static_cast<std::int64_t>(hours * 1.25) + 1);
  text +=
      "set -euo pipefail\n\n"
      "export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n";
  text += fmt::format(
      "# One launcher a node, bound to the node's own cores and memory.\n"
      "srun --cpu-bind=none bash -c 'torchrun --nproc_per_node {} --nnodes {} "
      "--node_rank \"$SLURM_NODEID\" --master_addr \"$MASTER_ADDR\" --master_port 29500 "
      "\"$@\"' launch \"${{TRAIN:?training script}}\" \"$@\"\n",
      local, cluster.nodes());
  return text;
}

}  // namespace gpuadvisor::emit
