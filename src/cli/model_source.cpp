#include "cli/model_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace gpuadvisor::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100'000;

using FileHandle = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

class DiskFile : public model::ByteSource {
 public:
  DiskFile(FileHandle file, std::uint64_t size) : file_(std::move(file)), size_(size) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  std::size_t read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset > size_ || std::fseek(file_.get(), static_cast<long>(offset), SEEK_SET) != 0)
      return 0;
    return std::fread(into.data(), 1, into.size(), file_.get());
  }

 private:
  FileHandle file_;
  std::uint64_t size_;
};

class DiskFolder : public model::FileSource {
 public:
  explicit DiskFolder(fs::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::vector<std::string> list() const override {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(folder_, error);
    for (; !error && entry != fs::directory_iterator() && names.size() < kMostFiles;
         entry.increment(error))
      if (std::error_code ignored; entry->is_regular_file(ignored))
        names.push_back(entry->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  [[nodiscard]] std::unique_ptr<model::ByteSource> open(const std::string& name) const override {
    // A name from an index file must not lead out of the folder.
    if (name.find('/') != std::string::npos || name == "..") return nullptr;
    const fs::path path = folder_ / name;
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error || !fs::is_regular_file(path, error)) return nullptr;
    FileHandle file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return nullptr;
    return std::make_unique<DiskFile>(std::move(file), size);
  }

 private:
  fs::path folder_;
};

}  // namespace

Result<model::ModelFile> read_model_path(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return fail(ErrorCode::input,
                fmt::format("cannot be read: {}",
                            std::generic_category().message(error ? error.value() : ENOENT)),
                path);
  if (fs::is_directory(status)) return model::read_model(DiskFolder(path), "", path);
  const fs::path file(path);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  return model::read_model(DiskFolder(folder), file.filename().string(), folder.string());
}

}  // namespace gpuadvisor::cli
