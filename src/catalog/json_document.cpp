#include "catalog/json_document.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpuadvisor::catalog {
namespace {

using json = nlohmann::ordered_json;

/// Watches the events of the parser, which by itself keeps the last of duplicate keys
/// and knows no depth limit. Faults of syntax are left to the parse that follows.
class Watcher {
 public:
  struct Fault {
    std::string message;
    std::string path;
  };

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t) { return true; }
  bool number_unsigned(std::uint64_t) { return true; }
  bool number_float(double, const std::string&) { return true; }
  bool string(const std::string&) { return true; }
  bool binary(const std::vector<std::uint8_t>&) { return true; }
  bool start_object(std::size_t) { return enter(); }
  bool start_array(std::size_t) { return enter(); }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) { return false; }

  bool key(const std::string& name) {
    Level& level = levels_.back();
    level.current = name;
    if (level.keys.insert(name).second) return true;
    fault_ = Fault{"duplicate key '" + name + "', expected each key once", path()};
    return false;
  }

  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }

 private:
  struct Level {
    std::set<std::string> keys;
    std::string current;
  };

  bool enter() {
    if (levels_.size() < kMaxDepth) {
      levels_.emplace_back();
      return true;
    }
    fault_ = Fault{"nested too deep, expected at most 16 levels", path()};
    return false;
  }

  bool leave() {
    levels_.pop_back();
    return true;
  }

  /// Array positions are left out: they are not known here.
  [[nodiscard]] std::string path() const {
    std::string text;
    for (const Level& level : levels_)
      if (!level.current.empty()) text += "/" + level.current;
    return text.empty() ? "/" : text;
  }

  std::vector<Level> levels_;
  std::optional<Fault> fault_;
};

/// The parser's message without its number in brackets.
std::string plain_message(const json::exception& error) {
  std::string message = error.what();
  if (const auto end = message.find("] "); end != std::string::npos) message.erase(0, end + 2);
  return message;
}

}  // namespace

Result<json> parse_document(std::string_view text, std::string_view file) {
  const std::string where(file);
  if (text.size() > kMaxDocumentBytes)
    return fail(ErrorCode::input, "longer than 8 MiB, expected a catalog file", where);
  Watcher watcher;
  (void)json::sax_parse(text, &watcher);
  if (watcher.fault())
    return fail(ErrorCode::input, watcher.fault()->message, where + ": " + watcher.fault()->path);
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    return fail(ErrorCode::input, "not valid JSON: " + plain_message(error), where);
  }
}

}  // namespace gpuadvisor::catalog
