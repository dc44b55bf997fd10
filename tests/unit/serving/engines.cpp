#include "fixture.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor::serving;

TEST_CASE("versions are read from their leading numbers only") {
  CHECK(parse_version("0.6.3 (gpu_memory_utilization=0.9)") == 603);
  CHECK(parse_version("4.51.3 (torch 2.6.0)") == 45103);
  CHECK(parse_version("0.7a") == 700);
  CHECK(parse_version("0.6.4.post1") == 604);
  CHECK(parse_version("2025-07") == 0);
  CHECK(parse_version("tp=8 + dp attention") == 0);
  CHECK(parse_version("") == 0);
  CHECK(parse_version("0.8.x") == 800);
  CHECK(parse_version("99999999999999") == 0);
}

TEST_CASE("a profile holds until a newer one begins") {
  CHECK(engine_profile(Engine::vllm, 402).from_version == 0);
  CHECK(engine_profile(Engine::vllm, 604).from_version == 500);
  CHECK(engine_profile(Engine::vllm, 605).from_version == 605);
  CHECK(engine_profile(Engine::vllm, 2300).graphs_share > 0);
  CHECK(engine_profile(Engine::vllm, 900).graphs_share == 0);
  CHECK(engine_profile(Engine::vllm, 0).from_version == 500);
  CHECK(engine_profile(Engine::tensorrt_llm, 10000).moe_dp_attention);
  CHECK_FALSE(engine_profile(Engine::tensorrt_llm, 1700).moe_dp_attention);
}

TEST_CASE("every engine has a profile and profiles are ordered by version") {
  for (const auto name : engine_names()) {
    const auto engine = engine_from_string(name);
    REQUIRE(engine);
    CHECK(engine_profile(*engine, 0).engine == *engine);
    CHECK(engine_profile(*engine, 990000).engine == *engine);
  }
  const auto all = engine_profiles();
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].engine == all[i - 1].engine) CHECK(all[i].from_version > all[i - 1].from_version);
}
