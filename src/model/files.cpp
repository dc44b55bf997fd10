// Single files: config.json, safetensors, GGUF.
#include "model/files.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "model/fields.hpp"
#include "model/gguf_architecture.hpp"
#include "model/quantization.hpp"
#include "model/safetensors.hpp"

namespace gpuadvisor::model {

void set_counts(ModelFile& out) {
  const ParameterCounts counts = count_parameters(out.architecture);
  out.parameters_total = counts.total;
  out.parameters_active = counts.active;
  out.checkpoint_parameters = counts.checkpoint;
  out.weights_bytes =
      stored_weights_bytes(out.architecture, out.quantization, out.architecture.torch_dtype,
                           counts.checkpoint - counts.total);
  if (out.tensors) {
    out.checkpoint_parameters = out.tensors->stored;
    out.weights_bytes = out.tensors->bytes;
  }
}

std::string grouped(double value) {
  std::string digits = std::to_string(static_cast<long long>(std::clamp(value, -9e18, 9e18)));
  for (int i = static_cast<int>(digits.size()) - 3; i > (value < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

Result<ModelFile> model_of_config(const nlohmann::json& document, std::string_view where) {
  auto read = read_config_json(document, where);
  if (!read) return tl::unexpected(read.error());
  ModelFile out;
  out.kind = "config";
  out.model_type = read->model_type;
  out.architecture = read->architecture;
  out.quantization = std::move(read->quantization);
  out.warnings = std::move(read->warnings);
  out.exact = !read->partial;
  set_counts(out);
  return out;
}

Result<ModelFile> read_config(std::string_view json, std::string_view where) {
  auto document = parse_json(json, where);
  if (!document) return tl::unexpected(document.error());
  return model_of_config(*document, where);
}

void set_tensors(const TensorScan& scan, ModelFile& out) {
  out.tensors = scan.summary();
  if (scan.guessed_bits())
    out.warnings.emplace_back(
        "packed weights without their quantization_config: 4 bits a weight taken");
}

Result<ModelFile> model_of_tensors(const TensorScan& scan, std::string_view where) {
  ModelFile out;
  out.kind = "safetensors";
  out.exact = !scan.guessed_bits();
  out.warnings.emplace_back(
      "no configuration: the count is exact, the shape is a best effort from the tensors");
  auto shape = infer_architecture(scan, where, out.warnings);
  if (!shape) return tl::unexpected(shape.error());
  out.architecture = *shape;
  set_tensors(scan, out);
  set_counts(out);
  return out;
}

Result<ModelFile> read_safetensors(ByteSource& file, std::string_view where) {
  TensorScan scan(0, false, 0);
  scan.add_file();
  auto read =
      scan_safetensors(file, where, [&scan](const TensorInfo& tensor) { return scan.add(tensor); });
  if (!read) return tl::unexpected(read.error());
  return model_of_tensors(scan, where);
}

Result<ModelFile> read_gguf_files(std::span<const std::unique_ptr<ByteSource>> files,
                                  std::string_view where) {
  std::optional<TensorScan> scan;
  GgufMetadata metadata;
  for (const auto& file : files) {
    const auto begin = [&](const GgufMetadata& m) {
      if (scan) return;
      const auto layers = m.numbers.find("block_count"),
                 extra = m.numbers.find("nextn_predict_layers");
      const double own = (layers != m.numbers.end() ? layers->second : 0) -
                         (extra != m.numbers.end() ? extra->second : 0);
      scan.emplace(own > 0 ? static_cast<std::int32_t>(std::min(own, 1e6)) : 0, false, 0.0);
    };
    auto read = scan_gguf(*file, where, begin,
                          [&scan](const TensorInfo& tensor) { return scan->add(tensor); });
    if (!read) return tl::unexpected(read.error());
    if (metadata.architecture.empty()) metadata = std::move(*read);
    scan->add_file();
  }
  if (!scan) return fail(ErrorCode::input, "no GGUF file", std::string(where));
  ModelFile out;
  out.kind = "gguf";
  out.model_type = metadata.architecture;
  const auto name = metadata.texts.find("general.name");
  if (name != metadata.texts.end()) out.name = name->second;
  auto shape = gguf_architecture(metadata, *scan, where, out.warnings);
  if (!shape) return tl::unexpected(shape.error());
  out.architecture = *shape;
  set_tensors(*scan, out);
  const double counted = count_parameters(out.architecture).total;
  if (counted != out.tensors->parameters) {
    out.architecture.parameters_reported = out.tensors->parameters;
    if (std::abs(counted - out.tensors->parameters) > 0.001 * out.tensors->parameters)
      out.warnings.push_back("the shape counts " + grouped(counted) +
                             " parameters, the tensors hold " + grouped(out.tensors->parameters) +
                             ": the tensors are taken");
  }
  if (!out.tensors->dtypes.empty()) {
    const DtypeShare& main = out.tensors->dtypes.front();
    const double bits = gguf_bits(main.dtype);
    if (bits < 16 && bits > 0) {
      out.quantization.method = out.quantization.run_as = "gguf";
      out.quantization.format = main.dtype;
      out.quantization.bits = out.quantization.bits_stored =
          out.tensors->bytes * 8.0 / out.tensors->parameters;
    }
  }
  set_counts(out);
  return out;
}

Result<ModelFile> read_gguf(ByteSource& file, std::string_view where) {
  struct Borrowed : ByteSource {
    explicit Borrowed(ByteSource& inner) : inner_(inner) {}
    std::uint64_t size() const override { return inner_.size(); }
    std::size_t read(std::uint64_t offset, std::span<std::byte> into) override {
      return inner_.read(offset, into);
    }
    ByteSource& inner_;
  };
  const std::unique_ptr<ByteSource> one[] = {std::make_unique<Borrowed>(file)};
  return read_gguf_files(one, where);
}

}  // namespace gpuadvisor::model
