#include "cli/flags.hpp"

#include <array>

namespace gpuadvisor::cli {
namespace {

using G = FlagGroup;
constexpr std::uint32_t kRanking = kRecommend | kCompare | kCheck | kEmit;
constexpr std::uint32_t kFixed = kEstimate | kPlan | kCheck | kEmit;

constexpr auto kFlags = std::to_array<Flag>({
    // The model and what to do with it.
    {"params", 0, "N", G::common, kJob, "model size: 70B, 1.5T, 8e9"},
    {"model", 0, "NAME", G::common, kJob, "a preset (gpuadvisor models list)"},
    {"model-file", 0, "PATH", G::common, kJob, "config.json, model folder, .safetensors, .gguf"},
    {"mode", 'm', "MODE", G::common, kJob, "pretrain, full-ft, lora, qlora, dpo or serve"},
    {"gpu", 'g', "NAME", G::common, kJob | kCatalogList, "only these GPUs; for estimate the GPU",
     true},
    {"instance", 'i', "NAME", G::common, kJob, "only these types; for estimate the type", true},
    {"for", 0, "TARGET", G::common, kEmit, "deepspeed, fsdp, megatron, slurm, vllm, ..."},
    {"output", 'o', "FORMAT", G::common, kReports, "table, json, csv or markdown (accuracy: svg)"},
    {"active", 0, "N", G::model, kJob, "active parameters of a mixture of experts"},
    // The run.
    {"seq-len", 0, "N", G::run, kJob, "tokens of one sequence"},
    {"global-batch", 0, "N", G::run, kJob, "sequences of one optimizer step"},
    {"micro-batch", 0, "N", G::run, kJob, "sequences a GPU and micro-step"},
    {"tokens", 0, "N", G::run, kJob, "tokens of the whole job"},
    {"samples", 0, "N", G::run, kJob, "sequences of the data set"},
    {"epochs", 0, "N", G::run, kJob, "passes over the data set"},
    {"precision", 0, "NAME", G::run, kJob, "bf16, fp16, fp8, fp32 or bf16-pure"},
    {"optimizer", 0, "NAME", G::run, kJob, "adamw, adamw-8bit, adafactor, sgd, lion, ..."},
    {"recompute", 0, "NAME", G::run, kJob, "auto, none, selective, ..., full"},
    {"attention", 0, "NAME", G::run, kJob, "flash or eager"},
    {"framework", 0, "NAME", G::run, kJob, "hf, deepspeed, fsdp, megatron, torchtitan, ..."},
    {"kernel-profile", 0, "NAME", G::run, kJob, "eager, fused, compiled or mpt"},
    {"loss", 0, "NAME", G::run, kJob, "plain, fused, compiled or chunked"},
    {"quant", 0, "NAME", G::run, kJob, "format of a frozen base or served weights"},
    {"lora-rank", 0, "N", G::run, kJob, "rank of the adapters"},
    {"lora-targets", 0, "NAMES", G::run, kJob, "modules with adapters, or all-linear", true},
    // Serving.
    {"engine", 0, "NAME", G::serving, kJob, "vllm, sglang, tensorrt-llm, llama.cpp, ..."},
    {"engine-version", 0, "V", G::serving, kJob, "version of the engine, such as 0.8"},
    {"input-len", 0, "N", G::serving, kJob, "tokens of a prompt"},
    {"output-len", 0, "N", G::serving, kJob, "tokens of an answer"},
    {"concurrency", 0, "N", G::serving, kJob, "requests that run at once"},
    {"requests-per-s", 0, "X", G::serving, kJob, "arrivals a second instead of clients"},
    {"trace", 0, "FILE", G::serving, kJob, "JSON lines: arrival_s, input_len, output_len"},
    {"formats", 0, "NAMES", G::serving, kJob, "weight formats to compare: none,fp8,awq-int4", true},
    {"max-model-len", 0, "N", G::serving, kJob, "longest request the engine is set up for"},
    {"max-num-seqs", 0, "N", G::serving, kJob, "most sequences in one step"},
    {"prefix-hit", 0, "X", G::serving, kJob, "share of prompt tokens found in the cache"},
    {"lora-adapters", 0, "N", G::serving, kJob, "adapters kept beside the weights"},
    {"gpu-layers", 0, "N", G::serving, kJob, "llama.cpp: layers on the GPU"},
    {"draft-model", 0, "NAME", G::serving, kJob, "small model that proposes tokens"},
    {"draft-tokens", 0, "N", G::serving, kJob, "tokens it proposes a step (4)"},
    {"draft-acceptance", 0, "X", G::serving, kJob, "share of them that is kept (0.7)"},
    {"kv-type", 0, "NAME", G::serving, kJob, "element type of the KV cache"},
    {"gpu-memory-utilization", 0, "X", G::serving, kJob,
     "share of the memory that the engine takes"},
    {"ttft", 0, "TIME", G::serving, kJob, "longest time to the first token"},
    {"tpot", 0, "TIME", G::serving, kJob, "longest time a token after it"},
    // The plan; free unless given.
    {"tp", 0, "N", G::plan, kJob, "tensor parallel size"},
    {"pp", 0, "N", G::plan, kJob, "pipeline parallel size"},
    {"vpp", 0, "N", G::plan, kJob, "model chunks of one pipeline stage"},
    {"cp", 0, "N", G::plan, kJob, "context parallel size"},
    {"ep", 0, "N", G::plan, kJob, "expert parallel size"},
    {"dp", 0, "N", G::plan, kJob, "data parallel size"},
    {"sharding", 0, "NAME", G::plan, kJob, "none, zero1 to zero3, fsdp, fsdp-grad-op, hsdp"},
    {"zero", 0, "N", G::plan, kJob, "ZeRO stage, 0 to 3"},
    {"sequence-parallel", 0, "", G::plan, kJob, "sequence parallelism on"},
    {"no-sequence-parallel", 0, "", G::plan, kJob, "sequence parallelism off"},
    {"schedule", 0, "NAME", G::plan, kJob, "pipeline schedule: 1f1b, interleaved, ..."},
    {"offload", 0, "NAMES", G::plan, kJob, "none, optimizer, params, activations, nvme", true},
    // The cluster.
    {"count", 'n', "N", G::cluster, kFixed, "how many instances"},
    {"gpus", 0, "N", G::cluster, kFixed, "GPUs in all, of --gpu"},
    {"gpus-per-node", 0, "N", G::cluster, kFixed, "GPUs of one node (8)"},
    {"network", 0, "RATE", G::cluster, kFixed, "of one node: 8x200Gbit/s-ib, 25Gbit/s-tcp"},
    // Limits.
    {"provider", 0, "NAME", G::limits, kRanking | kCatalogList, "aliyun, another cloud, or all",
     true},
    {"region", 0, "NAME", G::limits, kRanking | kCatalogList, "only prices of this region"},
    {"max-nodes", 0, "N", G::limits, kRanking, "most instances of one answer (16)"},
    {"max-gpus", 0, "N", G::limits, kRanking, "most GPUs of one answer"},
    {"budget", 0, "MONEY", G::limits, kRanking, "most money for the job: '3000 CNY'"},
    {"deadline", 0, "TIME", G::limits, kRanking, "longest time: 12h, 3d"},
    {"rdma", 0, "POLICY", G::limits, kRanking, "required, preferred or any"},
    {"min-headroom", 0, "X", G::limits, kJob, "share of GPU memory to leave free"},
    {"include", 0, "", G::limits, kRanking, "also retired and invitational types"},
    // What is best, and money.
    {"objective", 0, "NAME", G::aim, kRanking, "balanced, cheapest, fastest or fewest-gpus"},
    {"weights", 0, "W", G::aim, kRanking, "balanced: vram=0.45,interconnect=0.2,cost=0.35", true},
    {"top", 0, "N", G::aim, kRecommend | kPlan, "how many results (10)"},
    {"pareto", 0, "", G::aim, kPlan, "also plans that trade time for memory"},
    {"sweep-gpus", 0, "A..B", G::aim, kPlan, "also sizes 8..4096 (doubled) or a list", true},
    {"price", 0, "KIND", G::aim, kJob, "on-demand, spot, subscription or savings-plan"},
    {"currency", 0, "CODE", G::aim, kJob, "of totals (CNY)"},
    {"rate", 0, "USD=X", G::aim, kJob, "CNY for one unit of a currency", true},
    {"as-of", 0, "DATE", G::aim, kJob, "judge the age of prices on this day"},
    // Output and data.
    {"explain", 0, "", G::output, kRecommend | kCompare | kEstimate | kPlan,
     "every term of memory, time and cost"},
    {"explain", 0, "ID", G::output, kAccuracy, "the breakdown of one row"},
    {"rejected", 0, "", G::output, kRecommend | kCompare, "list every rejected candidate"},
    {"family", 0, "NAME", G::common, kModelsList, "only this family, such as llama or qwen3"},
    {"min-params", 0, "N", G::common, kModelsList, "only models of at least this size"},
    {"max-params", 0, "N", G::common, kModelsList, "only models of at most this size"},
    {"file", 'f', "PATH", G::output, kAccuracy, "measurements to judge by", true},
    {"with-speed-memory", 0, "", G::output, kAccuracy, "also memory of rows that measured speed"},
    {"json", 0, "", G::output, kReports, "same as -o json"},
    {"catalog", 0, "DIR", G::output, kReadsCatalog, "catalog files to add or replace", true},
    {"catalog-only", 0, "", G::output, kReadsCatalog, "leave the built-in catalog out"},
    {"width", 0, "N", G::output, kReports, "columns of the table; 0 cuts nothing"},
    {"color", 0, "WHEN", G::output, kEverywhere, "auto, always or never"},
    {"no-color", 0, "", G::output, kEverywhere, "same as --color never"},
    {"quiet", 'q', "", G::output, kEverywhere, "no notes on standard error"},
    {"help", 'h', "", G::output, kEverywhere, "this text"},
    {"version", 0, "", G::output, kEverywhere, "name, version, catalog date, schema version"},
});

}  // namespace

std::span<const Flag> all_flags() { return kFlags; }

std::string_view title_of(FlagGroup group) {
  switch (group) {
    case FlagGroup::common:
      return "Common flags";
    case FlagGroup::model:
      return "Model";
    case FlagGroup::run:
      return "Training run";
    case FlagGroup::serving:
      return "Serving (--mode serve)";
    case FlagGroup::plan:
      return "Parallel plan (searched unless given)";
    case FlagGroup::cluster:
      return "Cluster (with --instance, or with --gpu)";
    case FlagGroup::limits:
      return "Limits";
    case FlagGroup::aim:
      return "Aim and money";
    case FlagGroup::output:
      return "Output and data";
  }
  return {};
}

const Flag* find_flag(std::string_view name, std::uint32_t command) {
  for (const Flag& flag : kFlags)
    if (flag.name == name && (flag.commands & command) != 0) return &flag;
  return nullptr;
}

}  // namespace gpuadvisor::cli
