// llm-analysis: a layer is 12·h² in matrices whatever the MLP, the output embedding is
// left out, gradients are fp32, and tensor parallelism divides norms of gradients only.
#include "conformance/peers.hpp"
#include "test_support/catch.hpp"

using namespace conformance;

TEST_CASE("llm-analysis model states are reproduced") {
  const Json& cases = peers()["llm_analysis"]["cases"];
  REQUIRE(cases.size() == 10);
  for (const Json& entry : cases) {
    INFO(entry["id"]);
    const Json& in = entry["input"];
    const Json& want = entry["output"];
    const double h = number(in, "hidden");
    const double layers = number(in, "layers");
    const double embedding = number(in, "vocab") * h;
    const double matrices = 12 * h * h * layers;
    const double norms = (2 * layers + 1) * h;
    const double t = number(in, "tp_size", 1);
    const double p = number(in, "pp_size", 1);
    const double dp = number(in, "dp_size", 1);
    const double stage = number(in, "ds_zero");
    const double rank = embedding / t + matrices / t / p + norms / p;
    CHECK(embedding + matrices + norms == number(want, "num_params_total"));
    // With tensor parallelism its final norm is divided here and there: 1e-6 apart.
    const double tolerance = t > 1 ? 1e-6 : 1e-12;
    CHECK_THAT(2 * rank / (stage >= 3 ? dp : 1),
               WithinRel(number(want, "weight_memory_per_gpu"), tolerance));
    CHECK_THAT(12 * rank / (stage >= 1 ? dp : 1),
               WithinRel(number(want, "optimizer_state_memory_per_gpu"), tolerance));
    const double gradient = 4 * (embedding / t + matrices / t / p + norms / t / p);
    CHECK_THAT(gradient / (stage >= 2 ? dp : 1),
               WithinRel(number(want, "gradient_memory_per_gpu"), tolerance));
  }
}
