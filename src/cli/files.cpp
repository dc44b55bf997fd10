#include "cli/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace gpuadvisor::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestCatalogFile = 64U << 20U;
constexpr std::size_t kMostCatalogFiles = 10000;

tl::unexpected<Error> unreadable(const std::string& path, int error_number) {
  return fail(ErrorCode::input,
              fmt::format("cannot be read: {}", std::generic_category().message(error_number)),
              path);
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  std::error_code error;
  if (fs::is_directory(path, error)) return unreadable(path, EISDIR);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) return unreadable(path, errno);
  std::string text;
  std::string chunk(1U << 16U, '\0');
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    text.append(chunk, 0, got);
    if (text.size() > limit)
      return fail(ErrorCode::input, fmt::format("is larger than {} MiB", limit >> 20U), path);
  }
  if (std::ferror(file.get()) != 0) return unreadable(path, errno);
  return text;
}

namespace {

/// The project's own data folder holds more than a catalog; these entries are not part
/// of one.
bool holds_catalog(std::string_view name) {
  constexpr std::string_view kOthers[] = {"models", "measurements", "schema", "calibration.json",
                                          "frameworks.json"};
  return std::find(std::begin(kOthers), std::end(kOthers), name) == std::end(kOthers);
}

}  // namespace

Result<std::vector<catalog::Catalog::Document>> read_catalog_files(const std::string& path) {
  std::vector<std::string> files;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    fs::recursive_directory_iterator entry(path, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (entry.depth() == 0 && !holds_catalog(name)) {
        entry.disable_recursion_pending();
        continue;
      }
      if (entry->path().extension() == ".json") files.push_back(entry->path().string());
      if (files.size() > kMostCatalogFiles)
        return fail(ErrorCode::input, "holds too many files", path);
    }
    if (error) return unreadable(path, error.value());
    if (files.empty()) return fail(ErrorCode::input, "holds no .json file", path);
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  std::vector<catalog::Catalog::Document> documents;
  for (const std::string& file : files) {
    auto text = read_file(file, kLargestCatalogFile);
    if (!text) return tl::unexpected(text.error());
    documents.push_back({file, std::move(*text)});
  }
  return documents;
}

Result<catalog::Catalog> load_catalog(const Arguments& arguments, const Environment& environment) {
  std::vector<std::string> paths;
  if (!environment.catalog.empty()) paths.push_back(environment.catalog);
  for (std::string& path : arguments.list("catalog")) paths.push_back(std::move(path));
  const bool only = arguments.has("catalog-only");
  if (paths.empty()) {
    if (only)
      return fail(ErrorCode::usage, "needs --catalog or GPUADVISOR_CATALOG", "--catalog-only");
    return catalog::Catalog::embedded();
  }
  std::vector<catalog::Catalog::Document> documents;
  for (const std::string& path : paths) {
    auto read = read_catalog_files(path);
    if (!read) return tl::unexpected(read.error());
    std::move(read->begin(), read->end(), std::back_inserter(documents));
  }
  return only ? catalog::Catalog::from_documents(documents)
              : catalog::Catalog::with_overlay(documents);
}

}  // namespace gpuadvisor::cli
