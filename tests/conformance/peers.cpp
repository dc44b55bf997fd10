#include "conformance/peers.hpp"

#include <fstream>

namespace conformance {

const Json& peers() {
  static const Json data = [] {
    std::ifstream in(GPUADVISOR_SOURCE_DIR "/tests/data/peers.json");
    return Json::parse(in);
  }();
  return data;
}

Json megatron_input(const Json& entry) {
  Json input = peers()["megatron"]["defaults"];
  input.update(entry["input"]);
  return input;
}

}  // namespace conformance
