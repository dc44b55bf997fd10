// Files that live in memory, for the readers of model files.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpuadvisor/model.hpp"

namespace gpuadvisor::test {

class MemoryFile : public model::ByteSource {
 public:
  explicit MemoryFile(std::string bytes) : bytes_(std::move(bytes)), claimed_(bytes_.size()) {}
  /// A file that says it is larger than what can be read of it.
  MemoryFile(std::string bytes, std::uint64_t claimed)
      : bytes_(std::move(bytes)), claimed_(claimed) {}
  [[nodiscard]] std::uint64_t size() const override { return claimed_; }
  std::size_t read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset >= bytes_.size()) return 0;
    const auto count =
        std::min<std::size_t>(into.size(), bytes_.size() - static_cast<std::size_t>(offset));
    std::memcpy(into.data(), bytes_.data() + offset, count);
    return count;
  }

 private:
  std::string bytes_;
  std::uint64_t claimed_;
};

class MemoryFolder : public model::FileSource {
 public:
  std::map<std::string, std::string> files;
  std::map<std::string, std::uint64_t> claimed;  ///< sizes beyond the stored bytes
  [[nodiscard]] std::vector<std::string> list() const override {
    std::vector<std::string> names;
    for (const auto& file : files) names.push_back(file.first);
    return names;
  }
  [[nodiscard]] std::unique_ptr<model::ByteSource> open(const std::string& name) const override {
    const auto found = files.find(name);
    if (found == files.end()) return nullptr;
    const auto size = claimed.find(name);
    if (size != claimed.end()) return std::make_unique<MemoryFile>(found->second, size->second);
    return std::make_unique<MemoryFile>(found->second);
  }
};

/// `value` as little-endian bytes.
template <class T>
std::string little(T value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

/// A safetensors header and the size of the whole file; no data follows.
struct SafetensorsBuilder {
  std::string json = "{";
  std::uint64_t offset = 0;
  SafetensorsBuilder& add(const std::string& name, const std::string& dtype,
                          const std::vector<std::uint64_t>& shape, std::uint64_t bits) {
    std::uint64_t bytes = bits;
    std::string list;
    for (const auto size : shape) {
      bytes *= size;
      list += (list.empty() ? "" : ",") + std::to_string(size);
    }
    bytes /= 8;
    json += (json.size() > 1 ? "," : "") + std::string("\"") + name + "\":{\"dtype\":\"" + dtype +
            "\",\"shape\":[" + list + "],\"data_offsets\":[" + std::to_string(offset) + "," +
            std::to_string(offset + bytes) + "]}";
    offset += bytes;
    return *this;
  }
  [[nodiscard]] std::string header() const {
    const std::string text = json + "}";
    return little<std::uint64_t>(text.size()) + text;
  }
  [[nodiscard]] std::uint64_t size() const { return header().size() + offset; }
};

}  // namespace gpuadvisor::test
