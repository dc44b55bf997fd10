#include <algorithm>

#include "gpuadvisor/workload.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::workload;

namespace {

const model::Architecture& llama() {
  const model::Preset* preset = model::find_preset("llama-2-7b");
  REQUIRE(preset != nullptr);
  return preset->architecture;
}

const catalog::Gpu& gpu(const char* id) {
  const catalog::Gpu* found = catalog::Catalog::embedded().find_gpu(id);
  REQUIRE(found != nullptr);
  return *found;
}

Resolved resolved(const Request& request, const char* id = "A100-SXM4-80GB") {
  auto result = resolve(request, llama(), &gpu(id));
  if (!result) FAIL(result.error().message);
  return *result;
}

bool assumes(const Resolved& result, const char* field) {
  return std::any_of(result.assumed.begin(), result.assumed.end(),
                     [&](const Assumption& one) { return one.field == field; });
}

Request of_mode(Mode mode) {
  Request request;
  request.mode = mode;
  return request;
}

}  // namespace

TEST_CASE("defaults follow the mode and are all listed") {
  const Resolved full = resolved(of_mode(Mode::full_ft));
  CHECK(full.training.seq_len == 4096);
  CHECK(full.training.global_batch == 128);
  CHECK(full.training.tokens == 1e8);
  CHECK(full.training.framework.id == Framework::deepspeed);
  for (const char* field :
       {"seq_len", "global_batch", "tokens", "framework", "optimizer", "precision"})
    CHECK(assumes(full, field));
  const Resolved lora = resolved(of_mode(Mode::lora));
  CHECK(lora.training.seq_len == 2048);
  CHECK(lora.training.global_batch == 16);
  CHECK(lora.training.lora.rank == 8);
  CHECK(lora.training.framework.id == Framework::hf);
  // 32 layers x 4 modules x 8 x (4096 + 4096)
  CHECK(lora.training.lora_parameters == 8388608.0);
  const Resolved pretrain = resolved(of_mode(Mode::pretrain));
  CHECK(pretrain.training.global_batch == 1024);
  CHECK(pretrain.training.framework.id == Framework::megatron);
  CHECK_THAT(pretrain.training.tokens, WithinRel(20 * 6738415616.0, 1e-9));
  CHECK(resolved(of_mode(Mode::qlora)).training.quant == Quant::nf4);
}

TEST_CASE("what was said is taken and not listed as assumed") {
  Request request = of_mode(Mode::pretrain);
  request.seq_len = 2048;
  request.global_batch = 256;
  request.samples = 1000;
  request.epochs = 3;
  request.dropout = 0.2;
  request.grad_reduce_fp32 = false;
  const Resolved result = resolved(request);
  CHECK(result.training.tokens == 1000.0 * 2048 * 3);
  CHECK(result.training.dropout == 0.2);
  CHECK(result.training.grad_reduce_bytes == 2);
  for (const char* field : {"seq_len", "global_batch", "tokens", "mode"})
    CHECK_FALSE(assumes(result, field));
}

TEST_CASE("precision and attention follow the GPU") {
  CHECK(resolved(of_mode(Mode::lora), "A100-SXM4-80GB").training.precision == Precision::bf16);
  const Resolved volta = resolved(of_mode(Mode::lora), "V100-SXM2-32GB");
  CHECK(volta.training.precision == Precision::fp16);
  CHECK(volta.training.attention == Attention::eager);
  Request request = of_mode(Mode::pretrain);
  request.precision = Precision::fp8;
  CHECK_FALSE(resolve(request, llama(), &gpu("A100-SXM4-80GB")).has_value());
  CHECK(resolve(request, llama(), &gpu("H100-SXM")).has_value());
  CHECK(resolve(request, llama(), nullptr).has_value());
}

TEST_CASE("contradictions name the flags") {
  const auto error = [](const Request& request) {
    auto result = resolve(request, llama(), nullptr);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code == ErrorCode::usage);
    return result.error().where;
  };
  Request request = of_mode(Mode::pretrain);
  request.tokens = 1e9;
  request.samples = 10;
  CHECK(error(request) == "--tokens, --samples");
  request = of_mode(Mode::full_ft);
  request.lora_rank = 8;
  CHECK(error(request) == "--mode, --lora-rank");
  request = of_mode(Mode::full_ft);
  request.quant = Quant::nf4;
  CHECK(error(request) == "--mode, --quant");
  request = of_mode(Mode::qlora);
  request.quant = Quant::none;
  CHECK(error(request) == "--mode, --quant");
  request = of_mode(Mode::lora);
  request.lora_targets = std::vector<std::string>{"no_such_proj"};
  CHECK(error(request) == "--lora-targets");
}

TEST_CASE("a learned position table bounds the sequence") {
  const model::Preset* gpt2 = model::find_preset("gpt2");
  REQUIRE(gpt2 != nullptr);
  Request request = of_mode(Mode::pretrain);
  const auto result = resolve(request, gpt2->architecture, nullptr);
  REQUIRE(result.has_value());
  CHECK(result->training.seq_len == 1024);
  request.seq_len = 2048;
  CHECK(resolve(request, gpt2->architecture, nullptr).error().where == "--seq-len");
}
