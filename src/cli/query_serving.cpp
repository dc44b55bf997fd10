// What a serving request asks of the engine.
#include <algorithm>
#include <array>
#include <memory>

#include "cli/files.hpp"
#include "cli/query.hpp"

namespace gpuadvisor::cli {
namespace {

constexpr std::array<std::string_view, 20> kServingFlags = {
    "engine",     "engine-version", "input-len",    "output-len",       "concurrency",
    "kv-type",    "ttft",           "tpot",         "requests-per-s",   "trace",
    "formats",    "max-model-len",  "max-num-seqs", "prefix-hit",       "lora-adapters",
    "gpu-layers", "draft-model",    "draft-tokens", "draft-acceptance", "gpu-memory-utilization"};
constexpr std::array<std::string_view, 7> kKvTypes = {"auto", "fp16", "fp8", "int8",
                                                      "q8_0", "q4_0", "fp4"};
constexpr std::size_t kMostTraceBytes = std::size_t{256} << 20;

void read_engine(FlagReader& reader, serving::Request& serve) {
  reader.name("engine", serve.engine, serving::engine_names(), serving::engine_from_string);
  // The default version is one of vLLM.
  if (serve.engine != serving::Engine::vllm) serve.version = 0;
  if (const auto version = reader.text("engine-version"))
    serve.version = serving::parse_version(*version);
  reader.name("quant", serve.quant, serving::quant_names(), serving::quant_from_string);
  reader.name("kv-type", serve.kv_type, kKvTypes, serving::kv_type_from_string);
  reader.number("gpu-memory-utilization", serve.gpu_memory_utilization, 0.05, 1.0);
  reader.count("max-model-len", serve.max_model_len, 1, 1e8);
  reader.count("max-num-seqs", serve.max_num_seqs, 1, 1e6);
  reader.number("prefix-hit", serve.prefix_hit, 0, 1);
  reader.count("lora-adapters", serve.lora_adapters, 0, 1e5);
  reader.integer<std::int32_t>("gpu-layers", serve.gpu_layers, 0, 10000);
}

void read_formats(FlagReader& reader, advisor::Query& query) {
  for (const std::string& name : reader.arguments().list("formats")) {
    const auto format = serving::quant_from_string(name);
    if (!format)
      return reader.set_error(FlagReader::unknown_name(name, "--formats", serving::quant_names()));
    query.serve_formats.push_back(*format);
  }
}

void read_trace(FlagReader& reader, advisor::Query& query) {
  const auto path = reader.text("trace");
  if (!path) return;
  const auto text = read_file(std::string(*path), kMostTraceBytes);
  if (!text) return reader.set_error(text.error());
  auto arrivals = serving::parse_trace(*text, *path);
  if (!arrivals) return reader.set_error(arrivals.error());
  serving::apply_trace(query.serve, *arrivals);
  query.trace = std::move(*arrivals);
}

void read_load(FlagReader& reader, advisor::Query& query) {
  constexpr std::array<std::string_view, 3> kLoads = {"concurrency", "requests-per-s", "trace"};
  reader.exclusive(kLoads);
  serving::Request& serve = query.serve;
  reader.count("input-len", serve.input_len, 1, 1e8);
  reader.count("output-len", serve.output_len, 1, 1e8);
  reader.count("concurrency", serve.concurrency, 1, 1e6);
  reader.number("requests-per-s", serve.rate_rps, 1e-6, 1e6);
  if (serve.rate_rps > 0) serve.load = serving::Load::open;
  read_trace(reader, query);
  const auto seconds = [](std::string_view text, const std::string& flag) {
    return parse_duration(text, flag).map([](Seconds time) { return time.value; });
  };
  reader.read("ttft", serve.ttft_target_s, seconds);
  reader.read("tpot", serve.tpot_target_s, seconds);
}

void read_draft(FlagReader& reader, advisor::Query& query) {
  const auto name = reader.text("draft-model");
  reader.integer<std::int32_t>("draft-tokens", query.serve.draft.tokens, 1, 64);
  reader.number("draft-acceptance", query.serve.draft.acceptance, 0, 1);
  if (!name) return;
  const auto preset = model::resolve_preset(*name, "--draft-model");
  if (!preset) return reader.set_error(preset.error());
  query.draft = std::make_shared<const serving::Model>(serving::prepare((*preset)->architecture));
  query.serve.draft.model = query.draft.get();
}

}  // namespace

void read_serving(FlagReader& reader, advisor::Query& query) {
  if (query.request.mode != workload::Mode::serve) {
    for (const std::string_view flag : kServingFlags)
      if (reader.arguments().has(flag))
        reader.set_error({ErrorCode::usage, "needs --mode serve", FlagReader::dashed(flag), {}});
    return;
  }
  read_engine(reader, query.serve);
  if (query.request.lora_rank) query.serve.lora.rank = *query.request.lora_rank;
  read_formats(reader, query);
  read_load(reader, query);
  read_draft(reader, query);
}

}  // namespace gpuadvisor::cli
