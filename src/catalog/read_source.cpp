#include <algorithm>

#include <fmt/format.h>

#include "catalog/reader.hpp"

namespace gpuadvisor::catalog {
namespace {

std::string_view joined(Records& records, std::span<const std::string_view> names) {
  return names.empty() ? std::string_view{}
                       : records.intern(fmt::format("{}", fmt::join(names, ", ")));
}

Source read_fields(ObjectReader& object) {
  Source source;
  source.text = object.text("text");
  source.date = object.optional_date("date");
  source.inferred = object.optional_flag("inferred", false);
  source.fields = joined(object.records(), object.optional_texts("fields"));
  source.licence = object.optional_text("licence");
  return source;
}

}  // namespace

Source read_source(ObjectReader& object) {
  const Source source = read_fields(object);
  object.finish();
  return source;
}

SourceTable::SourceTable(ObjectReader& object) {
  for (ObjectReader& member : object.objects("sources")) {
    std::string key(member.text("key"));
    const auto same = [&key](const auto& entry) { return entry.first == key; };
    if (std::any_of(sources_.begin(), sources_.end(), same))
      member.refuse("key", fmt::format("source '{}' is already defined", key));
    sources_.emplace_back(std::move(key), read_source(member));
  }
}

Source SourceTable::find(std::string_view key, ObjectReader& user,
                         std::string_view path_key) const {
  for (const auto& entry : sources_)
    if (entry.first == key) return entry.second;
  if (user.ok())
    user.refuse(path_key, fmt::format("source '{}' is not defined in 'sources' of this file", key));
  return {};
}

}  // namespace gpuadvisor::catalog
