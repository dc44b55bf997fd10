#include "accuracy/training_row.hpp"

#include <nlohmann/json.hpp>

#include "gpuadvisor/catalog.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::accuracy;

namespace {

Json base() {
  return Json::parse(R"({"id":"t-1","kind":"train_memory","quality":"A","source":"s",
    "model":{"layers":4,"hidden":512,"heads":8,"ffn":2048,"gated":false,"vocab":null},
    "run":{"mode":"pretrain","precision":"bf16","optimizer":"adamw","recompute":"full",
           "attention":"flash","framework":"megatron","seq_len":1024,"micro_batch":2},
    "cluster":{"gpu":"A100-SXM4-80GB","gpus":16},
    "plan":{"tp":2,"pp":2,"dp":4,"sharding":"zero1"},
    "measured":{"quantity":"max_allocated_gib","value":10,"rank":"last"}})");
}

TrainingRow read(const Json& json) {
  auto row = read_training_row(json, catalog::Catalog::embedded());
  if (!row) FAIL(row.error().message);
  return *row;
}

std::string reason(const Json& json) {
  auto row = read_training_row(json, catalog::Catalog::embedded());
  return row ? "" : row.error().message;
}

}  // namespace

TEST_CASE("a row becomes architecture, training, plan and cluster") {
  const TrainingRow row = read(base());
  CHECK(row.architecture.layers == 4);
  CHECK(row.architecture.kv_heads == 8);               // as many as heads
  CHECK(row.architecture.head_dim == 64);              // 512 / 8
  CHECK(row.architecture.vocab == 50257);              // null
  CHECK(row.architecture.norm == model::Norm::layer);  // plain MLP
  CHECK(row.plan.tp == 2);
  CHECK(row.plan.sharding == workload::Sharding::zero1);
  CHECK(row.plan.recompute == workload::Recompute::full);
  CHECK(row.plan.sequence_parallel);  // Megatron's habit with tensor parallelism
  CHECK(row.stage == memory::StageChoice::last);
  CHECK(row.cluster.gpus == 16);
  CHECK(row.cluster.gpus_per_node == 8);
  CHECK(row.cluster.gpu->id == "A100-SXM4-80GB");
  CHECK(row.training.micro_batches_unknown);
}

TEST_CASE("what a row says wins over the framework") {
  Json json = base();
  json["plan"]["sequence_parallel"] = false;
  json["run"]["grad_reduce"] = "bf16";
  json["run"]["grad_overlap"] = 0;
  json["run"]["dropout"] = 0.1;
  json["run"]["global_batch"] = 64;
  const TrainingRow row = read(json);
  CHECK_FALSE(row.plan.sequence_parallel);
  CHECK(row.training.grad_reduce_bytes == 2);
  CHECK(row.training.grad_overlap == 0);
  CHECK_FALSE(row.training.tp_backward_overlap);  // overlaps not named are off once one is
  CHECK(row.training.dropout == 0.1);
  CHECK_FALSE(row.training.micro_batches_unknown);
  CHECK(row.plan.grad_accum == 8);  // 64 / (2 x 4)
}

TEST_CASE("without any overlap named the framework decides") {
  CHECK(read(base()).training.tp_backward_overlap);
}

TEST_CASE("an unknown framework gets the profile of its kernels") {
  Json json = base();
  json["run"]["framework"] = "brand-new";
  json["run"]["kernel_profile"] = "compiled";
  const TrainingRow row = read(json);
  CHECK(row.training.framework.id == workload::Framework::torchtitan);
  CHECK(row.training.kernel_profile == workload::KernelProfile::compiled);
}

TEST_CASE("unknown values, GPUs and presets give the reason to skip") {
  Json json = base();
  json["run"]["optimizer"] = "sophia";
  CHECK(reason(json) == "unknown optimizer 'sophia'");
  json = base();
  json["cluster"]["gpu"] = "Z9000";
  CHECK(reason(json) == "unknown GPU 'Z9000'");
  json = base();
  json["model"] = {{"preset", "no-such-model-xyz"}};
  CHECK(reason(json) == "unknown preset 'no-such-model-xyz'");
  json = base();
  json["model"] = {{"name", "GPT"}};
  CHECK_FALSE(reason(json).empty());
  json = base();
  json["model"]["layers"] = 100000;
  CHECK_FALSE(reason(json).empty());
}

TEST_CASE("a preset can be cut to fewer layers") {
  Json json = base();
  json["model"] = {{"preset", "llama-3-70b"}, {"layers", 12}, {"heads", nullptr}};
  const auto architecture = read(json).architecture;
  CHECK(architecture.layers == 12);
  CHECK(architecture.hidden == 8192);
  int total = 0;
  for (int kind = 0; kind < architecture.kind_count; ++kind)
    total += architecture.kinds[static_cast<std::size_t>(kind)].count;
  CHECK(total == 12);
  // 12 layers x (2·8192² + 2·8192·1024 + 3·8192·28672 + 2·8192) + 2·128256·8192 + 8192
  CHECK(model::count_parameters(architecture).total == 12369207296.0);
}

TEST_CASE("experts and latent attention are read with their layers") {
  Json json = base();
  json["model"] = Json::parse(R"({"layers":8,"hidden":512,"heads":8,"ffn":2048,"gated":true,
    "experts":8,"experts_per_token":4,"moe_ffn":1024,"shared_expert_ffn":1024,"q_lora_rank":256,
    "kv_lora_rank":128,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,
    "moe_layers":[0,0,0,1,1,1,1,1]})");
  const auto a = read(json).architecture;
  REQUIRE(a.kind_count == 2);
  CHECK(a.kinds[0].count == 3);
  CHECK_FALSE(a.kinds[0].moe);
  CHECK(a.kinds[0].ffn == 2048);
  CHECK(a.kinds[1].count == 5);
  CHECK(a.kinds[1].moe);
  CHECK(a.kinds[1].mixer == model::Mixer::mla);
  CHECK(a.kind_of_layer[2] == 0);
  CHECK(a.kind_of_layer[3] == 1);
  json["model"].erase("moe_layers");
  json["model"]["dense_layers"] = 1;
  CHECK(read(json).architecture.kinds[0].count == 1);
}

TEST_CASE("a degree that contradicts the GPUs gives way") {
  Json json = base();
  json["plan"]["dp"] = 3;
  CHECK(read(json).plan.dp == 4);  // 16 / (2 x 2)
  json["plan"].erase("dp");
  CHECK(read(json).plan.dp == 4);
}

TEST_CASE("adapters are read with names of modules") {
  Json json = base();
  json["plan"] = {{"sharding", "none"}};
  json["cluster"]["gpus"] = 1;
  json["model"] = {{"preset", "llama-2-7b"}};
  json["run"] = {
      {"mode", "qlora"},      {"framework", "hf"},
      {"quant", "nf4-dq"},    {"seq_len", 512},
      {"micro_batch", 1},     {"lora", {{"rank", 16}, {"targets", {"q_proj", "v_proj"}}}},
      {"offload", {"params"}}};
  const TrainingRow row = read(json);
  CHECK(row.training.quant == workload::Quant::nf4_dq);
  CHECK(row.training.lora.rank == 16);
  CHECK(row.training.lora.targets == (model::kTargetQ | model::kTargetV));
  // 32 layers x 2 modules x 16 x (4096 + 4096)
  CHECK(row.training.lora_parameters == 8388608.0);
  CHECK(row.plan.offload == workload::kOffloadParams);
  json["run"]["lora"] = Json::object();
  CHECK(read(json).training.lora.targets == model::kTargetAllLinear);
  CHECK(read(json).training.lora.rank == 64);
}

TEST_CASE("other names of optimizers are read by the size of their states") {
  Json json = base();
  json["run"]["optimizer"] = "fused_adam";
  CHECK(read(json).training.optimizer == workload::Optimizer::adamw);
  json["run"]["optimizer"] = "bnb 8bit adam";
  CHECK(read(json).training.optimizer == workload::Optimizer::adamw_8bit);
}

TEST_CASE("unknown keys are counted once a key") {
  UnknownKeys unknown;
  Json json = base();
  json["colour"] = "blue";
  json["run"]["speed_of_light"] = 3e8;
  check_row_keys(json, unknown);
  json.erase("colour");
  check_row_keys(json, unknown);
  const auto warnings = unknown.warnings();
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0] == "unknown key 'colour' ignored in 1 row");
  CHECK(warnings[1] == "unknown key 'run.speed_of_light' ignored in 2 rows");
}
