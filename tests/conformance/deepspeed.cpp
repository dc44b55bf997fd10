// DeepSpeed's ZeRO estimators (estimate_zero2/3_model_states_mem_needs): model states
// only. ZeRO-2 keeps 2 bytes a parameter whole and shards 18 (16-bit gradient, fp32
// gradient copy, master and moments); ZeRO-3 shards all 18 + adds the largest layer.
#include <algorithm>
#include <cmath>

#include "conformance/peers.hpp"
#include "test_support/catch.hpp"

using namespace conformance;

namespace {

struct States {
  double gpu, host;
};

States zero2(const Json& in) {
  const double p = number(in, "total_params");
  const double node = number(in, "num_gpus_per_node");
  const double n = node * number(in, "num_nodes");
  const double extra = number(in, "additional_buffer_factor");
  if (flag(in, "cpu_offload")) return {2 * p, p * std::max(4 * n, 16.0) * extra};
  return {2 * p + std::trunc(18 * p / n), p * 4 * node * extra};
}

States zero3(const Json& in) {
  const double p = number(in, "total_params");
  const double largest = number(in, "largest_layer_params");
  const double node = number(in, "num_gpus_per_node");
  const double nodes = number(in, "num_nodes");
  const double extra = number(in, "additional_buffer_factor");
  const bool sharded_init = flag(in, "zero_init");
  if (!flag(in, "cpu_offload"))
    return {4 * largest + std::trunc(18 * p / (node * nodes)),
            (sharded_init ? largest : p) * 4 * node * extra};
  const bool params = flag(in, "cpu_offload_params");
  const double share = (params ? 18 : 16) / nodes;
  return {4 * largest + (params ? 0 : std::trunc(2 * p / (node * nodes))),
          p * (sharded_init ? share : std::max(4 * node, share)) * extra};
}

}  // namespace

TEST_CASE("DeepSpeed ZeRO-2 estimates are reproduced") {
  const Json& cases = peers()["deepspeed_zero2"]["cases"];
  REQUIRE(cases.size() == 33);
  for (const Json& entry : cases) {
    INFO(entry["id"]);
    const States got = zero2(entry["input"]);
    CHECK(got.gpu == entry["output"]["gpu_mem_bytes"].get<double>());
    CHECK_THAT(got.host, WithinAbs(entry["output"]["cpu_mem_bytes"].get<double>(), 1));
  }
}

TEST_CASE("DeepSpeed ZeRO-3 estimates are reproduced") {
  const Json& cases = peers()["deepspeed_zero3"]["cases"];
  REQUIRE(cases.size() == 48);
  for (const Json& entry : cases) {
    INFO(entry["id"]);
    const States got = zero3(entry["input"]);
    CHECK(got.gpu == entry["output"]["gpu_mem_bytes"].get<double>());
    CHECK_THAT(got.host, WithinAbs(entry["output"]["cpu_mem_bytes"].get<double>(), 1));
  }
}
