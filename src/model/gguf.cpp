// GGUF versions 2 and 3 (ggml docs/gguf.md), little-endian.
#include "model/gguf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace gpuadvisor::model {
namespace {

constexpr std::uint64_t kMaxTensors = 1'000'000, kMaxKeys = 65'536;
constexpr std::uint64_t kMaxKeyBytes = 65'535, kMaxNameBytes = 1024, kMaxKept = 4096;
constexpr std::uint64_t kMaxItems = std::uint64_t{1} << 30;  // the reference reader's limit
constexpr std::uint64_t kMaxAlignment = 1u << 20;
constexpr int kMaxNesting = 4;

struct TensorType {
  std::uint32_t id;
  std::string_view name;
  std::uint64_t block, bytes;
};
/// Values in a block and its bytes (ggml.h, ggml-common.h).
// clang-format off
constexpr TensorType kTypes[] = {
    {0, "F32", 1, 4}, {1, "F16", 1, 2}, {2, "Q4_0", 32, 18}, {3, "Q4_1", 32, 20}, {6, "Q5_0", 32, 22},
    {7, "Q5_1", 32, 24}, {8, "Q8_0", 32, 34}, {9, "Q8_1", 32, 36}, {10, "Q2_K", 256, 84}, {11, "Q3_K", 256, 110},
    {12, "Q4_K", 256, 144}, {13, "Q5_K", 256, 176}, {14, "Q6_K", 256, 210}, {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74}, {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18}, {21, "IQ3_S", 256, 110}, {22, "IQ2_S", 256, 82}, {23, "IQ4_XS", 256, 136},
    {24, "I8", 1, 1}, {25, "I16", 1, 2}, {26, "I32", 1, 4}, {27, "I64", 1, 8}, {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56}, {30, "BF16", 1, 2}, {34, "TQ1_0", 256, 54}, {35, "TQ2_0", 256, 66},
    {39, "MXFP4", 32, 17}, {40, "NVFP4", 64, 36}, {41, "Q1_0", 128, 18}, {42, "Q2_0", 64, 18},
};
// clang-format on

enum ValueType : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
  kValueTypes
};
constexpr std::array<std::uint32_t, kValueTypes> kValueBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/// Reads forward through a window; after the first failure everything is zero.
class Cursor {
 public:
  explicit Cursor(ByteSource& file) : file_(file) {}

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::uint64_t remaining() const { return file_.size() - position_; }

  void seek(std::uint64_t position) { position_ = position; }
  bool skip(std::uint64_t bytes) {
    if (failed_ || bytes > remaining()) return fail_here();
    position_ += bytes;
    return true;
  }
  template <class T>
  T number() {
    std::array<std::byte, sizeof(T)> raw{};
    if (!copy(raw)) return T{};
    std::uint64_t bits = 0;
    for (std::size_t i = sizeof(T); i-- > 0;)
      bits = bits << 8 | std::to_integer<std::uint64_t>(raw[i]);
    T value{};
    if constexpr (sizeof(T) == 8) {
      value = std::bit_cast<T>(bits);
    } else if constexpr (sizeof(T) == 4) {
      value = std::bit_cast<T>(static_cast<std::uint32_t>(bits));
    } else {
      value = static_cast<T>(bits);
    }
    return value;
  }
  /// A length-prefixed string of at most `limit` bytes.
  std::string text(std::uint64_t limit) {
    const auto length = number<std::uint64_t>();
    if (failed_ || length > limit || length > remaining()) {
      fail_here();
      return {};
    }
    std::string out(static_cast<std::size_t>(length), '\0');
    std::size_t done = 0;
    while (done < out.size()) {
      std::array<std::byte, 256> part{};
      const std::size_t n = std::min(part.size(), out.size() - done);
      if (!copy(std::span(part).first(n))) return {};
      std::memcpy(out.data() + done, part.data(), n);
      done += n;
    }
    return out;
  }

 private:
  bool fail_here() {
    failed_ = true;
    return false;
  }
  bool copy(std::span<std::byte> into) {
    if (failed_ || into.size() > remaining()) return fail_here();
    if (position_ < start_ || position_ + into.size() > start_ + filled_) {
      start_ = position_;
      filled_ = file_.read(start_, window_);
      if (filled_ < into.size()) return fail_here();
    }
    std::memcpy(into.data(), window_.data() + (position_ - start_), into.size());
    position_ += into.size();
    return true;
  }

  ByteSource& file_;
  std::array<std::byte, 65536> window_{};
  std::uint64_t start_ = 0, position_ = 0;
  std::size_t filled_ = 0;
  bool failed_ = false;
};

bool printable(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

class GgufReader {
 public:
  GgufReader(ByteSource& file, std::string_view where)
      : file_(file), cursor_(file), where_(where) {}

  Result<void> header() {
    if (file_.size() < 24) return refuse("too short for a GGUF file");
    if (cursor_.number<std::uint32_t>() != 0x46554747) return refuse("does not start with GGUF");
    const auto version = cursor_.number<std::uint32_t>();
    if (version == 0x03000000 || version == 0x02000000)
      return refuse("a big-endian GGUF file is not supported");
    if (version != 2 && version != 3)
      return refuse("GGUF version " + std::to_string(version) + " is not supported (2 or 3)");
    tensors_ = cursor_.number<std::uint64_t>();
    keys_ = cursor_.number<std::uint64_t>();
    if (tensors_ > kMaxTensors || keys_ > kMaxKeys)
      return refuse("claims more tensors or metadata than the limits");
    return {};
  }

  Result<void> metadata(GgufMetadata& out) {
    for (std::uint64_t i = 0; i < keys_; ++i) {
      const std::string key = cursor_.text(kMaxKeyBytes);
      const auto type = cursor_.number<std::uint32_t>();
      if (cursor_.failed())
        return refuse("the file ends inside its metadata, or a key is longer than 65,535 bytes");
      if (!printable(key)) return refuse("a metadata key with control characters or none");
      if (!seen_.insert(key).second)
        return refuse("metadata key \"" + key.substr(0, 80) + "\" twice");
      if (auto value = read_value(key, type, out); !value) return value;
    }
    return {};
  }

  Result<void> tensors(const std::function<bool(const TensorInfo&)>& visit) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> extents;
    for (std::uint64_t i = 0; i < tensors_; ++i)
      if (auto one = tensor(visit, extents); !one) return one;
    const std::uint64_t start = (cursor_.position() + alignment_ - 1) / alignment_ * alignment_;
    std::sort(extents.begin(), extents.end());
    std::uint64_t end = 0;
    for (const auto& extent : extents) {
      if (extent.first < end) return refuse("tensors overlap");
      end = extent.second;
    }
    if (!extents.empty() && (start > file_.size() || end > file_.size() - start))
      return refuse("the file is truncated: tensors end after it");
    return {};
  }

 private:
  tl::unexpected<Error> refuse(std::string what) const {
    return fail(ErrorCode::input, std::move(what), where_);
  }

  double scalar(std::uint32_t type) {
    switch (type) {
      case kU8:
        return cursor_.number<std::uint8_t>();
      case kI8:
        return static_cast<std::int8_t>(cursor_.number<std::uint8_t>());
      case kU16:
        return cursor_.number<std::uint16_t>();
      case kI16:
        return static_cast<std::int16_t>(cursor_.number<std::uint16_t>());
      case kU32:
        return cursor_.number<std::uint32_t>();
      case kI32:
        return cursor_.number<std::int32_t>();
      case kF32:
        return static_cast<double>(cursor_.number<float>());
      case kBool:
        return cursor_.number<std::uint8_t>() != 0 ? 1.0 : 0.0;
      case kU64:
        return static_cast<double>(cursor_.number<std::uint64_t>());
      case kI64:
        return static_cast<double>(cursor_.number<std::int64_t>());
      default:
        return cursor_.number<double>();
    }
  }

  Result<void> read_value(const std::string& key, std::uint32_t type, GgufMetadata& out) {
    if (type == kString) {
      const auto before = cursor_.position();
      const auto length = cursor_.number<std::uint64_t>();
      if (key.rfind("general.", 0) == 0 && length <= kMaxKept) {
        cursor_.seek(before);
        std::string value = cursor_.text(kMaxKept);
        if (key == "general.architecture") out.architecture = value;
        out.texts[key] = std::move(value);
      } else if (length > kMaxItems || !cursor_.skip(length)) {
        return refuse("metadata \"" + key.substr(0, 80) +
                      "\": a string beyond the file or 2^30 bytes");
      }
    } else if (type == kArray) {
      return read_array(key, out, 0);
    } else if (type < kValueTypes) {
      const double value = scalar(type);
      if (key == "general.alignment") {
        if (!(value >= 1) || value > static_cast<double>(kMaxAlignment))
          return refuse("general.alignment: expected 1 to 2^20");
        alignment_ = static_cast<std::uint64_t>(value);
      }
      out.numbers[short_key(key)] = value;
    } else {
      return refuse("metadata \"" + key.substr(0, 80) + "\": unknown value type " +
                    std::to_string(type));
    }
    if (cursor_.failed()) return refuse("the file ends inside its metadata");
    return {};
  }

  Result<void> read_array(const std::string& key, GgufMetadata& out, int nesting) {
    const auto type = cursor_.number<std::uint32_t>();
    const auto count = cursor_.number<std::uint64_t>();
    if (cursor_.failed() || type >= kValueTypes || count > kMaxItems || nesting > kMaxNesting)
      return refuse("metadata \"" + key.substr(0, 80) +
                    "\": an array of an unknown type, too long or nested too deeply");
    if (key == "tokenizer.ggml.tokens") out.vocabulary = static_cast<double>(count);
    if (type == kString) {
      for (std::uint64_t i = 0; i < count; ++i)
        if (!cursor_.skip(cursor_.number<std::uint64_t>()) || cursor_.failed())
          return refuse("metadata \"" + key.substr(0, 80) + "\": the file ends inside an array");
    } else if (type == kArray) {
      for (std::uint64_t i = 0; i < count; ++i)
        if (auto inner = read_array(key, out, nesting + 1); !inner) return inner;
    } else if (count <= kMaxLayers && nesting == 0 && key.rfind("tokenizer.", 0) != 0) {
      auto& list = out.lists[short_key(key)];
      for (std::uint64_t i = 0; i < count; ++i) list.push_back(scalar(type));
    } else if (!cursor_.skip(count * kValueBytes[type])) {
      return refuse("metadata \"" + key.substr(0, 80) + "\": the file ends inside an array");
    }
    if (cursor_.failed()) return refuse("the file ends inside its metadata");
    return {};
  }

  /// "llama.block_count" -> "block_count": the prefix is the architecture.
  static std::string short_key(const std::string& key) {
    if (key.rfind("general.", 0) == 0 || key.rfind("tokenizer.", 0) == 0 ||
        key.rfind("split.", 0) == 0)
      return key;
    const auto dot = key.find('.');
    return dot == std::string::npos ? key : key.substr(dot + 1);
  }

  Result<void> tensor(const std::function<bool(const TensorInfo&)>& visit,
                      std::vector<std::pair<std::uint64_t, std::uint64_t>>& extents) {
    const std::string name = cursor_.text(kMaxNameBytes);
    const auto dimensions = cursor_.number<std::uint32_t>();
    if (cursor_.failed() || !printable(name))
      return refuse("the tensor table is truncated or a name is not readable");
    if (dimensions > 4) return refuse("tensor \"" + name + "\": more than 4 dimensions");
    std::array<std::uint64_t, 4> shape{};
    std::uint64_t elements = 1;
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      // The file lists the row length first: reversed for row-major order.
      shape[dimensions - 1 - i] = cursor_.number<std::uint64_t>();
      if (__builtin_mul_overflow(elements, shape[dimensions - 1 - i], &elements))
        return refuse("tensor \"" + name + "\": more than 2^64 values");
    }
    const auto type = cursor_.number<std::uint32_t>();
    const auto offset = cursor_.number<std::uint64_t>();
    if (cursor_.failed()) return refuse("the file ends inside its tensor table");
    const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const TensorType& t) { return t.id == type; });
    if (found == std::end(kTypes))
      return refuse("tensor \"" + name + "\": unknown type " + std::to_string(type));
    const std::uint64_t row = dimensions > 0 ? shape[dimensions - 1] : 1;
    std::uint64_t bytes = 0;
    if (row % found->block != 0)
      return refuse("tensor \"" + name + "\": rows are not whole blocks of its type");
    if (__builtin_mul_overflow(elements / found->block, found->bytes, &bytes) ||
        offset > UINT64_MAX - bytes)
      return refuse("tensor \"" + name + "\": beyond 2^64 bytes");
    if (offset % alignment_ != 0) return refuse("tensor \"" + name + "\": offset is not aligned");
    extents.emplace_back(offset, offset + bytes);
    TensorInfo info{name, found->name, std::span(shape).first(dimensions),
                    static_cast<double>(elements), static_cast<double>(bytes)};
    if (!visit(info)) return refuse("tensor \"" + name + "\" occurs twice");
    return {};
  }

  ByteSource& file_;
  Cursor cursor_;
  std::string where_;
  std::uint64_t tensors_ = 0, keys_ = 0, alignment_ = 32;
  std::unordered_set<std::string> seen_;
};

}  // namespace

double gguf_bits(std::string_view type) {
  for (const TensorType& entry : kTypes)
    if (entry.name == type)
      return 8.0 * static_cast<double>(entry.bytes) / static_cast<double>(entry.block);
  return 0.0;
}

Result<GgufMetadata> scan_gguf(ByteSource& file, std::string_view where,
                               const std::function<void(const GgufMetadata&)>& begin,
                               const std::function<bool(const TensorInfo&)>& visit) {
  GgufReader reader(file, where);
  GgufMetadata metadata;
  if (auto head = reader.header(); !head) return tl::unexpected(head.error());
  if (auto read = reader.metadata(metadata); !read) return tl::unexpected(read.error());
  begin(metadata);
  if (auto read = reader.tensors(visit); !read) return tl::unexpected(read.error());
  return metadata;
}

}  // namespace gpuadvisor::model
