#include "accuracy/fields.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpuadvisor::accuracy {
namespace {

constexpr double kExactInteger = 9007199254740992.0;  // 2^53

std::optional<double> parse(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace

void UnknownKeys::check(const Json& row, std::string_view section_name,
                        std::span<const std::string_view> known) {
  for (const auto& item : row.items()) {
    if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
    ++counts_[fmt::format("{}{}{}", section_name, section_name.empty() ? "" : ".", item.key())];
  }
}

std::vector<std::string> UnknownKeys::warnings() const {
  std::vector<std::string> out;
  for (const auto& [key, count] : counts_)
    out.push_back(
        fmt::format("unknown key '{}' ignored in {} row{}", key, count, count == 1 ? "" : "s"));
  return out;
}

const Json& section(const Json& row, const char* key) {
  static const Json empty = Json::object();
  const auto found = row.find(key);
  return found != row.end() && found->is_object() ? *found : empty;
}

const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<double> number(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr) return std::nullopt;
  std::optional<double> out;
  if (value->is_number()) out = value->get<double>();
  if (value->is_string()) out = parse(value->get<std::string>());
  return out && std::isfinite(*out) ? out : std::nullopt;
}

std::optional<std::int64_t> integer(const Json& object, const char* key) {
  const auto value = number(object, key);
  if (!value || std::fabs(*value) > kExactInteger) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*value));
}

std::optional<bool> flag(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number()) return value->get<double>() != 0;
  return std::nullopt;
}

std::string text(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

}  // namespace gpuadvisor::accuracy
