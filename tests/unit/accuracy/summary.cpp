#include "accuracy/summary.hpp"

#include "test_support/catch.hpp"

using namespace gpuadvisor::accuracy;
using Catch::Matchers::WithinAbs;

namespace {

Outcome error(std::string kind, std::string quality, double value) {
  Outcome outcome;
  outcome.kind = std::move(kind);
  outcome.quality = std::move(quality);
  outcome.relative_error = value;
  return outcome;
}

const Summary& group(const std::vector<Summary>& all, const std::string& kind,
                     const std::string& name) {
  for (const Summary& summary : all)
    if (summary.kind == kind && summary.group == name) return summary;
  FAIL("no group " << name);
  throw;
}

}  // namespace

TEST_CASE("percentiles interpolate between closest ranks") {
  CHECK(percentile({}, 0.5) == 0);
  CHECK(percentile({3}, 0.9) == 3);
  // sorted 1 2 3 4: position 0.5 x 3 = 1.5 -> 2.5; 0.9 x 3 = 2.7 -> 3 + 0.7
  CHECK_THAT(percentile({4, 1, 3, 2}, 0.5), WithinAbs(2.5, 1e-12));
  CHECK_THAT(percentile({4, 1, 3, 2}, 0.9), WithinAbs(3.7, 1e-12));
  CHECK_THAT(percentile({4, 1, 3, 2}, 1.0), WithinAbs(4, 1e-12));
}

TEST_CASE("summaries count errors, skips and judgements apart") {
  std::vector<Outcome> outcomes = {error("train_memory", "A", -0.1),
                                   error("train_memory", "A", 0.3), error("train_memory", "B", 0.2),
                                   error("train_speed", "A", 0.5)};
  Outcome skipped;
  skipped.kind = "train_memory";
  skipped.quality = "A";
  skipped.skipped = "why";
  Outcome right = skipped;
  right.skipped.reset();
  right.correct = true;
  Outcome wrong = right;
  wrong.correct = false;
  outcomes.insert(outcomes.end(), {skipped, right, wrong});
  const auto all = summarise(outcomes);
  const Summary& memory = group(all, "train_memory", "all");
  CHECK(memory.rows == 6);
  CHECK(memory.skipped == 1);
  CHECK(memory.right == 1);
  CHECK(memory.judged == 2);
  CHECK_THAT(memory.median_abs_error, WithinAbs(0.2, 1e-12));  // of 0.1 0.2 0.3
  CHECK_THAT(memory.mean_abs_error, WithinAbs(0.2, 1e-12));
  CHECK_THAT(memory.bias, WithinAbs(0.2, 1e-12));  // of -0.1 0.2 0.3
  CHECK(group(all, "train_memory", "quality A").rows == 5);
  CHECK_THAT(group(all, "train_memory", "quality A").p90_abs_error, WithinAbs(0.28, 1e-12));
  CHECK(group(all, "train_speed", "all").rows == 1);
}

TEST_CASE("the plot holds one dot a compared figure") {
  Report report;
  report.outcomes = {error("train_memory", "A", 0.25), error("train_speed", "A", 0.0)};
  report.outcomes[0].id = "a<b";
  report.outcomes[0].quantity = "max_allocated_gib";
  report.outcomes[0].predicted = 12.5;
  report.outcomes[0].measured = 10;
  report.outcomes[1].quantity = "step_time_s";
  report.outcomes[1].predicted = report.outcomes[1].measured = 3;
  Outcome skipped;
  skipped.skipped = "no";
  report.outcomes.push_back(skipped);
  const std::string svg = plot_svg(report);
  std::size_t dots = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos;
       at = svg.find("<circle", at + 1))
    ++dots;
  CHECK(dots == 2);
  CHECK(svg.find("a&lt;b: predicted 12.5, measured 10 (+25.0%)") != std::string::npos);
  CHECK(svg.rfind("<svg", 0) == 0);
  CHECK(plot_svg({}).find("</svg>") != std::string::npos);
}
