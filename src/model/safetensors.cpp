// safetensors: 8 bytes header length, JSON header, data (huggingface/safetensors).
#include "model/safetensors.hpp"

#include <algorithm>
#include <array>
#include <vector>

#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 takes the parser's freshly made string for an object (a false positive).
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
#include <nlohmann/json.hpp>

namespace gpuadvisor::model {
namespace {

using nlohmann::json;

struct Dtype {
  std::string_view name;
  std::uint32_t bits;
};
constexpr Dtype kDtypes[] = {
    {"BF16", 16},       {"F16", 16},    {"F32", 32},    {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"I32", 32},        {"U8", 8},      {"I8", 8},      {"I64", 64},    {"F64", 64},
    {"BOOL", 8},        {"I16", 16},    {"U16", 16},    {"U32", 32},    {"U64", 64},
    {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"C64", 64},
};

bool printable(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

struct Extent {
  std::uint64_t begin, end;
};

/// Streams the header: nothing is kept but one tensor and the extents.
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  explicit HeaderReader(const std::function<bool(const TensorInfo&)>& visit) : visit_(visit) {}

  std::string problem;
  std::vector<Extent> extents;

  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == 2) {
      shape_.clear();
      offsets_.clear();
      dtype_.clear();
    }
    return depth_ <= 2 || refuse("nested objects");
  }
  bool end_object() override {
    if (depth_ == 2 && !metadata_ && !finish_tensor()) return false;
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_array_ || metadata_ || (key_ != "shape" && key_ != "data_offsets"))
      return refuse("an unexpected array");
    if (!(key_ == "shape" ? shape_ : offsets_).empty()) return refuse("a key twice");
    in_array_ = true;
    return true;
  }
  bool end_array() override {
    in_array_ = false;
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      name_ = name;
      metadata_ = name == "__metadata__";
      if (metadata_ && seen_metadata_) return refuse("__metadata__ twice");
      seen_metadata_ = seen_metadata_ || metadata_;
      if (!printable(name)) return refuse("a tensor name with control characters or none");
      return true;
    }
    key_ = name;
    return metadata_ || name == "dtype" || name == "shape" || name == "data_offsets" ||
           refuse("unknown key \"" + safe(name) + "\"");
  }
  bool string(string_t& value) override {
    if (depth_ != 2) return refuse("a string where a tensor is expected");
    if (metadata_) return true;
    if (key_ != "dtype" || in_array_) return refuse("a string where numbers are expected");
    dtype_ = value;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_array_) return refuse("a number outside shape and data_offsets");
    auto& list = key_ == "shape" ? shape_ : offsets_;
    if (list.size() >= 16) return refuse("more than 16 dimensions");
    list.push_back(value);
    return true;
  }
  bool number_integer(number_integer_t) override { return refuse("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return refuse("a number that is not whole");
  }
  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("true or false"); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return refuse("broken JSON");
  }

 private:
  static std::string safe(std::string_view text) {
    std::string out(text.substr(0, 80));
    std::replace_if(
        out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
    return out;
  }
  bool refuse(std::string what) {
    if (problem.empty())
      problem =
          (name_.empty() ? "header" : "tensor \"" + safe(name_) + "\"") + ": " + std::move(what);
    return false;
  }
  bool finish_tensor() {
    const auto* dtype = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                     [&](const Dtype& d) { return d.name == dtype_; });
    if (dtype == std::end(kDtypes)) return refuse("unknown dtype \"" + safe(dtype_) + "\"");
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1])
      return refuse("expected data_offsets [begin, end]");
    std::uint64_t bits = dtype->bits;
    for (const std::uint64_t size : shape_)
      if (__builtin_mul_overflow(bits, size, &bits)) return refuse("a shape beyond 2^64 bits");
    if (bits % 8 != 0 || bits / 8 != offsets_[1] - offsets_[0])
      return refuse("data_offsets do not fit dtype and shape");
    extents.push_back({offsets_[0], offsets_[1]});
    TensorInfo info;
    info.name = name_;
    info.dtype = dtype->name;
    info.shape = shape_;
    info.elements = static_cast<double>(bits / dtype->bits);
    info.bytes = static_cast<double>(bits / 8);
    return visit_(info) || refuse("its name occurs twice");
  }

  const std::function<bool(const TensorInfo&)>& visit_;
  int depth_ = 0;
  bool in_array_ = false, metadata_ = false, seen_metadata_ = false;
  std::string name_, key_, dtype_;
  std::vector<std::uint64_t> shape_, offsets_;
};

/// Bytes of [offset, offset + length) in chunks as they exist: a claimed length
/// never decides an allocation before the bytes were there.
Result<std::string> read_text(ByteSource& file, std::uint64_t offset, std::uint64_t length,
                              std::string_view where) {
  std::string text;
  std::array<std::byte, 65536> chunk{};
  while (text.size() < length) {
    const auto want =
        static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), length - text.size()));
    const std::size_t got = file.read(offset + text.size(), std::span(chunk).first(want));
    if (got == 0)
      return fail(ErrorCode::input, "the file ends inside its header", std::string(where));
    const auto* begin = static_cast<const char*>(static_cast<const void*>(chunk.data()));
    text.append(begin, got);
  }
  return text;
}

Result<void> check_extents(std::vector<Extent> extents, std::uint64_t data_bytes,
                           std::string_view where) {
  std::sort(extents.begin(), extents.end(), [](const Extent& x, const Extent& y) {
    return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
  });
  std::uint64_t position = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != position)
      return fail(ErrorCode::input,
                  extent.begin < position ? "tensors overlap" : "there is a hole between tensors",
                  std::string(where));
    position = extent.end;
  }
  if (position != data_bytes)
    return fail(ErrorCode::input,
                position > data_bytes ? "the file is truncated: tensors end after it"
                                      : "bytes after the last tensor",
                std::string(where));
  return {};
}

}  // namespace

Result<void> scan_safetensors(ByteSource& file, std::string_view where,
                              const std::function<bool(const TensorInfo&)>& visit) {
  std::array<std::byte, 8> head{};
  if (file.size() < 8 || file.read(0, head) != 8)
    return fail(ErrorCode::input, "too short for a safetensors file", std::string(where));
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(head[i]);
  if (length > kMaxSafetensorsHeader)
    return fail(ErrorCode::input,
                "claims a header of " + std::to_string(length) + " bytes; the limit is 100,000,000",
                std::string(where));
  if (length > file.size() - 8)
    return fail(ErrorCode::input, "the file ends inside its header", std::string(where));
  auto text = read_text(file, 8, length, where);
  if (!text) return tl::unexpected(text.error());
  if (text->empty() || text->front() != '{')
    return fail(ErrorCode::input, "the header is not a JSON object", std::string(where));
  HeaderReader reader(visit);
  try {
    if (!json::sax_parse(*text, &reader))
      return fail(ErrorCode::input, reader.problem, std::string(where));
  } catch (const std::exception& error) {
    return fail(ErrorCode::input, std::string("header: ") + error.what(), std::string(where));
  }
  return check_extents(std::move(reader.extents), file.size() - 8 - length, where);
}

}  // namespace gpuadvisor::model
