// Limits, aim and money of a question, and the cluster of `estimate` and `plan`.
#include <algorithm>
#include <array>
#include <set>

#include "cli/query.hpp"
#include "units/scan.hpp"

namespace gpuadvisor::cli {
namespace {

/// Names in order of the enumerators of E.
template <class E, std::size_t N>
auto from_list(const std::array<std::string_view, N>& names) {
  return [&names](std::string_view name) -> std::optional<E> {
    for (std::size_t i = 0; i < N; ++i)
      if (names[i] == name) return static_cast<E>(i);
    return std::nullopt;
  };
}

constexpr std::array<std::string_view, 4> kObjectives = {"balanced", "cheapest", "fastest",
                                                         "fewest-gpus"};
constexpr std::array<std::string_view, 3> kRdma = {"any", "preferred", "required"};
constexpr std::array<std::string_view, 4> kPrices = {"on-demand", "spot", "subscription",
                                                     "savings-plan"};

std::vector<std::string_view> provider_names(const catalog::Catalog& catalog) {
  std::set<std::string_view> names;
  for (const catalog::Instance& instance : catalog.instances()) names.insert(instance.provider);
  return {names.begin(), names.end()};
}

std::vector<std::string_view> region_names(const catalog::Catalog& catalog) {
  std::set<std::string_view> names;
  for (const catalog::Instance& instance : catalog.instances())
    for (const catalog::Price& price : instance.prices)
      if (!price.region.empty()) names.insert(price.region);
  return {names.begin(), names.end()};
}

void read_providers(FlagReader& reader, const catalog::Catalog& catalog, advisor::Query& query) {
  if (!reader.text("provider")) return;
  const auto known = provider_names(catalog);
  query.providers = reader.arguments().list("provider");
  for (const std::string& name : query.providers) {
    if (name == "all") {
      query.providers.clear();
      return;
    }
    if (std::find(known.begin(), known.end(), name) == known.end())
      return reader.set_error(FlagReader::unknown_name(name, "--provider", known));
  }
}

void read_region(FlagReader& reader, const catalog::Catalog& catalog, advisor::Query& query) {
  const auto name = reader.text("region");
  if (!name) return;
  const auto known = region_names(catalog);
  if (std::find(known.begin(), known.end(), *name) == known.end())
    return reader.set_error(
        {ErrorCode::usage, fmt::format("no price of region {} is known", quote(*name)), "--region",
         hint_for(*name, known, fmt::format("known are {}", join(known, "and")))});
  query.region = *name;
}

/// Parts that a filter such as "A100" means: the one of that name, or all whose name
/// goes on after a dash ("A100-SXM4-80GB").
std::vector<std::string> gpus_of_filter(const catalog::Catalog& catalog, std::string_view name) {
  std::vector<std::string> ids;
  const std::string wanted = units::to_lower(name);
  for (const catalog::Gpu& gpu : catalog.gpus()) {
    const std::string id = units::to_lower(gpu.id);
    if (id == wanted) return {std::string(gpu.id)};
    if (id.rfind(wanted + "-", 0) == 0) ids.emplace_back(gpu.id);
  }
  return ids;
}

void read_filters(FlagReader& reader, const catalog::Catalog& catalog, advisor::Query& query) {
  for (const std::string& name : reader.arguments().list("gpu")) {
    auto ids = gpus_of_filter(catalog, name);
    if (ids.empty()) {
      const auto gpu = catalog.resolve_gpu(name, "--gpu");
      if (!gpu) return reader.set_error(gpu.error());
      ids.emplace_back((*gpu)->id);
    }
    query.gpus.insert(query.gpus.end(), ids.begin(), ids.end());
  }
  for (const std::string& name : reader.arguments().list("instance")) {
    const auto instance = catalog.resolve_instance(name, "--instance");
    if (!instance) return reader.set_error(instance.error());
    query.instances.emplace_back((*instance)->name);
    // A type that is asked for by name is meant, whichever cloud sells it.
    if (!reader.arguments().has("provider") &&
        std::find(query.providers.begin(), query.providers.end(), (*instance)->provider) ==
            query.providers.end())
      query.providers.emplace_back((*instance)->provider);
  }
}

Result<std::pair<std::string, double>> split_assignment(const std::string& text,
                                                        std::string_view flag, double max) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(ErrorCode::usage, fmt::format("{} is no NAME=NUMBER", quote(text)),
                std::string(flag));
  const auto value = parse_number(std::string_view(text).substr(equals + 1), flag, 0, max);
  if (!value) return tl::unexpected(value.error());
  return std::pair(text.substr(0, equals), *value);
}

void read_weights(FlagReader& reader, advisor::Query& query) {
  constexpr std::array<std::string_view, 3> kNames = {"vram", "interconnect", "cost"};
  if (!reader.text("weights")) return;
  advisor::Weights weights{0, 0, 0};
  const std::array<double*, 3> targets = {&weights.vram, &weights.interconnect, &weights.cost};
  for (const std::string& part : reader.arguments().list("weights")) {
    const auto pair = split_assignment(part, "--weights", 1e6);
    if (!pair) return reader.set_error(pair.error());
    const auto found = std::find(kNames.begin(), kNames.end(), pair->first);
    if (found == kNames.end())
      return reader.set_error(FlagReader::unknown_name(pair->first, "--weights", kNames));
    *targets[static_cast<std::size_t>(found - kNames.begin())] = pair->second;
  }
  if (weights.vram + weights.interconnect + weights.cost <= 0)
    return reader.set_error(
        {ErrorCode::usage, "are all zero; at least one must count", "--weights", {}});
  query.weights = weights;
}

Result<std::string> parse_currency(std::string_view text, const std::string& flag) {
  const bool code = text.size() == 3 && std::all_of(text.begin(), text.end(), [](char c) {
                      return units::to_lower(c) >= 'a' && units::to_lower(c) <= 'z';
                    });
  if (!code)
    return fail(ErrorCode::usage,
                fmt::format("{} is no currency; expected a code such as CNY or USD", quote(text)),
                flag);
  std::string upper = units::to_lower(text);
  for (char& c : upper) c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

void read_rates(FlagReader& reader, advisor::Query& query) {
  for (const std::string& part : reader.arguments().list("rate")) {
    const auto pair = split_assignment(part, "--rate", 1e9);
    if (!pair) return reader.set_error(pair.error());
    const auto currency = parse_currency(pair->first, "--rate");
    if (!currency) return reader.set_error(currency.error());
    if (pair->second <= 0)
      return reader.set_error({ErrorCode::usage, "must be above 0", "--rate", {}});
    query.rates.emplace_back(*currency, pair->second);
  }
}

/// "8x200Gbit/s-ib": NICs of a node, their rate, and the fabric.
struct Network {
  double bytes_per_s = 0;
  catalog::Fabric fabric = catalog::Fabric::tcp;
};

Result<Network> parse_network(std::string_view text, const std::string& flag) {
  constexpr std::array<std::string_view, 6> kFabrics = {"tcp", "erdma", "roce", "ib", "efa", "opa"};
  Network network;
  const std::size_t dash = text.rfind('-');
  const std::string_view name = dash == std::string_view::npos ? "tcp" : text.substr(dash + 1);
  const auto found = std::find(kFabrics.begin(), kFabrics.end(), name);
  if (found == kFabrics.end())
    return tl::unexpected(FlagReader::unknown_name(name, flag, kFabrics));
  network.fabric = static_cast<catalog::Fabric>(1 + (found - kFabrics.begin()));
  std::string_view rate = text.substr(0, dash);
  double nics = 1;
  if (const std::size_t times = rate.find('x'); times != std::string_view::npos) {
    const auto count = parse_integer(rate.substr(0, times), flag, 1, 64);
    if (!count) return tl::unexpected(count.error());
    nics = static_cast<double>(*count);
    rate.remove_prefix(times + 1);
  }
  const auto bandwidth = parse_bandwidth(rate, flag);
  if (!bandwidth) return tl::unexpected(bandwidth.error());
  network.bytes_per_s = nics * bandwidth->value;
  return network;
}

Result<catalog::Cluster> cluster_of_instance(FlagReader& reader, const catalog::Catalog& catalog) {
  int count = 1;
  reader.integer<int>("count", count, 1, 100'000);
  for (const std::string_view flag : {"gpus", "gpus-per-node", "network"})
    if (reader.arguments().has(flag))
      reader.set_error(
          {ErrorCode::usage, "contradicts --instance; use --count", FlagReader::dashed(flag), {}});
  if (reader.error()) return tl::unexpected(*reader.error());
  const auto instance =
      catalog.resolve_instance(*reader.arguments().value("instance"), "--instance");
  if (!instance) return tl::unexpected(instance.error());
  const catalog::Gpu* gpu = catalog.find_gpu((*instance)->gpu);
  if (gpu == nullptr)
    return fail(ErrorCode::usage,
                fmt::format("the GPU of {} is unknown to the catalog", (*instance)->name),
                "--instance");
  return catalog::make_cluster(**instance, *gpu, count);
}

Result<catalog::Cluster> cluster_of_gpus(FlagReader& reader, const catalog::Catalog& catalog) {
  int gpus = 1;
  std::optional<int> per_node;
  Network network{0, catalog::Fabric::infiniband};
  reader.integer<int>("gpus", gpus, 1, 1'000'000);
  reader.integer<int>("gpus-per-node", per_node, 1, 1024);
  reader.read("network", network, parse_network);
  if (reader.arguments().has("count"))
    reader.set_error({ErrorCode::usage, "needs --instance; with --gpu use --gpus", "--count", {}});
  if (reader.error()) return tl::unexpected(*reader.error());
  const auto gpu = catalog.resolve_gpu(*reader.arguments().value("gpu"), "--gpu");
  if (!gpu) return tl::unexpected(gpu.error());
  const int node = per_node.value_or(std::min(gpus, 8));
  if (gpus % node != 0)
    return fail(ErrorCode::usage,
                fmt::format("{} is no multiple of --gpus-per-node {}", gpus, node), "--gpus");
  return catalog::make_cluster(**gpu, gpus, node, network.bytes_per_s, network.fabric);
}

/// One item of --sweep-gpus: a count, or A..B for A, 2A, 4A, ... up to B.
Result<std::vector<int>> parse_sweep(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto dots = text.find("..");
  const auto first = parse_integer(text.substr(0, dots), "--sweep-gpus", 1, kMost);
  if (!first) return tl::unexpected(first.error());
  if (dots == std::string_view::npos) return std::vector<int>{static_cast<int>(*first)};
  const auto last = parse_integer(text.substr(dots + 2), "--sweep-gpus", *first, kMost);
  if (!last) return tl::unexpected(last.error());
  std::vector<int> counts;
  for (auto count = *first; count <= *last; count *= 2) counts.push_back(static_cast<int>(count));
  return counts;
}

void read_sweep(FlagReader& reader, advisor::Query& query) {
  if (!reader.text("sweep-gpus")) return;
  for (const std::string& item : reader.arguments().list("sweep-gpus")) {
    const auto counts = parse_sweep(item);
    if (!counts) return reader.set_error(counts.error());
    query.sweep_gpus.insert(query.sweep_gpus.end(), counts->begin(), counts->end());
  }
  std::sort(query.sweep_gpus.begin(), query.sweep_gpus.end());
  query.sweep_gpus.erase(std::unique(query.sweep_gpus.begin(), query.sweep_gpus.end()),
                         query.sweep_gpus.end());
}

}  // namespace

void read_limits(FlagReader& reader, const catalog::Catalog& catalog, advisor::Query& query) {
  read_providers(reader, catalog, query);
  read_region(reader, catalog, query);
  if (!reader.error()) read_filters(reader, catalog, query);
  reader.integer<int>("max-nodes", query.max_nodes, 1, 100'000);
  reader.integer<int>("max-gpus", query.max_gpus, 1, 1'000'000);
  reader.read("budget", query.budget,
              [](auto text, const auto& flag) { return parse_money(text, flag); });
  reader.read("deadline", query.deadline_s, [](auto text, const auto& flag) {
    return parse_duration(text, flag).map([](Seconds time) { return time.value; });
  });
  reader.name("rdma", query.rdma, kRdma, from_list<advisor::RdmaPolicy>(kRdma));
  query.include_retired = reader.arguments().has("include");
}

void read_aim(FlagReader& reader, advisor::Query& query) {
  reader.name("objective", query.objective, kObjectives,
              from_list<advisor::Objective>(kObjectives));
  if (!reader.error()) read_weights(reader, query);
  reader.read("top", query.top, [](auto text, const auto& flag) {
    return parse_integer(text, flag, 1, 1000).map([](std::int64_t n) {
      return static_cast<std::size_t>(n);
    });
  });
  if (!reader.error()) read_sweep(reader, query);
  query.pareto = reader.arguments().has("pareto");
  reader.name("price", query.price_kind, kPrices, from_list<catalog::PriceKind>(kPrices));
  reader.read("currency", query.currency, parse_currency);
  if (!reader.error()) read_rates(reader, query);
  reader.read("as-of", query.as_of,
              [](auto text, const auto& flag) { return parse_date(text, flag); });
}

bool has_cluster(const Arguments& arguments) {
  return arguments.has("count") || arguments.has("gpus");
}

Result<catalog::Cluster> read_cluster(const Arguments& arguments, const catalog::Catalog& catalog) {
  FlagReader reader(arguments);
  if (arguments.has("instance") && arguments.has("gpu"))
    return fail(ErrorCode::usage, "contradicts --instance; give one of them", "--gpu");
  if (arguments.has("instance")) return cluster_of_instance(reader, catalog);
  if (arguments.has("gpu")) return cluster_of_gpus(reader, catalog);
  return fail(ErrorCode::usage,
              "no cluster given; expected --instance with --count, or --gpu with --gpus", {},
              "for example --gpu A100-SXM4-80GB --gpus 16");
}

}  // namespace gpuadvisor::cli
