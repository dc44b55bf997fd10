#include "gpuadvisor/workload.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::workload;

TEST_CASE("each framework has its own record") {
  for (const std::string_view name : names_of<Framework>()) {
    const auto id = from_string<Framework>(name);
    REQUIRE(id.has_value());
    const FrameworkProfile& profile = framework_profile(*id);
    CHECK(profile.id == *id);
    CHECK(profile.name == name);
    CHECK(profile.host_layer_s > 0);
    CHECK(profile.host_layer_s < 0.01);
    CHECK(profile.loss_bytes > 0);
    CHECK(profile.optimizer_bytes >= 30);
    CHECK((profile.grad_reduce_bytes == 2 || profile.grad_reduce_bytes == 4));
    CHECK((profile.grad_overlap >= 0 && profile.grad_overlap <= 1));
  }
}

TEST_CASE("frameworks differ where they really do") {
  CHECK(framework_profile(Framework::megatron).vocab_parallel);
  CHECK(framework_profile(Framework::megatron).grad_reduce_bytes == 4);
  CHECK_FALSE(framework_profile(Framework::megatron_deepspeed).sequence_parallel);
  CHECK(framework_profile(Framework::megatron_deepspeed).grad_overlap == 0);
  CHECK(framework_profile(Framework::llm_foundry).attention_kernel == AttentionKernel::fa1);
  CHECK(framework_profile(Framework::hf).recipe == StateRecipe::hf_amp);
  CHECK_FALSE(framework_profile(Framework::hf).vocab_parallel);
}

TEST_CASE("other kernels change what a framework moves and launches") {
  const FrameworkProfile& hf = framework_profile(Framework::hf);
  const FrameworkProfile fused = adapt_profile(hf, KernelProfile::fused);
  CHECK(fused.kernel_profile == KernelProfile::fused);
  CHECK(fused.loss_bytes < hf.loss_bytes);
  CHECK(fused.host_layer_s < hf.host_layer_s);
  const FrameworkProfile& titan = framework_profile(Framework::torchtitan);
  CHECK(adapt_profile(titan, KernelProfile::eager).loss_bytes > titan.loss_bytes);
  CHECK(adapt_profile(hf, KernelProfile::eager).loss_bytes == hf.loss_bytes);
}

TEST_CASE("an unknown framework behaves as its kernels and sharding say") {
  CHECK(generic_framework(KernelProfile::fused, Sharding::zero1) == Framework::megatron);
  CHECK(generic_framework(KernelProfile::compiled, Sharding::fsdp) == Framework::torchtitan);
  CHECK(generic_framework(KernelProfile::mpt, Sharding::fsdp) == Framework::llm_foundry);
  CHECK(generic_framework(KernelProfile::eager, Sharding::zero3) == Framework::deepspeed);
  CHECK(generic_framework(KernelProfile::eager, Sharding::fsdp) == Framework::fsdp);
  CHECK(generic_framework(KernelProfile::eager, Sharding::none) == Framework::hf);
}

TEST_CASE("a part without training rows is known no better than one left out of a fit") {
  const auto& catalog = catalog::Catalog::embedded();
  const Band a100 =
      speed_band(Mode::pretrain, Framework::megatron, *catalog.find_gpu("A100-SXM4-80GB"));
  const Band a16 = speed_band(Mode::pretrain, Framework::megatron, *catalog.find_gpu("A16"));
  REQUIRE(a100.p90.has_value());
  REQUIRE(a16.p90.has_value());
  CHECK(*a100.p50 < 0.08);
  CHECK(*a16.p50 >= 0.08);
  CHECK(*a16.p90 >= 0.219);
}
