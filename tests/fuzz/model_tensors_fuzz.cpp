// safetensors and GGUF readers on hostile bytes: an error or sane sums. The first byte
// chooses the reader; two more stretch the size that the file claims.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "gpuadvisor/model.hpp"

namespace {

class FuzzFile : public gpuadvisor::model::ByteSource {
 public:
  FuzzFile(const std::uint8_t* data, std::size_t stored, std::uint64_t claimed)
      : data_(data), stored_(stored), claimed_(claimed) {}
  [[nodiscard]] std::uint64_t size() const override { return claimed_; }
  std::size_t read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset >= stored_) return 0;
    const auto count = std::min(into.size(), stored_ - static_cast<std::size_t>(offset));
    std::memcpy(into.data(), data_ + offset, count);
    return count;
  }

 private:
  const std::uint8_t* data_;
  std::size_t stored_;
  std::uint64_t claimed_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuadvisor;
  if (size < 3) return 0;
  const std::uint64_t more = (std::uint64_t{data[1]} << 8 | data[2]) << (data[0] >> 2);
  FuzzFile file(data + 3, size - 3, size - 3 + more);
  const auto read =
      (data[0] & 1) != 0 ? model::read_gguf(file, "fuzz") : model::read_safetensors(file, "fuzz");
  if (read && !(read->tensors && std::isfinite(read->parameters_total) && read->weights_bytes >= 0))
    std::abort();
  if (!read && read.error().message.empty()) std::abort();
  return 0;
}
