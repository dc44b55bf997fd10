// The catalog reader on hostile documents: no crash, and whole or not at all.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpuadvisor/catalog.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using gpuadvisor::catalog::Catalog;
  const std::vector<Catalog::Document> documents{{"fuzz.json", std::string(data, data + size)}};
  const auto catalog = Catalog::from_documents(documents);
  if (!catalog) {
    // One clear error that names the file.
    if (catalog.error().message.empty() || catalog.error().where.rfind("fuzz.json", 0) != 0)
      std::abort();
    return 0;
  }
  for (const auto& gpu : catalog->gpus())
    if (!(gpu.memory_usable_bytes > 0) || gpu.id.empty() || gpu.sources.empty()) std::abort();
  for (const auto& instance : catalog->instances())
    if (instance.gpus < 1 || instance.name.empty()) std::abort();
  return 0;
}
