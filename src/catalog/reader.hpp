// From the text of catalog files to records: whole or not at all.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/object_reader.hpp"
#include "catalog/records.hpp"
#include "gpuadvisor/catalog.hpp"

namespace gpuadvisor::catalog {

/// A name that another record must define, and where it stands.
struct Reference {
  std::string_view name;
  std::string where;
};

/// What the documents say, before it is joined with the base and checked.
struct Draft {
  Records& records;
  std::vector<std::string> gpu_places;       ///< file and path of records.gpus[i]
  std::vector<std::string> instance_places;  ///< of records.instances[i]
  std::vector<Reference> gpu_references;
  std::vector<Reference> instance_references;
  std::vector<std::pair<std::string_view, Price>> prices;  ///< by instance name
};

/// Reads `documents`, joins them with the records of `base` (a record of the same id
/// is replaced, prices of the same kind, region and currency too), checks all
/// references and leaves the sorted result in `records`. On an error `records` is
/// of no use.
Result<void> read_catalog(std::span<const Catalog::Document> documents, const Tables& base,
                          Records& records);

// One reader a document format.
void read_gpu(ObjectReader& object, const std::string& place, Draft& draft);
void read_instances(ObjectReader& object, const std::string& file, Draft& draft);
void read_prices(ObjectReader& object, const std::string& file, Draft& draft);
void read_wrong_names(ObjectReader& object, const std::string& file, Draft& draft);
void read_rates(ObjectReader& object, Draft& draft);

// Pieces that several formats share.
Source read_source(ObjectReader& object);

/// The sources of a file by the key that its records use.
class SourceTable {
 public:
  explicit SourceTable(ObjectReader& object);
  /// The source `key`; refuses an unknown key at `path_key` of `user`.
  Source find(std::string_view key, ObjectReader& user, std::string_view path_key) const;

 private:
  std::vector<std::pair<std::string, Source>> sources_;
};

/// Fills what the planning block of a GPU leaves out, by rule of thumb:
/// sustained 16-bit matmul 0.8 of the dense peak (0.5 for cards of 165 W and less),
/// fp8 0.7 of its peak, FlashAttention-2 0.75 of the sustained rate (0.45 on compute
/// capability 9), collectives 0.8 of one-way NVLink or 8 GB/s over PCIe, host copies
/// 12, 24 or 51 GB/s for PCIe 3, 4 and 5.
void derive_planning(Gpu& gpu);

}  // namespace gpuadvisor::catalog
