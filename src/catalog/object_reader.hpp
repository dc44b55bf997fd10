// Strict reading of one JSON object. The first fault of a document is kept and
// names file, JSON path and what was expected; after it all getters give defaults,
// so that readers are plain lists of fields.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "catalog/names.hpp"
#include "catalog/quantity.hpp"
#include "catalog/records.hpp"

namespace gpuadvisor::catalog {

/// One document on its way into the records.
struct ReadContext {
  std::string file;
  Records& records;
  std::optional<Error> error;
  /// Something required that is not there. Reported after unknown keys: a misspelt key
  /// is both, and its own name says more.
  std::optional<Error> missing;

  void refuse(const std::string& path, std::string message);
  void miss(const std::string& path, std::string message);
};

class ObjectReader {
 public:
  ObjectReader(ReadContext& context, const nlohmann::ordered_json& value, std::string path);

  std::string_view text(std::string_view key);
  std::string_view optional_text(std::string_view key);
  /// YYYY, YYYY-MM or YYYY-MM-DD.
  std::string_view date(std::string_view key);
  std::string_view optional_date(std::string_view key);
  double number(std::string_view key, double min, double max);
  double optional_number(std::string_view key, double min, double max, double fallback);
  int integer(std::string_view key, int min, int max);
  int optional_integer(std::string_view key, int min, int max, int fallback);
  bool optional_flag(std::string_view key, bool fallback);
  double quantity(std::string_view key, Dimension dimension);
  double optional_quantity(std::string_view key, Dimension dimension, double fallback = 0);
  std::span<const std::string_view> optional_texts(std::string_view key);

  template <class Enum>
  Enum choice(std::string_view key, std::span<const std::string_view> names) {
    const std::string_view word = text(key);
    if (!ok()) return Enum{};
    if (const auto value = value_of<Enum>(word, names)) return *value;
    refuse_choice(key, word, names);
    return Enum{};
  }
  template <class Enum>
  Enum optional_choice(std::string_view key, std::span<const std::string_view> names,
                       Enum fallback) {
    return has(key) ? choice<Enum>(key, names) : fallback;
  }

  /// The member `key`, which must be an object; nothing if it is absent.
  std::optional<ObjectReader> optional_object(std::string_view key);
  ObjectReader object(std::string_view key);
  /// The members of the array `key`, each an object.
  std::vector<ObjectReader> objects(std::string_view key);
  std::vector<ObjectReader> optional_objects(std::string_view key);
  /// All members of this object; they count as known.
  std::vector<std::string> keys();

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] bool ok() const { return !context_->error && !context_->missing; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Records& records() const { return context_->records; }
  void refuse(std::string_view key, std::string message);
  /// Refuses keys that nobody asked for.
  void finish();

 private:
  const nlohmann::ordered_json* find(std::string_view key, bool required);
  std::string_view checked_text(const nlohmann::ordered_json& value, std::string_view key);
  void refuse_choice(std::string_view key, std::string_view word,
                     std::span<const std::string_view> names);

  ReadContext* context_;
  const nlohmann::ordered_json* value_;
  std::string path_;
  std::vector<std::string> asked_;
};

}  // namespace gpuadvisor::catalog
