#include "cli/query.hpp"

#include <array>

#include "cli/model_source.hpp"

namespace gpuadvisor::cli {
namespace {

template <class E>
auto by_name() {
  return [](std::string_view name) { return workload::from_string<E>(name); };
}

template <class E, class Target>
void enumeration(FlagReader& reader, std::string_view flag, Target& target) {
  reader.name(flag, target, workload::names_of<E>(), by_name<E>());
}

void use_synthetic(FlagReader& reader, std::string_view params, advisor::Query& query) {
  constexpr double kMostParameters = 1e16;
  double total = 0;
  std::optional<double> active;
  reader.count("params", total, 1e3, kMostParameters);
  reader.count("active", active, 1e3, kMostParameters);
  if (reader.error()) return;
  if (active && *active > total)
    return reader.set_error(
        {ErrorCode::usage, fmt::format("is more than --params {}", params), "--active", {}});
  auto synthetic = model::synthesize(total, active);
  if (!synthetic) return reader.set_error(synthetic.error());
  query.model = {synthetic->architecture, std::string(params), synthetic->note};
}

void use_preset(FlagReader& reader, std::string_view name, advisor::Query& query) {
  const auto preset = model::resolve_preset(name, "--model");
  if (!preset) return reader.set_error(preset.error());
  query.model = {(*preset)->architecture, std::string((*preset)->id),
                 std::string((*preset)->notes)};
}

void use_file(FlagReader& reader, const std::string& path, advisor::Query& query) {
  const auto file = read_model_path(path);
  if (!file) return reader.set_error(file.error());
  std::string note;
  for (const std::string& warning : file->warnings) note += (note.empty() ? "" : "; ") + warning;
  query.model = {file->architecture, file->name.empty() ? path : file->name, std::move(note)};
}

std::optional<std::uint8_t> offload_bit(std::string_view name) {
  if (name == "none") return workload::kOffloadNone;
  if (name == "optimizer") return workload::kOffloadOptimizer;
  if (name == "params") return workload::kOffloadParams;
  if (name == "activations") return workload::kOffloadActivations;
  if (name == "nvme") return workload::kOffloadNvme;
  return std::nullopt;
}

void read_offload(FlagReader& reader, advisor::Query& query) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "optimizer", "params", "activations",
                                                      "nvme"};
  if (!reader.text("offload")) return;
  std::uint8_t bits = 0;
  for (const std::string& name : reader.arguments().list("offload")) {
    const auto bit = offload_bit(name);
    if (!bit) return reader.set_error(FlagReader::unknown_name(name, "--offload", kNames));
    bits = static_cast<std::uint8_t>(bits | *bit);
  }
  query.constraints.offload = bits;
}

void read_sequence_parallel(FlagReader& reader, advisor::Query& query) {
  constexpr std::array<std::string_view, 2> kBoth = {"sequence-parallel", "no-sequence-parallel"};
  reader.exclusive(kBoth);
  if (reader.arguments().has(kBoth[0])) query.constraints.sequence_parallel = true;
  if (reader.arguments().has(kBoth[1])) query.constraints.sequence_parallel = false;
}

/// ZeRO stage and sharding must say the same.
void check_sharding(FlagReader& reader, const advisor::Query& query) {
  const auto& plan = query.constraints;
  if (plan.zero_stage && plan.sharding && workload::zero_stage(*plan.sharding) != *plan.zero_stage)
    reader.set_error({ErrorCode::usage,
                      fmt::format("contradicts --sharding {}", workload::to_string(*plan.sharding)),
                      "--zero",
                      {}});
}

}  // namespace

void read_model(FlagReader& reader, advisor::Query& query) {
  constexpr std::array<std::string_view, 3> kSources = {"params", "model", "model-file"};
  reader.exclusive(kSources);
  if (reader.arguments().has("active") && !reader.arguments().has("params"))
    reader.set_error({ErrorCode::usage, "needs --params", "--active", {}});
  if (reader.error()) return;
  if (const auto params = reader.arguments().value("params"))
    return use_synthetic(reader, *params, query);
  if (const auto name = reader.arguments().value("model")) return use_preset(reader, *name, query);
  if (const auto path = reader.arguments().value("model-file"))
    return use_file(reader, std::string(*path), query);
  reader.set_error(
      {ErrorCode::usage,
       "no model given; expected --params, --model or --model-file",
       {},
       "for example --params 70B, or --model with a name of 'gpuadvisor models list'"});
}

void read_run(FlagReader& reader, advisor::Query& query) {
  workload::Request& run = query.request;
  if (!reader.arguments().has("mode"))
    reader.set_error({ErrorCode::usage,
                      fmt::format("no mode given; expected --mode {}",
                                  join(workload::names_of<workload::Mode>(), "or")),
                      {},
                      {}});
  enumeration<workload::Mode>(reader, "mode", run.mode);
  enumeration<workload::Precision>(reader, "precision", run.precision);
  enumeration<workload::Optimizer>(reader, "optimizer", run.optimizer);
  enumeration<workload::Recompute>(reader, "recompute", query.constraints.recompute);
  run.recompute = query.constraints.recompute;
  enumeration<workload::Attention>(reader, "attention", run.attention);
  enumeration<workload::Framework>(reader, "framework", run.framework);
  enumeration<workload::KernelProfile>(reader, "kernel-profile", run.kernel_profile);
  enumeration<workload::Loss>(reader, "loss", run.loss);
  if (run.mode != workload::Mode::serve) enumeration<workload::Quant>(reader, "quant", run.quant);
  reader.integer<std::int64_t>("seq-len", run.seq_len, 1, 100'000'000);
  reader.integer<std::int64_t>("global-batch", run.global_batch, 1, 100'000'000);
  reader.count("tokens", run.tokens, 1, 1e18);
  reader.count("samples", run.samples, 1, 1e18);
  reader.number("epochs", run.epochs, 1e-6, 1e6);
  reader.integer<std::int32_t>("lora-rank", run.lora_rank, 1, 65536);
  if (reader.arguments().has("lora-targets"))
    run.lora_targets = reader.arguments().list("lora-targets");
  constexpr std::array<std::string_view, 2> kAmounts = {"tokens", "samples"};
  reader.exclusive(kAmounts);
}

void read_plan_flags(FlagReader& reader, advisor::Query& query) {
  constexpr int kMost = 1'000'000;
  planner::Constraints& plan = query.constraints;
  reader.integer<int>("tp", plan.tp, 1, kMost);
  reader.integer<int>("pp", plan.pp, 1, kMost);
  reader.integer<int>("vpp", plan.vpp, 1, kMost);
  reader.integer<int>("cp", plan.cp, 1, kMost);
  reader.integer<int>("ep", plan.ep, 1, kMost);
  reader.integer<int>("dp", plan.dp, 1, kMost);
  reader.integer<int>("micro-batch", plan.micro_batch, 1, kMost);
  query.request.micro_batch = plan.micro_batch;
  enumeration<workload::Sharding>(reader, "sharding", plan.sharding);
  reader.integer<int>("zero", plan.zero_stage, 0, 3);
  enumeration<workload::Schedule>(reader, "schedule", plan.schedule);
  query.request.schedule = plan.schedule;
  read_sequence_parallel(reader, query);
  read_offload(reader, query);
  query.request.offload = plan.offload;
  reader.number("min-headroom", plan.min_headroom, 0, 0.99);
  check_sharding(reader, query);
}

Result<advisor::Query> read_query(const Arguments& arguments, const catalog::Catalog& catalog) {
  advisor::Query query;
  FlagReader reader(arguments);
  read_model(reader, query);
  read_run(reader, query);
  read_serving(reader, query);
  read_plan_flags(reader, query);
  read_limits(reader, catalog, query);
  read_aim(reader, query);
  if (reader.error()) return tl::unexpected(*reader.error());
  return query;
}

}  // namespace gpuadvisor::cli
