#include "fixture.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::serving;

namespace {
double weights(const Model& model, Quant quant, int tp = 1) {
  Plan plan;
  plan.tp = tp;
  return weight_bytes(model, quant, plan, engine_profile(Engine::vllm, 800));
}
}  // namespace

TEST_CASE("16-bit weights are two bytes a parameter") {
  const Model model = prepare(fixture::llama_8b());
  CHECK(weights(model, Quant::none) == 2.0 * 8030261248.0);
}

TEST_CASE("int4 weights keep embedding, head and norms in 16 bit") {
  const Model model = prepare(fixture::llama_8b());
  // Matrices a layer: 4096·128·(2·32 + 2·8) + 3·4096·14336 = 41,943,040 + 176,160,768;
  // 32 layers: 6,979,321,856 at (4 + 16/128 + 4/128)/8 = 0.51953125 bytes.
  // Ends 2·128256·4096 = 1,050,673,152 and norms 65·4096 = 266,240 at 2 bytes.
  const double matrices = 6979321856.0 * 0.51953125;
  const double sixteen = 2.0 * (1050673152.0 + 266240.0);
  CHECK_THAT(weights(model, Quant::awq_int4), WithinAbs(matrices + sixteen, 1));
  // GPTQ adds 4 bytes an input row: 32·(3·4096 + 4096 + 2·4096 + 14336) = 1,245,184 rows.
  CHECK_THAT(weights(model, Quant::gptq_int4), WithinAbs(matrices + sixteen + 4 * 1245184.0, 1));
}

TEST_CASE("tensor parallelism beyond the KV heads copies keys and values") {
  const Model model = prepare(fixture::llama_8b());
  const double norms = 2 * 266240.0;
  const double rest = 2 * 8030261248.0 - norms;
  CHECK_THAT(weights(model, Quant::none, 8), WithinAbs(rest / 8 + norms, 1));
  // tp 16: k and v, 32·2·4096·1024 parameters, exist twice.
  const double copies = 2.0 * 32 * 2 * 4096 * 1024;
  CHECK_THAT(weights(model, Quant::none, 16), WithinAbs((rest + copies) / 16 + norms, 1));
}

TEST_CASE("GGUF sizes follow the tensor types of the file kind") {
  const Model model = prepare(fixture::llama_8b());
  // Published files of Llama-3-8B: F16 14.96, Q8_0 7.95, Q6_K 6.14, Q4_K_M 4.58,
  // Q4_K_S 4.37, Q3_K_M 3.74 GiB.
  CHECK_THAT(weights(model, Quant::gguf_f16) / kGiB, WithinRel(14.96, 0.002));
  CHECK_THAT(weights(model, Quant::gguf_q8_0) / kGiB, WithinRel(7.95, 0.002));
  CHECK_THAT(weights(model, Quant::gguf_q6_k) / kGiB, WithinRel(6.14, 0.002));
  CHECK_THAT(weights(model, Quant::gguf_q4_k_m) / kGiB, WithinRel(4.58, 0.002));
  CHECK_THAT(weights(model, Quant::gguf_q4_k_s) / kGiB, WithinRel(4.37, 0.002));
  CHECK_THAT(weights(model, Quant::gguf_q3_k_m) / kGiB, WithinRel(3.74, 0.003));
}

TEST_CASE("fewer bits never weigh more") {
  const Model model = prepare(fixture::llama_8b());
  const Quant order[] = {Quant::fp32,        Quant::none,        Quant::gguf_q8_0,
                         Quant::gguf_q6_k,   Quant::gguf_q5_k_m, Quant::gguf_q4_k_m,
                         Quant::gguf_q3_k_m, Quant::gguf_q2_k,   Quant::gguf_iq2_xs,
                         Quant::gguf_iq1_s};
  for (std::size_t i = 1; i < std::size(order); ++i)
    CHECK(weights(model, order[i]) < weights(model, order[i - 1]));
}

TEST_CASE("format names round-trip and refuse nonsense") {
  for (const auto name : quant_names()) {
    REQUIRE(quant_from_string(name));
    CHECK(to_string(*quant_from_string(name)) == name);
  }
  CHECK_FALSE(quant_from_string("gguf-"));
  CHECK_FALSE(quant_from_string(""));
}
