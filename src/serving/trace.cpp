#include <algorithm>
#include <cmath>

#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 sees a bound that the library never crosses.
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
#include <nlohmann/json.hpp>

#include "gpuadvisor/serving.hpp"

namespace gpuadvisor::serving {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostLines = 1000000;
constexpr double kMostTokens = 1e8;
constexpr double kMostSeconds = 1e9;

Error line_error(std::string message, std::string_view where, std::size_t line) {
  return {ErrorCode::input, std::move(message), std::string(where) + ":" + std::to_string(line),
          "expected {\"arrival_s\": 0.5, \"input_len\": 1000, \"output_len\": 200} on each line"};
}

/// Empty, or why the value of `key` is wrong.
std::string read_value(const Json& object, const char* key, double least, double most,
                       double& into) {
  const auto found = object.find(key);
  if (found == object.end()) return std::string(key) + " is missing";
  if (!found->is_number()) return std::string(key) + " is no number";
  into = found->get<double>();
  if (!(into >= least && into <= most)) return std::string(key) + " is out of range";
  return {};
}

std::string read_arrival(const Json& object, Arrival& arrival) {
  if (!object.is_object()) return "is no JSON object";
  for (auto it = object.begin(); it != object.end(); ++it)
    if (const std::string& key = it.key();
        key != "arrival_s" && key != "input_len" && key != "output_len")
      return "unknown key " + key;
  std::string wrong = read_value(object, "input_len", 1, kMostTokens, arrival.input_len);
  if (wrong.empty()) wrong = read_value(object, "output_len", 1, kMostTokens, arrival.output_len);
  if (wrong.empty() && object.contains("arrival_s"))
    wrong = read_value(object, "arrival_s", 0, kMostSeconds, arrival.time_s);
  return wrong;
}

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

Result<std::vector<Arrival>> parse_trace(std::string_view text, std::string_view where) {
  std::vector<Arrival> arrivals;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (blank(line)) continue;
    if (arrivals.size() == kMostLines)
      return tl::unexpected(line_error("has more than a million requests", where, number));
    const Json object = Json::parse(line.begin(), line.end(), nullptr, false);
    if (object.is_discarded()) return tl::unexpected(line_error("is no valid JSON", where, number));
    Arrival arrival;
    if (std::string wrong = read_arrival(object, arrival); !wrong.empty())
      return tl::unexpected(line_error(std::move(wrong), where, number));
    arrivals.push_back(arrival);
  }
  if (arrivals.empty()) return fail(ErrorCode::input, "holds no request", std::string(where));
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.time_s < b.time_s; });
  return arrivals;
}

void apply_trace(Request& request, std::span<const Arrival> arrivals) {
  if (arrivals.empty()) return;
  double input = 0, output = 0;
  for (const Arrival& a : arrivals) {
    input += a.input_len;
    output += a.output_len;
  }
  const auto count = static_cast<double>(arrivals.size());
  const double span = arrivals.back().time_s - arrivals.front().time_s;
  request.input_len = std::round(input / count);
  request.output_len = std::max(1.0, std::round(output / count));
  request.requests = count;
  request.load = span > 0 ? Load::open : Load::burst;
  request.rate_rps = span > 0 ? (count - 1) / span : 0;
}

}  // namespace gpuadvisor::serving
