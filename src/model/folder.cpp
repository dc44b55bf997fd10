// A folder of model files, or one file of it: what belongs together is read
// together and checked against each other.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "model/fields.hpp"
#include "model/files.hpp"
#include "model/quantization.hpp"
#include "model/safetensors.hpp"

namespace gpuadvisor::model {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxIndexBytes = 64u << 20;
constexpr std::size_t kMaxShards = 4096;
constexpr std::string_view kIndexes[] = {"model.safetensors.index.json",
                                         "pytorch_model.bin.index.json"};

bool ends(std::string_view text, std::string_view part) { return text.ends_with(part); }

Result<std::string> read_whole(const FileSource& folder, const std::string& name, std::size_t limit,
                               std::string_view where) {
  auto file = folder.open(name);
  if (!file) return fail(ErrorCode::input, name + ": cannot be opened", std::string(where));
  if (file->size() > limit)
    return fail(ErrorCode::input,
                name + ": larger than the limit of " + std::to_string(limit >> 20) + " MiB",
                std::string(where));
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  const std::size_t got =
      file->read(0, std::as_writable_bytes(std::span(text.data(), text.size())));
  if (got != text.size())
    return fail(ErrorCode::input, name + ": cannot be read whole", std::string(where));
  return text;
}

Result<json> read_document(const FileSource& folder, const std::string& name,
                           std::string_view where, std::size_t limit = kMaxConfigBytes) {
  auto text = read_whole(folder, name, limit, where);
  if (!text) return tl::unexpected(text.error());
  return parse_json(*text, std::string(where) + "/" + name, limit);
}

/// The parts of one model: names of files, empty where there is none.
struct Parts {
  std::string config, quantization, index;
  std::vector<std::string> shards;
};

struct Folder {
  const FileSource& source;
  std::vector<std::string> names;
  std::string where;
  [[nodiscard]] bool has(std::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

/// "x-00001-of-00030.gguf" -> "x-" and "-of-00030.gguf"; nothing for other names.
struct Split {
  std::string head, tail;
};
std::optional<Split> split_name(const std::string& name) {
  const auto of = name.rfind("-of-");
  if (of == std::string::npos || of < 6) return std::nullopt;
  std::size_t start = of;
  while (start > 0 && std::isdigit(static_cast<unsigned char>(name[start - 1])) != 0) --start;
  if (start == of) return std::nullopt;
  return Split{name.substr(0, start), name.substr(of)};
}

/// All files of the split that `name` belongs to, in order; `name` alone if none.
std::vector<std::string> parts_of(const Folder& folder, const std::string& name) {
  const auto split = split_name(name);
  if (!split) return {name};
  std::vector<std::string> out;
  for (const std::string& other : folder.names) {
    const auto own = split_name(other);
    if (own && own->head == split->head && own->tail == split->tail) out.push_back(other);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// How many parts a split name promises.
std::size_t promised(const std::string& name) {
  const auto split = split_name(name);
  if (!split) return 1;
  std::size_t total = 0;
  for (const char c : split->tail.substr(4)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) break;
    total = std::min<std::size_t>(total * 10 + static_cast<std::size_t>(c - '0'), 1'000'000);
  }
  return total;
}

struct Index {
  double total_size = 0;  ///< 0 when the file does not say
  std::set<std::string> files;
  std::set<std::string> tensors;
};

Result<Index> read_index(const Folder& folder, const std::string& name) {
  auto document = read_document(folder.source, name, folder.where, kMaxIndexBytes);
  if (!document) return tl::unexpected(document.error());
  const std::string where = folder.where + "/" + name;
  const auto map = document->find("weight_map");
  if (!document->is_object() || map == document->end() || !map->is_object())
    return fail(ErrorCode::input, "weight_map: expected an object", where);
  Index out;
  for (const auto& item : map->items()) {
    if (!item.value().is_string())
      return fail(ErrorCode::input, "weight_map: expected file names", where);
    auto file = item.value().get<std::string>();
    if (file.empty() || file.find_first_of("/\\") != std::string::npos || file.front() == '.')
      return fail(ErrorCode::input, "weight_map: a file outside the folder", where);
    out.files.insert(std::move(file));
    out.tensors.insert(item.key());
  }
  if (out.files.size() > kMaxShards) return fail(ErrorCode::input, "more than 4096 shards", where);
  const auto metadata = document->find("metadata");
  if (metadata != document->end() && metadata->is_object()) {
    const auto size = metadata->find("total_size");
    if (size != metadata->end() && size->is_number() && size->get<double>() >= 0)
      out.total_size = size->get<double>();
  }
  return out;
}

bool is_weights(std::string_view name) {
  return ends(name, ".safetensors") && name.rfind("adapter_model", 0) != 0 &&
         name.rfind("consolidated", 0) != 0;
}

/// Reads the headers of all shards; false when some are missing.
Result<bool> scan_shards(const Folder& folder, const std::vector<std::string>& shards,
                         const Index& index, TensorScan& scan) {
  bool complete = true;
  std::size_t unknown = 0, seen = 0;
  for (const std::string& name : shards) {
    auto file = folder.source.open(name);
    if (!file) {
      complete = false;
      continue;
    }
    scan.add_file();
    const auto visit = [&](const TensorInfo& tensor) {
      ++seen;
      if (!index.tensors.empty() && index.tensors.count(std::string(tensor.name)) == 0) ++unknown;
      return scan.add(tensor);
    };
    if (auto read = scan_safetensors(*file, folder.where + "/" + name, visit); !read)
      return tl::unexpected(read.error());
  }
  if (complete && !index.tensors.empty() && (unknown > 0 || seen != index.tensors.size()))
    return fail(ErrorCode::input, "the index and the shards name different tensors", folder.where);
  return complete;
}

/// Takes the tensors' exact sums; says so when the configuration counts differently.
void cross_check(const TensorScan& scan, ModelFile& out) {
  set_tensors(scan, out);
  const double stored = out.tensors->parameters, counted = out.parameters_total;
  if (stored != counted) {
    if (out.exact)
      out.warnings.push_back("the configuration counts " + grouped(counted) +
                             " parameters, the tensors hold " + grouped(stored) +
                             ": the tensors are taken");
    out.architecture.parameters_reported = stored;
  }
  out.exact = !scan.guessed_bits();
  set_counts(out);
}

/// Without the shards an index tells only bytes.
void check_index(const Index& index, ModelFile& out) {
  if (index.total_size <= 0) {
    out.warnings.emplace_back(
        "the index has no total_size and its shards are not here: bytes are computed");
    return;
  }
  const double computed = out.weights_bytes;
  out.weights_bytes = index.total_size;
  if (std::abs(computed - index.total_size) > 0.02 * index.total_size)
    out.warnings.push_back("the index holds " + grouped(index.total_size) +
                           " bytes, the configuration gives " + grouped(computed));
}

Result<void> add_quantization(const Folder& folder, const std::string& name, ModelFile& out) {
  auto document = read_document(folder.source, name, folder.where);
  if (!document) return tl::unexpected(document.error());
  auto read = read_modelopt(*document, folder.where + "/" + name);
  if (!read) return tl::unexpected(read.error());
  if (!out.quantization.any()) out.quantization = std::move(*read);
  set_counts(out);
  return {};
}

/// The model of a configuration, or of the tensors alone when the model_type is
/// unknown.
Result<ModelFile> combine(const Folder& folder, const Parts& parts) {
  Result<ModelFile> model =
      fail(ErrorCode::input, "no config.json", folder.where, "give the config.json too");
  if (!parts.config.empty()) {
    auto document = read_document(folder.source, parts.config, folder.where);
    if (!document) return tl::unexpected(document.error());
    model = model_of_config(*document, folder.where + "/" + parts.config);
  }
  if (model && !parts.quantization.empty())
    if (auto added = add_quantization(folder, parts.quantization, *model); !added)
      return tl::unexpected(added.error());
  Index index;
  if (!parts.index.empty()) {
    auto read = read_index(folder, parts.index);
    if (!read) return tl::unexpected(read.error());
    index = std::move(*read);
  }
  std::vector<std::string> shards = parts.shards;
  if (!index.files.empty()) shards.assign(index.files.begin(), index.files.end());
  std::erase_if(shards, [](const std::string& name) { return !ends(name, ".safetensors"); });
  TensorScan scan(model ? model->architecture.layers : 0, model && model->architecture.tied,
                  model && model->quantization.bits < 8 && model->quantization.bits > 0
                      ? model->quantization.bits
                  : model && model->quantization.bits == 8 ? 8
                                                           : 0);
  auto complete = scan_shards(folder, shards, index, scan);
  if (!complete) return tl::unexpected(complete.error());
  const bool tensors = !shards.empty() && *complete;
  if (!model) {
    if (!tensors) return model;
    auto guessed = model_of_tensors(scan, folder.where);
    if (guessed) guessed->warnings.insert(guessed->warnings.begin(), model.error().message);
    return guessed;
  }
  if (tensors) {
    cross_check(scan, *model);
  } else if (!parts.index.empty()) {
    check_index(index, *model);
  }
  return model;
}

Parts parts_beside(const Folder& folder, const std::string& config) {
  Parts parts;
  parts.config = config;
  if (folder.has("hf_quant_config.json")) parts.quantization = "hf_quant_config.json";
  const std::string stem = ends(config, ".json") ? config.substr(0, config.size() - 5) : config;
  if (folder.has(stem + ".hf_quant_config.json"))
    parts.quantization = stem + ".hf_quant_config.json";
  return parts;
}

Result<ModelFile> read_gguf_named(const Folder& folder, const std::string& name) {
  std::vector<std::unique_ptr<ByteSource>> files;
  const auto names = parts_of(folder, name);
  if (names.size() != promised(name))
    return fail(ErrorCode::input,
                "only " + std::to_string(names.size()) + " of " + std::to_string(promised(name)) +
                    " parts are here",
                folder.where + "/" + name);
  for (const std::string& part : names) {
    files.push_back(folder.source.open(part));
    if (!files.back()) return fail(ErrorCode::input, "cannot be opened", folder.where + "/" + part);
  }
  return read_gguf_files(files, folder.where + "/" + name);
}

Result<ModelFile> read_adapter_named(const Folder& folder, const std::string& name) {
  auto text = read_whole(folder.source, name, kMaxConfigBytes, folder.where);
  if (!text) return tl::unexpected(text.error());
  return read_adapter(*text, folder.where + "/" + name);
}

Parts parts_of_folder(const Folder& folder) {
  Parts parts = parts_beside(folder, folder.has("config.json") ? "config.json" : "");
  for (const std::string_view index : kIndexes)
    if (parts.index.empty() && folder.has(index)) parts.index = index;
  for (const std::string& name : folder.names)
    if (is_weights(name)) parts.shards.push_back(name);
  return parts;
}

Result<ModelFile> read_json_named(const Folder& folder, const std::string& name) {
  auto document = read_document(folder.source, name, folder.where, kMaxIndexBytes);
  if (!document) return tl::unexpected(document.error());
  if (document->is_object() && document->contains("peft_type"))
    return read_adapter_named(folder, name);
  if (document->is_object() && document->contains("weight_map")) {
    Parts parts = parts_of_folder(folder);
    parts.index = name;
    return combine(folder, parts);
  }
  return combine(folder, parts_beside(folder, name));
}

Result<ModelFile> read_whole_folder(const Folder& folder) {
  std::vector<std::string> gguf;
  for (const std::string& name : folder.names)
    if (ends(name, ".gguf") && (!split_name(name) || parts_of(folder, name).front() == name))
      gguf.push_back(name);
  Parts parts = parts_of_folder(folder);
  const bool model = !parts.config.empty() || !parts.shards.empty();
  if (!model && folder.has("adapter_config.json"))
    return read_adapter_named(folder, "adapter_config.json");
  if (!model && gguf.size() == 1) return read_gguf_named(folder, gguf.front());
  if (!model && gguf.size() > 1)
    return fail(ErrorCode::input, "several GGUF files", folder.where,
                "name one of them, such as " + gguf.front());
  if (!model)
    return fail(ErrorCode::input, "no config.json, .safetensors, .gguf or adapter_config.json",
                folder.where);
  auto out = combine(folder, parts);
  if (out) out->kind = "folder";
  return out;
}

/// The first bytes decide where the name says nothing.
std::string_view kind_of(const Folder& folder, const std::string& name) {
  for (const std::string_view ending : {".gguf", ".safetensors", ".json"})
    if (ends(name, ending)) return ending;
  std::array<std::byte, 9> head{};
  auto file = folder.source.open(name);
  const std::size_t got = file ? file->read(0, head) : 0;
  if (got >= 4 && head[0] == std::byte{'G'} && head[1] == std::byte{'G'} &&
      head[2] == std::byte{'U'})
    return ".gguf";
  if (got == 9 && head[7] == std::byte{0} && head[8] == std::byte{'{'}) return ".safetensors";
  return ".json";
}

}  // namespace

Result<ModelFile> read_model(const FileSource& source, const std::string& name,
                             std::string_view where) {
  Folder folder{source, source.list(), std::string(where)};
  std::sort(folder.names.begin(), folder.names.end());
  if (name.empty()) return read_whole_folder(folder);
  const auto kind = kind_of(folder, name);
  if (kind == ".gguf") return read_gguf_named(folder, name);
  if (kind == ".json") return read_json_named(folder, name);
  Parts parts = parts_of_folder(folder);
  if (!split_name(name)) {
    parts.index.clear();
    parts.shards = {name};
  }
  return combine(folder, parts);
}

}  // namespace gpuadvisor::model
