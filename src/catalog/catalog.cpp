#include "gpuadvisor/catalog.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "catalog/embedded.hpp"
#include "catalog/reader.hpp"

namespace gpuadvisor::catalog {

struct Catalog::Storage {
  Records records;
};

namespace {

/// Letters and digits in lower case; "GB" behind a number is as good as "G".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char character : name) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte)) plain += static_cast<char>(std::tolower(byte));
  }
  if (plain.starts_with("nvidia")) plain.erase(0, 6);
  if (plain.size() > 2 && plain.ends_with("gb")) plain.pop_back();
  return plain;
}

bool is_called(const Gpu& gpu, const std::string& plain) {
  if (plain_name(gpu.id) == plain) return true;
  return std::any_of(gpu.aliases.begin(), gpu.aliases.end(),
                     [&plain](std::string_view alias) { return plain_name(alias) == plain; });
}

std::string join_names(const std::vector<std::string>& names, const char* separator = ", ") {
  return fmt::format("{}", fmt::join(names, separator));
}

std::string did_you_mean(const std::vector<std::string>& names, std::string_view list_command) {
  if (names.empty()) return fmt::format("list them with '{}'", list_command);
  return fmt::format("did you mean {}?", join_names(names, " or "));
}

bool same_name(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

std::string_view without_prefix(std::string_view name) {
  return name.starts_with("ecs.") ? name.substr(4) : name;
}

/// "gn7v" of "ecs.gn7v-c8g1.2xlarge".
std::string_view family_part(std::string_view name) {
  return without_prefix(name).substr(0, without_prefix(name).find_first_of("-."));
}

/// By the whole name, else by its family; the prefix "ecs." may be left out.
const WrongName* find_wrong_name(std::span<const WrongName> wrong_names, std::string_view name) {
  for (const auto part : {without_prefix(name), family_part(name)})
    for (const WrongName& wrong : wrong_names)
      for (const std::string_view spelling : wrong.names)
        if (same_name(without_prefix(spelling), part)) return &wrong;
  return nullptr;
}

}  // namespace

const Catalog& Catalog::embedded() {
  static const Catalog catalog = [] {
    Catalog made;
    made.tables_ = embedded_tables();
    return made;
  }();
  return catalog;
}

Result<Catalog> Catalog::with_overlay(std::span<const Document> documents) {
  auto storage = std::make_shared<Storage>();
  if (auto read = read_catalog(documents, embedded_tables(), storage->records); !read)
    return tl::unexpected(read.error());
  Catalog catalog;
  catalog.tables_ = storage->records.tables();
  catalog.storage_ = std::move(storage);
  return catalog;
}

Result<Catalog> Catalog::from_documents(std::span<const Document> documents) {
  auto storage = std::make_shared<Storage>();
  if (auto read = read_catalog(documents, Tables{}, storage->records); !read)
    return tl::unexpected(read.error());
  Catalog catalog;
  catalog.tables_ = storage->records.tables();
  catalog.storage_ = std::move(storage);
  return catalog;
}

const Gpu* Catalog::find_gpu(std::string_view id) const {
  const auto found =
      std::lower_bound(gpus().begin(), gpus().end(), id,
                       [](const Gpu& gpu, std::string_view key) { return gpu.id < key; });
  return found != gpus().end() && found->id == id ? &*found : nullptr;
}

const Instance* Catalog::find_instance(std::string_view name) const {
  for (const Instance& instance : instances())
    if (instance.name == name) return &instance;
  return nullptr;
}

Result<const Gpu*> Catalog::resolve_gpu(std::string_view name, std::string_view where) const {
  if (const Gpu* exact = find_gpu(name)) return exact;
  const std::string plain = plain_name(name);
  std::vector<const Gpu*> matches;
  for (const Gpu& gpu : gpus())
    if (is_called(gpu, plain)) matches.push_back(&gpu);
  if (matches.size() == 1) return matches.front();
  std::vector<std::string> names;
  names.reserve(matches.size());
  for (const Gpu* gpu : matches) names.emplace_back(gpu->id);
  if (!names.empty())
    return fail(ErrorCode::usage, fmt::format("GPU '{}' fits several parts", name),
                std::string(where), "say which: " + join_names(names));
  std::vector<std::string_view> ids;
  for (const Gpu& gpu : gpus()) ids.push_back(gpu.id);
  return fail(ErrorCode::usage, fmt::format("unknown GPU '{}'", name), std::string(where),
              did_you_mean(suggest_names(name, ids), "gpuadvisor catalog list"));
}

Result<const Instance*> Catalog::resolve_instance(std::string_view name,
                                                  std::string_view where) const {
  if (const Instance* exact = find_instance(name)) return exact;
  for (const Instance& instance : instances())
    if (same_name(without_prefix(instance.name), without_prefix(name))) return &instance;
  if (const WrongName* wrong = find_wrong_name(wrong_names(), name)) {
    const std::vector<std::string> nearest(wrong->nearest_types.begin(),
                                           wrong->nearest_types.end());
    return fail(ErrorCode::usage, fmt::format("'{}': {}; {}", name, wrong->verdict, wrong->fact),
                std::string(where), did_you_mean(nearest, "gpuadvisor catalog list"));
  }
  std::vector<std::string_view> names;
  for (const Instance& instance : instances()) names.push_back(instance.name);
  return fail(ErrorCode::usage, fmt::format("unknown instance type '{}'", name), std::string(where),
              did_you_mean(suggest_names(name, names), "gpuadvisor catalog list"));
}

}  // namespace gpuadvisor::catalog
