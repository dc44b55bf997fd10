#include <algorithm>
#include <cctype>

#include "gpuadvisor/model.hpp"
#include "model/preset_table.hpp"

namespace gpuadvisor::model {
namespace {

/// Endings of hub names that say how a model was tuned or stored, not its shape.
constexpr std::string_view kSuffixes[] = {
    "-instruct", "-chat",      "-base",      "-it",      "-pt",          "-hf",    "-awq",
    "-gptq",     "-gptq-int4", "-gptq-int8", "-fp8",     "-fp8-dynamic", "-gguf",  "-bnb-4bit",
    "-4bit",     "-8bit",      "-int4",      "-int8",    "-w8a8",        "-w4a16", "-nvfp4",
    "-bf16",     "-fp16",      "-dpo",       "-sft",     "-0527",        "-0528",  "-0324",
    "-2507",     "-2501",      "-2411",      "-2407",    "-2409",        "-0905",  "-v0.1",
    "-v0.2",     "-v0.3",      "-thinking",  "-preview", "-vl",          "-mlx",
};

/// Lower case; every run of characters that are neither letters, digits nor dots
/// becomes one dash.
std::string normalise(std::string_view name) {
  std::string out;
  for (const char character : name) {
    const auto byte = static_cast<unsigned char>(character);
    const bool kept =
        (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '.' || byte >= 0x80;
    const bool upper = byte >= 'A' && byte <= 'Z';
    if (kept || upper) {
      out += upper ? static_cast<char>(byte - 'A' + 'a') : character;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

/// "meta-llama-3-8b" and "llama3-8b" are spellings of "llama-3-8b": compare
/// without separators, and without a leading "meta".
std::string squeeze(std::string_view normalised) {
  std::string out;
  for (const char character : normalised)
    if (character != '-') out += character;
  if (out.rfind("metallama", 0) == 0) out.erase(0, 4);
  return out;
}

std::string_view after_owner(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

const Preset* match(const std::string& squeezed) {
  for (const Preset& preset : presets())
    if (squeeze(normalise(preset.id)) == squeezed) return &preset;
  for (const Preset& preset : presets())
    if (!preset.hub_id.empty() && squeeze(normalise(after_owner(preset.hub_id))) == squeezed)
      return &preset;
  return nullptr;
}

/// Drops one known suffix; false when there is none.
bool drop_suffix(std::string& normalised) {
  std::string_view longest;
  for (const std::string_view suffix : kSuffixes)
    if (normalised.size() > suffix.size() && normalised.ends_with(suffix) &&
        suffix.size() > longest.size())
      longest = suffix;
  normalised.resize(normalised.size() - longest.size());
  return !longest.empty();
}

/// The preset whose hub name is `stem` plus suffixes of its own ("qwen2-72b" for
/// "Qwen2-72B-Instruct").
const Preset* match_stem(const std::string& stem) {
  for (const Preset& preset : presets()) {
    std::string hub = normalise(after_owner(preset.hub_id));
    while (drop_suffix(hub)) {
    }
    if (!hub.empty() && squeeze(hub) == squeeze(stem)) return &preset;
  }
  return nullptr;
}

Error unknown(std::string_view name, std::string_view where) {
  std::vector<std::string_view> ids;
  for (const Preset& preset : presets()) ids.push_back(preset.id);
  const auto near = suggest_names(normalise(after_owner(name)), ids);
  std::string hint;
  for (const std::string& candidate : near)
    hint += (hint.empty() ? "did you mean " : ", ") + candidate;
  hint += std::string(hint.empty() ? "" : "? ") +
          "`gpuadvisor models list` shows all presets; --params N or --model-file PATH describe "
          "any other model";
  return Error{ErrorCode::usage, "unknown model \"" + std::string(name) + "\"", std::string(where),
               hint};
}

}  // namespace

std::span<const Preset> presets() { return preset_table(); }

const Preset* find_preset(std::string_view id) {
  const auto all = presets();
  const auto found =
      std::lower_bound(all.begin(), all.end(), id,
                       [](const Preset& preset, std::string_view key) { return preset.id < key; });
  return found != all.end() && found->id == id ? &*found : nullptr;
}

Result<const Preset*> resolve_preset(std::string_view name, std::string_view where) {
  if (name.empty() || name.size() > 256) return tl::unexpected(unknown(name.substr(0, 64), where));
  if (const Preset* exact = find_preset(name)) return exact;
  for (const Preset& preset : presets())
    if (!preset.hub_id.empty() && preset.hub_id == name) return &preset;
  std::string stem = normalise(after_owner(name));
  do {
    if (stem.empty()) break;
    if (const Preset* found = match(squeeze(stem))) return found;
  } while (drop_suffix(stem));
  if (const Preset* found = match_stem(stem)) return found;
  return tl::unexpected(unknown(name, where));
}

}  // namespace gpuadvisor::model
