#include "catalog/object_reader.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gpuadvisor::catalog {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMaxTextBytes = 2000;
constexpr std::size_t kMaxMembers = 20000;

std::string join(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_date(std::string_view text) {
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return false;
  for (std::size_t index = 0; index < text.size(); ++index) {
    const bool dash = index == 4 || index == 7;
    if (dash ? text[index] != '-' : text[index] < '0' || text[index] > '9') return false;
  }
  const auto pair = [text](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  if (text.size() >= 7 && (pair(5) < 1 || pair(5) > 12)) return false;
  return text.size() < 10 || (pair(8) >= 1 && pair(8) <= 31);
}

}  // namespace

void ReadContext::refuse(const std::string& path, std::string message) {
  if (error) return;
  error =
      Error{ErrorCode::input, std::move(message), file + ": " + (path.empty() ? "/" : path), {}};
}

void ReadContext::miss(const std::string& path, std::string message) {
  if (missing) return;
  missing =
      Error{ErrorCode::input, std::move(message), file + ": " + (path.empty() ? "/" : path), {}};
}

ObjectReader::ObjectReader(ReadContext& context, const json& value, std::string path)
    : context_(&context), value_(&value), path_(std::move(path)) {
  if (!value.is_object())
    context.refuse(path_, fmt::format("expected an object, found {}", value.type_name()));
}

void ObjectReader::refuse(std::string_view key, std::string message) {
  context_->refuse(key.empty() ? path_ : fmt::format("{}/{}", path_, key), std::move(message));
}

bool ObjectReader::has(std::string_view key) const {
  return value_->is_object() && value_->contains(key);
}

const json* ObjectReader::find(std::string_view key, bool required) {
  asked_.emplace_back(key);
  if (!ok()) return nullptr;
  const auto found = value_->find(key);
  if (found != value_->end()) return &*found;
  if (required) context_->miss(path_, fmt::format("'{}' is missing", key));
  return nullptr;
}

std::string_view ObjectReader::checked_text(const json& value, std::string_view key) {
  if (!value.is_string()) {
    refuse(key, fmt::format("expected a text, found {}", value.type_name()));
    return {};
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty() || text.size() > kMaxTextBytes) {
    refuse(key, fmt::format("expected a text of 1 to {} bytes", kMaxTextBytes));
    return {};
  }
  return records().intern(text);
}

std::string_view ObjectReader::text(std::string_view key) {
  const json* value = find(key, true);
  return value ? checked_text(*value, key) : std::string_view{};
}

std::string_view ObjectReader::optional_text(std::string_view key) {
  const json* value = find(key, false);
  return value ? checked_text(*value, key) : std::string_view{};
}

std::string_view ObjectReader::date(std::string_view key) {
  const std::string_view value = text(key);
  if (ok() && !is_date(value)) refuse(key, "expected a date: YYYY-MM-DD, YYYY-MM or YYYY");
  return value;
}

std::string_view ObjectReader::optional_date(std::string_view key) {
  if (has(key)) return date(key);
  asked_.emplace_back(key);
  return {};
}

double ObjectReader::number(std::string_view key, double min, double max) {
  const json* value = find(key, true);
  if (!value) return min;
  if (!value->is_number()) {
    refuse(key, fmt::format("expected a number, found {}", value->type_name()));
    return min;
  }
  const double result = value->get<double>();
  if (std::isfinite(result) && result >= min && result <= max) return result;
  refuse(key, fmt::format("expected a number from {} to {}", min, max));
  return min;
}

double ObjectReader::optional_number(std::string_view key, double min, double max,
                                     double fallback) {
  if (has(key)) return number(key, min, max);
  asked_.emplace_back(key);
  return fallback;
}

int ObjectReader::integer(std::string_view key, int min, int max) {
  const json* value = find(key, true);
  if (!value) return min;
  if (value->is_number_integer()) {
    const auto wide = value->get<double>();  // exact up to 2^53, far above every limit here
    if (wide >= min && wide <= max) return static_cast<int>(wide);
  }
  refuse(key, fmt::format("expected a whole number from {} to {}", min, max));
  return min;
}

int ObjectReader::optional_integer(std::string_view key, int min, int max, int fallback) {
  if (has(key)) return integer(key, min, max);
  asked_.emplace_back(key);
  return fallback;
}

bool ObjectReader::optional_flag(std::string_view key, bool fallback) {
  const json* value = find(key, false);
  if (!value) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  refuse(key, fmt::format("expected true or false, found {}", value->type_name()));
  return fallback;
}

double ObjectReader::quantity(std::string_view key, Dimension dimension) {
  const json* value = find(key, true);
  if (!value) return 0;
  if (value->is_string()) {
    const auto parsed = parse_quantity(value->get_ref<const std::string&>(), dimension);
    if (parsed) return *parsed;
  }
  const std::string_view why = value->is_number() ? "the unit is missing: " : "";
  refuse(key, fmt::format("{}expected {}", why, expected_quantity(dimension)));
  return 0;
}

double ObjectReader::optional_quantity(std::string_view key, Dimension dimension, double fallback) {
  if (has(key)) return quantity(key, dimension);
  asked_.emplace_back(key);
  return fallback;
}

std::span<const std::string_view> ObjectReader::optional_texts(std::string_view key) {
  const json* value = find(key, false);
  if (!value) return {};
  if (!value->is_array() || value->size() > kMaxMembers) {
    refuse(key, fmt::format("expected an array of texts, found {}", value->type_name()));
    return {};
  }
  std::vector<std::string_view> list;
  for (const json& member : *value)
    list.push_back(checked_text(member, fmt::format("{}/{}", key, list.size())));
  return records().keep(std::move(list));
}

void ObjectReader::refuse_choice(std::string_view key, std::string_view word,
                                 std::span<const std::string_view> names) {
  refuse(key, fmt::format("'{}' is unknown, expected one of {}", word, join(names)));
}

std::optional<ObjectReader> ObjectReader::optional_object(std::string_view key) {
  const json* value = find(key, false);
  if (!value) return std::nullopt;
  return ObjectReader(*context_, *value, fmt::format("{}/{}", path_, key));
}

ObjectReader ObjectReader::object(std::string_view key) {
  static const json kEmpty = json::object();
  const json* value = find(key, true);
  return {*context_, value ? *value : kEmpty, fmt::format("{}/{}", path_, key)};
}

std::vector<ObjectReader> ObjectReader::objects(std::string_view key) {
  const json* value = find(key, true);
  if (!value) return {};
  if (!value->is_array() || value->size() > kMaxMembers) {
    refuse(key, fmt::format("expected an array of at most {} objects, found {}", kMaxMembers,
                            value->type_name()));
    return {};
  }
  std::vector<ObjectReader> list;
  for (const json& member : *value)
    list.emplace_back(*context_, member, fmt::format("{}/{}/{}", path_, key, list.size()));
  return list;
}

std::vector<ObjectReader> ObjectReader::optional_objects(std::string_view key) {
  if (has(key)) return objects(key);
  asked_.emplace_back(key);
  return {};
}

std::vector<std::string> ObjectReader::keys() {
  std::vector<std::string> list;
  if (!value_->is_object()) return list;
  for (const auto& item : value_->items()) list.push_back(item.key());
  asked_.insert(asked_.end(), list.begin(), list.end());
  return list;
}

void ObjectReader::finish() {
  if (context_->error || !value_->is_object()) return;
  for (const auto& item : value_->items()) {
    if (std::find(asked_.begin(), asked_.end(), item.key()) != asked_.end()) continue;
    refuse(item.key(), fmt::format("unknown key, expected one of {}", fmt::join(asked_, ", ")));
    return;
  }
}

}  // namespace gpuadvisor::catalog
