#include "model/fields.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 takes the parser's freshly made string for an object (a false positive).
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
#include <nlohmann/json.hpp>

namespace gpuadvisor::model {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxInteger = 1073741823;  // the sum of two still fits 32 bits
constexpr std::size_t kMaxArray = 4096;

/// A whole number, also when written as 4.0.
std::optional<std::int32_t> whole(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number <= static_cast<std::uint64_t>(kMaxInteger)) return static_cast<std::int32_t>(number);
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number >= 0 && number <= static_cast<double>(kMaxInteger) && number == std::floor(number))
      return static_cast<std::int32_t>(number);
  }
  return std::nullopt;
}

/// Refuses nesting beyond the limit and duplicate keys; stores nothing but keys.
class Guard : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    problem = "duplicate key \"" + name + "\"";
    return false;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    problem = error.what();
    return false;
  }
  std::string problem;

 private:
  bool enter() {
    keys_.emplace_back();
    if (keys_.size() > static_cast<std::size_t>(kMaxJsonDepth))
      problem = "nested more than 64 deep";
    return problem.empty();
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

std::int32_t product(double left, double right) {
  return static_cast<std::int32_t>(std::min(left * right, static_cast<double>(kMaxInteger)));
}

const json* Fields::find(std::string_view name) const {
  const auto found = object_->find(name);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void Fields::complain(std::string_view name, std::string expected) {
  if (!error_)
    error_ = Error{
        ErrorCode::input, std::string(name) + ": expected " + std::move(expected), where_, {}};
}

std::int32_t Fields::integer(Names names, std::int32_t fallback) {
  for (const std::string_view name : names) {
    const json* value = find(name);
    if (value == nullptr) continue;
    if (const auto number = whole(*value)) return *number;
    complain(name, "a whole number from 0 to 1073741823");
  }
  return fallback;
}

std::int32_t Fields::integer_or_negative(std::string_view name, std::int32_t fallback) {
  const json* value = find(name);
  if (value != nullptr && value->is_number_integer() && !value->is_number_unsigned()) return -1;
  return integer({name}, fallback);
}

std::int32_t Fields::integer_or(Names names, std::int32_t fallback) {
  for (const std::string_view name : names) {
    const json* value = find(name);
    if (value != nullptr) return value->is_string() ? fallback : integer({name}, fallback);
  }
  return fallback;
}

std::vector<std::string> Fields::keys() const {
  std::vector<std::string> out;
  for (const auto& item : object_->items())
    if (out.size() < kMaxArray) out.push_back(item.key());
  return out;
}

bool Fields::boolean(Names names, bool fallback) {
  for (const std::string_view name : names)
    if (const auto value = maybe_boolean(name)) return *value;
  return fallback;
}

std::optional<bool> Fields::maybe_boolean(std::string_view name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  complain(name, "true or false");
  return std::nullopt;
}

std::string Fields::text(Names names) {
  for (const std::string_view name : names) {
    const json* value = find(name);
    if (value == nullptr) continue;
    if (value->is_string()) return value->get<std::string>();
    complain(name, "a string");
  }
  return {};
}

std::vector<std::int32_t> Fields::integers(std::string_view name) {
  std::vector<std::int32_t> out;
  const json* value = find(name);
  if (value == nullptr) return out;
  if (!value->is_array() || value->size() > kMaxArray) {
    complain(name, "an array of at most 4096 whole numbers");
    return out;
  }
  for (const json& entry : *value) {
    const auto number = whole(entry);
    if (!number) {
      complain(name, "an array of whole numbers");
      return {};
    }
    out.push_back(*number);
  }
  return out;
}

std::vector<std::int32_t> Fields::integers_if_array(std::string_view name) {
  const json* value = find(name);
  return value != nullptr && value->is_array() ? integers(name) : std::vector<std::int32_t>{};
}

std::vector<std::string> Fields::texts(std::string_view name) {
  std::vector<std::string> out;
  const json* value = find(name);
  if (value == nullptr) return out;
  if (!value->is_array() || value->size() > kMaxArray) {
    complain(name, "an array of at most 4096 strings");
    return out;
  }
  for (const json& entry : *value) {
    if (!entry.is_string()) {
      complain(name, "an array of strings");
      return {};
    }
    out.push_back(entry.get<std::string>());
  }
  return out;
}

std::size_t Fields::size_of(std::string_view name, std::size_t fallback) const {
  const json* value = find(name);
  return value != nullptr && value->is_object() ? value->size() : fallback;
}

std::size_t Fields::length_if_text(std::string_view name) const {
  const json* value = find(name);
  return value != nullptr && value->is_string() ? value->get_ref<const std::string&>().size() : 0;
}

std::optional<Fields> Fields::object(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  return Fields(*value, where_ + ": " + std::string(name));
}

Result<json> parse_json(std::string_view text, std::string_view where, std::size_t max_bytes) {
  if (text.size() > max_bytes)
    return fail(ErrorCode::input,
                "larger than the limit of " + std::to_string(max_bytes >> 20) + " MiB",
                std::string(where));
  try {
    Guard guard;
    if (!json::sax_parse(text, &guard))
      return fail(ErrorCode::input, "not readable as JSON: " + guard.problem, std::string(where));
    return json::parse(text);
  } catch (const std::exception& error) {
    return fail(ErrorCode::input, std::string("not readable as JSON: ") + error.what(),
                std::string(where));
  }
}

}  // namespace gpuadvisor::model
