// Reads members of one JSON object under the several names that publishers give
// them. Null is the same as absent; a wrong type or an absurd value is an error
// that names the key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::model {

inline constexpr std::size_t kMaxConfigBytes = 16u << 20;
inline constexpr int kMaxJsonDepth = 64;

using Names = std::initializer_list<std::string_view>;

class Fields {
 public:
  Fields(const nlohmann::json& object, std::string where)
      : object_(&object), where_(std::move(where)) {}

  /// First of the names that is present and not null; null when none is.
  [[nodiscard]] const nlohmann::json* find(std::string_view name) const;
  /// A whole number in [0, 2^30) under the first name present; `fallback` otherwise.
  std::int32_t integer(Names names, std::int32_t fallback = 0);
  /// The same, but a word instead of a number ("auto") also gives the fallback.
  std::int32_t integer_or(Names names, std::int32_t fallback);
  /// The same for a key that may be -1 ("all of them"): negative values give -1.
  std::int32_t integer_or_negative(std::string_view name, std::int32_t fallback);
  /// Names of the members, at most 4096.
  [[nodiscard]] std::vector<std::string> keys() const;
  bool boolean(Names names, bool fallback);
  std::optional<bool> maybe_boolean(std::string_view name);
  std::string text(Names names);
  /// Whole numbers of an array; empty when absent. At most 4096 entries.
  std::vector<std::int32_t> integers(std::string_view name);
  /// The same, but empty when the value is not an array.
  std::vector<std::int32_t> integers_if_array(std::string_view name);
  std::vector<std::string> texts(std::string_view name);
  /// Members of an object, or `fallback` when it is absent.
  [[nodiscard]] std::size_t size_of(std::string_view name, std::size_t fallback) const;
  /// Length of a text, 0 when the value is none.
  [[nodiscard]] std::size_t length_if_text(std::string_view name) const;
  /// A nested object, or nothing.
  [[nodiscard]] std::optional<Fields> object(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

  /// The first thing that was wrong, if any.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  void complain(std::string_view name, std::string expected);

 private:
  const nlohmann::json* object_;
  std::string where_;
  std::optional<Error> error_;
};

/// Product of two sizes, at most 2^30 - 1: a hostile file cannot overflow.
[[nodiscard]] std::int32_t product(double left, double right);

/// Parses JSON text strictly: size and depth limited, duplicate keys and trailing
/// text refused, no exceptions.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, std::string_view where,
                                                std::size_t max_bytes = kMaxConfigBytes);

}  // namespace gpuadvisor::model
