// Lenient reading of one measurement row: missing and null are the same, unknown
// keys are counted for a warning, wrong values make the row skipped.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "gpuadvisor/units.hpp"
#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::accuracy {

using Json = nlohmann::json;

/// Unknown keys by "section.key", each with how many rows have it.
class UnknownKeys {
 public:
  /// Counts the keys of `section` of `row` that are not `known`.
  void check(const Json& row, std::string_view section, std::span<const std::string_view> known);
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  std::map<std::string, int> counts_;
};

/// The object `key` of `row`; an empty object when absent or no object.
const Json& section(const Json& row, const char* key);
/// The value of `key`, or null when the key is absent or its value is null.
const Json* find(const Json& object, const char* key);
/// A finite number, also one written as text ("4096").
std::optional<double> number(const Json& object, const char* key);
/// A number within +-2^53, rounded.
std::optional<std::int64_t> integer(const Json& object, const char* key);
std::optional<bool> flag(const Json& object, const char* key);
/// Text, or empty.
std::string text(const Json& object, const char* key);

/// An enumerator by its name; nothing when absent; an error that names the value
/// when it is unknown.
template <class E>
Result<std::optional<E>> enumerator(const Json& object, const char* key) {
  const std::string name = text(object, key);
  if (name.empty()) return std::optional<E>();
  const auto value = workload::from_string<E>(name);
  if (!value) return fail(ErrorCode::input, std::string("unknown ") + key + " '" + name + "'");
  return value;
}

}  // namespace gpuadvisor::accuracy
