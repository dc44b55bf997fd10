#include <array>

#include <nlohmann/json.hpp>

#include "accuracy/training_row.hpp"

namespace gpuadvisor::accuracy {
namespace {

using Names = std::string_view;

constexpr std::array kRow = {Names("id"),       Names("kind"), Names("quality"), Names("source"),
                             Names("url"),      Names("date"), Names("model"),   Names("run"),
                             Names("cluster"),  Names("plan"), Names("notes"),   Names("measured"),
                             Names("inferred"), Names("scope")};

constexpr std::array kModel = {Names("preset"),
                               Names("name"),
                               Names("params"),
                               Names("causal"),
                               Names("layers"),
                               Names("hidden"),
                               Names("heads"),
                               Names("kv_heads"),
                               Names("head_dim"),
                               Names("ffn"),
                               Names("gated"),
                               Names("vocab"),
                               Names("tied"),
                               Names("bias"),
                               Names("norm"),
                               Names("positions"),
                               Names("experts"),
                               Names("experts_per_token"),
                               Names("moe_ffn"),
                               Names("moe_layers"),
                               Names("shared_expert_ffn"),
                               Names("dense_layers"),
                               Names("mtp_layers"),
                               Names("q_lora_rank"),
                               Names("kv_lora_rank"),
                               Names("qk_nope_head_dim"),
                               Names("qk_rope_head_dim"),
                               Names("v_head_dim")};

constexpr std::array kRun = {
    Names("mode"), Names("precision"), Names("optimizer"), Names("optimizer_in_backward"),
    Names("recompute"), Names("attention"), Names("attention_kernel"), Names("framework"),
    Names("framework_version"), Names("kernel_profile"), Names("seq_len"), Names("micro_batch"),
    Names("global_batch"), Names("grad_accum"), Names("loss"), Names("loss_dtype"),
    Names("lengths"), Names("mean_len"), Names("unquantised_dtype"),
    Names("replaced_embedding_kept"), Names("lora"), Names("trained_embeddings"), Names("quant"),
    Names("offload"), Names("schedule"), Names("zero1_group"), Names("grad_reduce"),
    Names("checkpoint_early_stop"), Names("compile"), Names("async_tp"), Names("fp8_scaling"),
    Names("fp8_all_gather"), Names("fused_norm"), Names("fused_rope"), Names("dropout"),
    Names("expandable_segments"), Names("grad_overlap"), Names("overlap_param_gather"),
    Names("tp_overlap"), Names("tp_backward_overlap"), Names("p2p_overlap"),
    Names("allreduce_then_shard"), Names("state_dtypes"),
    // serving
    Names("engine"), Names("engine_version"), Names("dtype"), Names("kv_dtype"), Names("input_len"),
    Names("output_len"), Names("batch"), Names("concurrency"), Names("load"), Names("offered_rps"),
    Names("requests"), Names("requests_per_s"), Names("phase"), Names("gpu_memory_utilization"),
    Names("max_model_len"), Names("max_num_seqs"), Names("max_num_batched_tokens"),
    Names("block_size"), Names("enforce_eager"), Names("dp_attention")};

constexpr std::array kCluster = {
    Names("gpu"),           Names("gpus"),    Names("gpus_per_node"),
    Names("node_nic_gb_s"), Names("fabric"),  Names("pcie_collective_gb_s"),
    Names("card_gb"),       Names("power_w"), Names("total_gpu_memory_gib"),
    Names("network_words")};

constexpr std::array kPlan = {Names("tp"),
                              Names("pp"),
                              Names("vpp"),
                              Names("cp"),
                              Names("ep"),
                              Names("dp"),
                              Names("sequence_parallel"),
                              Names("sharding"),
                              Names("split")};

constexpr std::array kMeasured = {Names("quantity"),
                                  Names("value"),
                                  Names("rank"),
                                  Names("max_reserved_gib"),
                                  Names("step_time_s"),
                                  Names("tokens_per_s_per_gpu"),
                                  Names("tflops_per_gpu"),
                                  Names("tflops_kind"),
                                  Names("flops_formula"),
                                  Names("model_tflops_per_gpu_common_base"),
                                  Names("peak_mem_gib_per_gpu"),
                                  Names("mfu"),
                                  Names("hfu"),
                                  Names("weights_gib"),
                                  Names("kv_cache_gib"),
                                  Names("kv_cache_tokens"),
                                  Names("kv_blocks"),
                                  Names("memory_gib_total"),
                                  Names("output_tokens_per_s"),
                                  Names("total_tokens_per_s"),
                                  Names("prefill_tokens_per_s"),
                                  Names("decode_tokens_per_s"),
                                  Names("tpot_ms"),
                                  Names("ttft_ms"),
                                  Names("activation_peak_gib"),
                                  Names("non_torch_gib"),
                                  Names("cuda_graph_gib")};

}  // namespace

void check_row_keys(const Json& row, UnknownKeys& unknown) {
  unknown.check(row, "", kRow);
  unknown.check(section(row, "model"), "model", kModel);
  unknown.check(section(row, "run"), "run", kRun);
  unknown.check(section(row, "cluster"), "cluster", kCluster);
  unknown.check(section(row, "plan"), "plan", kPlan);
  unknown.check(section(row, "measured"), "measured", kMeasured);
}

}  // namespace gpuadvisor::accuracy
