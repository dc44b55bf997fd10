// Outputs of other estimators' own code (tests/data/peers.json), for conformance.
#pragma once

#include <nlohmann/json.hpp>

namespace conformance {

using Json = nlohmann::json;

const Json& peers();

inline double number(const Json& object, const char* key, double fallback = 0) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_number() ? fallback : found->get<double>();
}

inline bool flag(const Json& object, const char* key, bool fallback = false) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_boolean() ? fallback : found->get<bool>();
}

/// A Megatron case with the fields that its file leaves at their defaults.
Json megatron_input(const Json& entry);

}  // namespace conformance
