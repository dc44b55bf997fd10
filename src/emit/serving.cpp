// Command lines of serving engines. Flags: the engines' own references (vLLM engine
// arguments, SGLang server arguments, trtllm-serve, llama-server).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "emit/parts.hpp"

namespace gpuadvisor::emit {
namespace {

using serving::Quant;

std::int64_t whole(double value) { return std::llround(value); }

double model_length(const serving::Request& request) {
  return request.max_model_len > 0 ? request.max_model_len : request.input_len + request.output_len;
}

std::int64_t sequences(const Job& job) {
  const serving::Request& request = job.query->serve;
  if (request.max_num_seqs > 0) return whole(request.max_num_seqs);
  return std::max<std::int64_t>(
      1, whole(std::ceil(request.concurrency / std::max(1, job.row->serving->plan.replicas))));
}

double utilisation(const serving::Request& request) {
  return request.gpu_memory_utilization > 0
             ? request.gpu_memory_utilization
             : serving::engine_profile(request.engine, request.version).fraction;
}

/// vLLM's and SGLang's name of a format; empty when the checkpoint says it itself.
std::string_view online_format(Quant quant) {
  switch (quant) {
    case Quant::fp8:
      return "fp8";
    case Quant::nf4:
    case Quant::nf4_dq:
    case Quant::int8_bnb:
      return "bitsandbytes";
    default:
      return {};
  }
}

bool needs_checkpoint(Quant quant) { return quant != Quant::none && online_format(quant).empty(); }

std::string reference(const Job& job) {
  const Quant quant = job.row->serving->quant;
  if (!needs_checkpoint(quant)) return "\"" + model_reference(job) + "\"";
  return fmt::format("\"${{MODEL:?a {} copy of {}}}\"", serving::to_string(quant),
                     job.query->model.label);
}

/// Nodes that one copy of the model spans.
int nodes_a_replica(const Job& job) {
  const int width = job.row->serving->plan.gpus_per_replica();
  const int node = std::max(1, job.row->cluster.gpus_per_node);
  return (width + node - 1) / node;
}

std::string vllm(const Job& job) {
  const serving::Request& request = job.query->serve;
  std::string text = fmt::format(
      "vllm serve {} --tensor-parallel-size {} --max-model-len {} --max-num-seqs {} "
      "--gpu-memory-utilization {}",
      reference(job), job.row->serving->plan.tp, whole(model_length(request)), sequences(job),
      utilisation(request));
  if (job.row->serving->plan.pp > 1)
    text += fmt::format(" --pipeline-parallel-size {}", job.row->serving->plan.pp);
  if (nodes_a_replica(job) > 1) text += " --distributed-executor-backend ray";
  if (const auto format = online_format(job.row->serving->quant); !format.empty())
    text += fmt::format(" --quantization {}", format);
  if (request.kv_type == serving::KvType::fp8) text += " --kv-cache-dtype fp8";
  if (request.max_num_batched_tokens > 0)
    text += fmt::format(" --max-num-batched-tokens {}", whole(request.max_num_batched_tokens));
  if (request.enforce_eager) text += " --enforce-eager";
  return text;
}

std::string sglang(const Job& job) {
  const serving::Request& request = job.query->serve;
  std::string text = fmt::format(
      "python -m sglang.launch_server --model-path {} --tp-size {} --context-length {} "
      "--max-running-requests {} --mem-fraction-static {}",
      reference(job), job.row->serving->plan.tp, whole(model_length(request)), sequences(job),
      utilisation(request));
  if (job.row->serving->plan.pp > 1)
    text += fmt::format(" --pp-size {}", job.row->serving->plan.pp);
  if (const int nodes = nodes_a_replica(job); nodes > 1)
    text += fmt::format(
        " --nnodes {} --node-rank ${{NODE_RANK:?}} --dist-init-addr ${{HEAD:?}}:20000", nodes);
  if (const auto format = online_format(job.row->serving->quant); !format.empty())
    text += fmt::format(" --quantization {}", format);
  if (request.kv_type == serving::KvType::fp8) text += " --kv-cache-dtype fp8_e5m2";
  return text;
}

std::string tensorrt_llm(const Job& job) {
  const serving::Request& request = job.query->serve;
  return fmt::format(
      "trtllm-serve {} --tp_size {} --pp_size {} --max_seq_len {} "
      "--max_batch_size {} --kv_cache_free_gpu_memory_fraction {}",
      reference(job), job.row->serving->plan.tp, job.row->serving->plan.pp,
      whole(model_length(request)), sequences(job), utilisation(request));
}

std::string llama_cpp(const Job& job) {
  const serving::Request& request = job.query->serve;
  const std::int64_t slots = sequences(job);
  const int layers = request.gpu_layers >= 0 ? request.gpu_layers : 999;
  std::string text = fmt::format(
      "llama-server --model \"${{MODEL:?a {} GGUF file of {}}}\" --ctx-size {} --parallel {} "
      "--n-gpu-layers {} --flash-attn",
      format_words(job.row->serving->quant), job.query->model.label,
      whole(model_length(request)) * slots, slots, layers);
  if (request.kv_type == serving::KvType::q8_0) text += " --cache-type-k q8_0 --cache-type-v q8_0";
  if (job.row->serving->plan.layer_split) text += " --split-mode layer";
  return text;
}

/// Starts the replicas that share one node, each on its own GPUs and port.
std::string start_replicas(const Job& job, const std::string& command) {
  const serving::Plan& plan = job.row->serving->plan;
  const int nodes = std::max(1, job.row->cluster.nodes());
  const int here = std::max(1, plan.replicas / nodes);
  const int width = plan.gpus_per_replica();
  if (const int span = nodes_a_replica(job); span > 1)
    return fmt::format(
        "# One copy spans {0} nodes. vLLM: first `ray start --head --port 6379` on one "
        "node and `ray start --address $HEAD:6379` on the\n# other {1}, then the "
        "command on the head only; SGLang: on each node.\n{2} --host 0.0.0.0 --port 8000\n",
        span, span - 1, command);
  if (here == 1) return command + " --host 0.0.0.0 --port 8000\n";
  return fmt::format(
      "# {0} replicas on this node; put a load balancer before ports 8000 to {1}.\n"
      "for replica in $(seq 0 {2}); do\n"
      "  first=$((replica * {3}))\n"
      "  CUDA_VISIBLE_DEVICES=$(seq -s, $first $((first + {4}))) \\\n"
      "    {5} --host 0.0.0.0 --port $((8000 + replica)) &\n"
      "done\nwait\n",
      here, 7999 + here, here - 1, width, width - 1, command);
}

}  // namespace

Result<std::string> serve_command(const Job& job, Target engine) {
  switch (engine) {
    case Target::sglang:
      return sglang(job);
    case Target::tensorrt_llm:
      return tensorrt_llm(job);
    case Target::llama_cpp:
      if (!serving::is_gguf(job.row->serving->quant) && job.row->serving->quant != Quant::none)
        return fail(ErrorCode::usage,
                    fmt::format("llama.cpp reads GGUF files, not {}",
                                serving::to_string(job.row->serving->quant)),
                    "--for", "give --engine llama.cpp --quant gguf-q4_k_m");
      return llama_cpp(job);
    default:
      break;
  }
  if (serving::is_gguf(job.row->serving->quant))
    return fail(ErrorCode::usage, "a GGUF file is served by llama.cpp", "--for",
                "use --for llama.cpp, or another --quant");
  return vllm(job);
}

Result<std::string> serve_script(const Job& job, Target engine) {
  auto command = serve_command(job, engine);
  if (!command) return command;
  return script_head(job, "Run on every node.") + start_replicas(job, *command);
}

}  // namespace gpuadvisor::emit
