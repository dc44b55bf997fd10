// Development aid: predicts measurement rows and prints errors by group and the worst
// rows. accuracy_driver [--kind K] [--quality A] [--quantity Q,..] [--by GROUP]
// [--worst N] [--explain ID] [--speed-memory] [--rows] [--bands] [FILE...]
// --bands prints the records of "bands" in data/calibration.json anew.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "accuracy/summary.hpp"
#include "gpuadvisor/accuracy.hpp"

using namespace gpuadvisor;

namespace {

struct Arguments {
  std::string kind, quality, quantity, by;
  std::size_t worst = 15;
  bool rows = false;
  bool bands = false;
  accuracy::Options options;
  std::vector<accuracy::Document> documents;
};

accuracy::Document read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {path, {std::istreambuf_iterator<char>(in), {}}};
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (arg == "--kind")
      out.kind = value();
    else if (arg == "--quality")
      out.quality = value();
    else if (arg == "--quantity")
      out.quantity = value();
    else if (arg == "--by")
      out.by = value();
    else if (arg == "--worst")
      out.worst = std::strtoul(value().c_str(), nullptr, 10);
    else if (arg == "--explain")
      out.options.explain_id = value();
    else if (arg == "--speed-memory")
      out.options.with_speed_memory = true;
    else if (arg == "--rows")
      out.rows = true;
    else if (arg == "--bands")
      out.bands = true;
    else
      out.documents.push_back(read_file(arg));
  }
  if (out.documents.empty()) out.documents = accuracy::embedded_measurements();
  return out;
}

bool listed(const std::string& list, const std::string& name) {
  return list.empty() || ("," + list + ",").find("," + name + ",") != std::string::npos;
}

void print_row(const accuracy::Outcome& o) {
  std::printf("  %-34s %-2s %-18s %10.3f / %10.3f %+7.1f%%  %-9s %-18s %-18s %s\n", o.id.c_str(),
              o.quality.c_str(), o.quantity.c_str(), o.predicted, o.measured,
              100 * o.relative_error.value_or(0), o.method.c_str(), o.framework.c_str(),
              o.gpu.c_str(), o.plan.c_str());
}

void print_summaries(const std::vector<accuracy::Outcome>& outcomes, const std::string& by) {
  std::printf("%-14s %-44s %5s %5s %8s %8s %8s %8s %9s\n", "kind", "group", "rows", "skip",
              "median", "p90", "mean", "bias", "right");
  for (const auto& s : accuracy::summarise(outcomes)) {
    const bool source = s.group.rfind("source ", 0) == 0;
    if (by.empty() ? source || s.group.rfind("plan ", 0) == 0
                   : s.group.rfind(by, 0) != 0 && s.group != "all")
      continue;
    std::printf("%-14s %-44.44s %5zu %5zu %7.1f%% %7.1f%% %7.1f%% %+7.1f%% %4zu/%zu\n",
                s.kind.c_str(), s.group.c_str(), s.rows, s.skipped, 100 * s.median_abs_error,
                100 * s.p90_abs_error, 100 * s.mean_abs_error, 100 * s.bias, s.right, s.judged);
  }
}

void print_bands(const accuracy::Report& report) {
  for (const auto& band : accuracy::error_bands(report, catalog::Catalog::embedded()))
    std::printf(
        "    {\"kind\": \"%s\", \"method\": \"%s\", \"gpu_class\": \"%s\", \"rows\": %zu, \"p50\": "
        "%.3f, \"p90\": %.3f},\n",
        band.kind.c_str(), band.method.c_str(), band.gpu_class.c_str(), band.rows, band.p50,
        band.p90);
}

void print_worst(std::vector<accuracy::Outcome> outcomes, std::size_t count) {
  std::map<std::string, int> reasons;
  for (const auto& o : outcomes)
    if (o.skipped) ++reasons[o.kind + ": " + *o.skipped];
  for (const auto& [reason, n] : reasons) std::printf("skipped %d %s\n", n, reason.c_str());
  for (const auto& o : outcomes)
    if (o.correct == false)
      std::printf("wrong %s (%s): needs %.2f GiB, %s\n", o.id.c_str(), o.quantity.c_str(),
                  o.predicted, o.framework.c_str());
  std::erase_if(outcomes, [](const auto& o) { return !o.relative_error; });
  std::stable_sort(outcomes.begin(), outcomes.end(), [](const auto& a, const auto& b) {
    return std::fabs(*a.relative_error) > std::fabs(*b.relative_error);
  });
  for (std::size_t i = 0; i < std::min(count, outcomes.size()); ++i) print_row(outcomes[i]);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments = parse(argc, argv);
  auto report = accuracy::run(catalog::Catalog::embedded(), arguments.documents, arguments.options);
  if (!report) {
    std::fprintf(stderr, "%s: %s\n", report.error().where.c_str(), report.error().message.c_str());
    return 1;
  }
  for (const auto& warning : report->warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  if (!report->explanation.empty()) {
    std::fputs(report->explanation.c_str(), stdout);
    return 0;
  }
  if (arguments.bands) {
    print_bands(*report);
    return 0;
  }
  auto outcomes = report->outcomes;
  std::erase_if(outcomes, [&](const auto& o) {
    return !listed(arguments.kind, o.kind) || !listed(arguments.quality, o.quality) ||
           !listed(arguments.quantity, o.quantity);
  });
  if (arguments.rows) {
    for (const auto& o : outcomes) print_row(o);
    return 0;
  }
  print_summaries(outcomes, arguments.by);
  print_worst(outcomes, arguments.worst);
  return 0;
}
