#include "report/json.hpp"

#include <cmath>

namespace gpuadvisor::report {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json whole(double value) {
  constexpr double kInt64End = 9223372036854775808.0;  // 2^63
  if (!std::isfinite(value) || std::fabs(value) >= kInt64End) return nullptr;
  return static_cast<std::int64_t>(std::llround(value));
}

Json text_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(std::string(text));
}

Json array_of(std::span<const std::string> texts) {
  Json array = Json::array();
  for (const std::string& text : texts) array.push_back(text);
  return array;
}

Json document(std::string_view catalog_date) {
  Json json = Json::object();
  json["schema_version"] = kSchemaVersion;
  json["tool_version"] = tool_version();
  json["catalog_date"] = catalog_date;
  return json;
}

Json to_json(std::span<const advisor::Warning> warnings) {
  Json array = Json::array();
  for (const advisor::Warning& warning : warnings) {
    Json json = Json::object();
    json["code"] = advisor::to_string(warning.code);
    json["message"] = warning.message;
    array.push_back(std::move(json));
  }
  return array;
}

std::string dump(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpuadvisor::report
