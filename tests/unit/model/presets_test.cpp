#include <cmath>

#include "gpuadvisor/model.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;

TEST_CASE("presets are found by id hub id and loose names") {
  const char* const same[] = {"llama-3.1-70b", "meta-llama/Llama-3.1-70B", "Llama-3.1-70B-Instruct",
                              "meta-llama/Meta-Llama-3.1-70B-Instruct", "llama3.1-70b", "LLAMA_3.1_70B"};
  for (const char* name : same) {
    INFO(name);
    const auto found = model::resolve_preset(name, "--model");
    REQUIRE(found);
    CHECK((*found)->id == "llama-3.1-70b");
  }
}

TEST_CASE("all sizes give a shape within one percent") {
  for (double total = 1e6; total <= 1e16; total *= 1.17) {
    INFO(total);
    const auto made = model::synthesize(total, std::nullopt);
    REQUIRE(made);
    const double size = model::count_parameters(made->architecture).total;
    CHECK(std::abs(size - total) <= 0.01 * total);
    CHECK(made->architecture.heads % made->architecture.kv_heads == 0);
    CHECK(made->architecture.hidden % 8 == 0);
  }
}
