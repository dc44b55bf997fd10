#include <set>

#include "gpuadvisor/workload.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::workload;

namespace {

template <class E>
void check_round_trip(std::size_t count) {
  const auto names = names_of<E>();
  REQUIRE(names.size() == count);
  std::set<std::string_view> distinct;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto value = from_string<E>(names[i]);
    REQUIRE(value.has_value());
    CHECK(static_cast<std::size_t>(*value) == i);
    CHECK(to_string(*value) == names[i]);
    distinct.insert(names[i]);
  }
  CHECK(distinct.size() == count);
  CHECK_FALSE(from_string<E>("").has_value());
  CHECK_FALSE(from_string<E>("no-such-name").has_value());
}

}  // namespace

TEST_CASE("every enum prints and parses all its names") {
  check_round_trip<Mode>(6);
  check_round_trip<Precision>(5);
  check_round_trip<Optimizer>(8);
  check_round_trip<Recompute>(5);
  check_round_trip<Attention>(2);
  check_round_trip<AttentionKernel>(3);
  check_round_trip<KernelProfile>(4);
  check_round_trip<Loss>(4);
  check_round_trip<Quant>(10);
  check_round_trip<Sharding>(7);
  check_round_trip<Schedule>(5);
  check_round_trip<Framework>(18);
  check_round_trip<StateRecipe>(5);
}

TEST_CASE("names are those of the command line and of measurement rows") {
  CHECK(from_string<Mode>("full-ft") == Mode::full_ft);
  CHECK(from_string<Sharding>("fsdp-grad-op") == Sharding::fsdp_grad_op);
  CHECK(from_string<Precision>("bf16-pure") == Precision::bf16_pure);
  CHECK(from_string<Schedule>("1f1b") == Schedule::one_f_one_b);
  CHECK(from_string<Schedule>("zb-1p") == Schedule::zb_1p);
  CHECK(from_string<Optimizer>("adamw-8bit") == Optimizer::adamw_8bit);
  CHECK(from_string<Framework>("llm.c") == Framework::llm_c);
  CHECK(from_string<Quant>("nf4-dq") == Quant::nf4_dq);
  CHECK(from_string<Recompute>("selective_op") == Recompute::selective_op);
}

TEST_CASE("usual spellings are read and never printed") {
  CHECK(from_string<Optimizer>("paged_adamw_8bit") == Optimizer::adamw_paged);
  CHECK(from_string<Optimizer>("adamw_8bit") == Optimizer::adamw_8bit);
  CHECK(from_string<Attention>("sdpa") == Attention::flash);
  CHECK(from_string<Recompute>("selective-op") == Recompute::selective_op);
  CHECK(from_string<Framework>("Axolotl") == Framework::hf);
  CHECK(from_string<Mode>("full_ft") == Mode::full_ft);
  CHECK_FALSE(from_string<Mode>("sdpa").has_value());  // a spelling of another enum
  CHECK(to_string(Optimizer::adamw_paged) == "adamw-paged");
}
