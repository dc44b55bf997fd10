#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "catalog/json_document.hpp"
#include "catalog/reader.hpp"

namespace gpuadvisor::catalog {
namespace {

using json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> kFormats{"gpu", "instances", "prices", "wrong_names",
                                                   "rates"};

void read_format(ObjectReader& object, const std::string& file, Draft& draft) {
  constexpr std::string_view kPrefix = "gpuadvisor/";
  const std::string_view format = object.text("format");
  if (!object.ok()) return;
  const std::string_view name =
      format.starts_with(kPrefix) ? format.substr(kPrefix.size()) : std::string_view{};
  if (name == "gpu") return read_gpu(object, file + ": /", draft);
  if (name == "instances") return read_instances(object, file, draft);
  if (name == "prices") return read_prices(object, file, draft);
  if (name == "wrong_names") return read_wrong_names(object, file, draft);
  if (name == "rates") return read_rates(object, draft);
  object.refuse("format", fmt::format("'{}' is unknown, expected gpuadvisor/ and one of {}", format,
                                      fmt::join(kFormats, ", ")));
}

Result<void> read_document(const Catalog::Document& document, Draft& draft) {
  auto value = parse_document(document.text, document.file);
  if (!value) return tl::unexpected(value.error());
  ReadContext context{document.file, draft.records, std::nullopt, std::nullopt};
  ObjectReader object(context, *value, "");
  read_format(object, document.file, draft);
  if (!context.missing || object.has("format")) object.finish();
  if (context.error) return tl::unexpected(*context.error);
  if (context.missing) return tl::unexpected(*context.missing);
  return {};
}

/// Refuses the second of two records with one id.
template <class Record>
Result<void> check_unique(const std::vector<Record>& records, std::string_view Record::*id,
                          const std::vector<std::string>& places) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t index = 0; index < records.size(); ++index) {
    const auto [first, added] = seen.emplace(records[index].*id, index);
    if (added) continue;
    return fail(
        ErrorCode::input,
        fmt::format("duplicate record '{}', also in {}", records[index].*id, places[first->second]),
        places[index]);
  }
  return {};
}

/// Adds the records of `base` that `records` does not replace, and sorts.
template <class Record, class Id>
void join(std::vector<Record>& records, std::span<const Record> base, Id id) {
  const auto less = [id](const Record& a, const Record& b) { return id(a) < id(b); };
  std::stable_sort(records.begin(), records.end(), less);
  const std::size_t own = records.size();
  for (const Record& record : base)
    if (!std::binary_search(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(own),
                            record, less))
      records.push_back(record);
  std::stable_sort(records.begin(), records.end(), less);
}

template <class Record>
const Record* find(const std::vector<Record>& records, std::string_view Record::*id,
                   std::string_view name) {
  for (const Record& record : records)
    if (record.*id == name) return &record;
  return nullptr;
}

template <class Record>
Result<void> check_references(const std::vector<Reference>& references,
                              const std::vector<Record>& records, std::string_view Record::*id,
                              std::string_view what) {
  std::map<std::string_view, bool> names;
  for (const Record& record : records) names.emplace(record.*id, true);
  for (const Reference& reference : references)
    if (!names.contains(reference.name))
      return fail(ErrorCode::input,
                  fmt::format("there is no {} '{}', expected the {} of a record", what,
                              reference.name, what == "GPU" ? "id" : "name"),
                  reference.where);
  return {};
}

/// Whole GPUs have the usable memory of their part.
void fill_gpu_memory(Records& records) {
  for (Instance& instance : records.instances) {
    if (instance.gpu_memory_bytes > 0 || instance.gpu_fraction < 1.0) continue;
    if (const Gpu* gpu = find(records.gpus, &Gpu::id, instance.gpu))
      instance.gpu_memory_bytes = gpu->memory_usable_bytes;
  }
}

auto price_order(const Price& price) {
  return std::make_tuple(price.kind, price.currency, price.region, price.date, price.source);
}

/// Sightings stand beside each other, every other price is the one of its kind.
bool replaces(const Price& fresh, const Price& old) {
  return fresh.kind == old.kind && fresh.region == old.region && fresh.currency == old.currency &&
         (fresh.kind != PriceKind::observed ||
          (fresh.source == old.source && fresh.date == old.date));
}

void add_prices(Records& records, const std::vector<std::pair<std::string_view, Price>>& prices,
                std::span<const Instance> base) {
  std::map<std::string_view, std::vector<Price>> fresh;
  for (const auto& [name, price] : prices) fresh[name].push_back(price);
  std::map<std::string_view, std::span<const Price>> old;
  for (const Instance& instance : base) old.emplace(instance.name, instance.prices);
  for (Instance& instance : records.instances) {
    const auto before = old.find(instance.name);
    const auto added = fresh.find(instance.name);
    if (before != old.end()) instance.prices = before->second;
    if (added == fresh.end()) continue;
    std::vector<Price> list = added->second;
    for (const Price& price : instance.prices)
      if (std::none_of(added->second.begin(), added->second.end(),
                       [&price](const Price& other) { return replaces(other, price); }))
        list.push_back(price);
    std::sort(list.begin(), list.end(),
              [](const Price& a, const Price& b) { return price_order(a) < price_order(b); });
    instance.prices = records.keep(std::move(list));
  }
}

/// The newest full date of the data.
std::string_view newest_date(const Records& records) {
  std::string_view newest;
  const auto see = [&newest](std::string_view date) {
    if (date.size() == 10 && date > newest) newest = date;
  };
  for (const Gpu& gpu : records.gpus) see(gpu.checked);
  for (const Instance& instance : records.instances) {
    see(instance.checked);
    for (const Price& price : instance.prices) see(price.date);
  }
  return newest;
}

}  // namespace

Result<void> read_catalog(std::span<const Catalog::Document> documents, const Tables& base,
                          Records& records) {
  Draft draft{records, {}, {}, {}, {}, {}};
  for (const Catalog::Document& document : documents)
    if (auto read = read_document(document, draft); !read) return read;
  if (auto unique = check_unique(records.gpus, &Gpu::id, draft.gpu_places); !unique) return unique;
  if (auto unique = check_unique(records.instances, &Instance::name, draft.instance_places);
      !unique)
    return unique;
  join(records.gpus, base.gpus, [](const Gpu& gpu) { return gpu.id; });
  join(records.instances, base.instances, [](const Instance& instance) { return instance.name; });
  std::stable_sort(records.instances.begin(), records.instances.end(),
                   [](const Instance& a, const Instance& b) { return a.provider < b.provider; });
  join(records.wrong_names, base.wrong_names, [](const WrongName& wrong) { return wrong.claim; });
  join(records.rates, base.rates, [](const ExchangeRate& rate) { return rate.currency; });
  if (auto known = check_references(draft.gpu_references, records.gpus, &Gpu::id, "GPU"); !known)
    return known;
  if (auto known = check_references(draft.instance_references, records.instances, &Instance::name,
                                    "instance");
      !known)
    return known;
  add_prices(records, draft.prices, base.instances);
  fill_gpu_memory(records);
  records.date = newest_date(records);
  return {};
}

}  // namespace gpuadvisor::catalog
