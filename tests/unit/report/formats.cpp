// Grids, and documents of facts made by hand.
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "gpuadvisor/report.hpp"
#include "report/format.hpp"
#include "report/grid.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::report;

namespace {

Grid sample() {
  Grid grid;
  grid.columns = {{"name", "name", Align::left, 0},
                  {"size_bytes", "GiB", Align::right, 0},
                  {"note", "note", Align::left, 1},
                  {"hidden", "hidden", Align::left, 0, true}};
  grid.rows.push_back(
      {std::string("a"), {"1.5", "1610612736"}, std::string("x|y, \"z\""), std::string("h1")});
  grid.rows.push_back({std::string("long name"),
                       {"10.0", "10737418240"},
                       std::string("two\nlines"),
                       std::string("h2")});
  return grid;
}

}  // namespace

TEST_CASE("a table aligns numbers right and drops columns that do not fit") {
  CHECK(table_text(sample(), 0, false).rfind("name        GiB  note\n", 0) == 0);
  CHECK(table_text(sample(), 15, false) ==
        "name        GiB\n"
        "a           1.5\n"
        "long name  10.0\n");
}

TEST_CASE("a text too wide for the terminal is cut and marked") {
  Grid grid;
  grid.columns = {{"text", "text"}, {"n", "n", Align::right}};
  grid.rows.push_back({std::string(100, 'x'), std::string("1")});
  CHECK(table_text(grid, 20, false) ==
        "text               n\n"
        "xxxxxxxxxxxxxx...  1\n");
  CHECK_THAT(table_text(grid, 0, false), ContainsSubstring(std::string(100, 'x')));
}

TEST_CASE("CSV follows RFC 4180 and keeps raw values") {
  CHECK(csv_text(sample()) ==
        "name,size_bytes,note,hidden\r\n"
        "a,1610612736,\"x|y, \"\"z\"\"\",h1\r\n"
        "long name,10737418240,\"two\nlines\",h2\r\n");
}

TEST_CASE("Markdown escapes pipes and breaks") {
  CHECK(markdown_text(sample()) ==
        "| name | GiB | note |\n|---|---:|---|\n"
        "| a | 1.5 | x\\|y, \"z\" |\n"
        "| long name | 10.0 | two lines |\n");
}

TEST_CASE("short forms of numbers") {
  CHECK(short_number(1234.4) == "1,234");
  CHECK(short_number(12.34) == "12.3");
  CHECK(short_number(0.1234) == "0.123");
  CHECK(short_number(99.96) == "100");
  CHECK(short_number(std::numeric_limits<double>::infinity()) == "?");
  CHECK(percent(0.4567) == "45.7%");
  CHECK(bar(50, 100) == "#####.....");
  CHECK(bar(500, 100) == "##########");
  CHECK(bar(1, 0) == "..........");
  CHECK(with_band("12", 0.25) == "12 +-25%");
  CHECK(with_band("12", std::nullopt) == "12");
  CHECK(raw_number(std::nan("")).empty());
}

TEST_CASE("accuracy rows hold exactly one verdict and no NaN") {
  accuracy::Report report;
  accuracy::Outcome predicted;
  predicted.id = "row-1";
  predicted.predicted = 11;
  predicted.measured = 10;
  predicted.relative_error = 0.1;
  accuracy::Outcome skipped;
  skipped.id = "row-2";
  skipped.predicted = std::nan("");
  skipped.skipped = "unknown GPU";
  report.outcomes = {predicted, skipped};
  accuracy::Summary summary;
  summary.kind = "train_memory";
  summary.group = "all";
  summary.rows = 2;
  summary.median_abs_error = std::nan("");
  report.summaries = {summary};
  report.warnings = {"1 unknown key"};

  const auto json =
      nlohmann::json::parse(render_accuracy(report, {"2026-01-01", {}}, Format::json, {}));
  CHECK(json["rows"][0]["relative_error"] == 0.1);
  CHECK(json["rows"][0]["skipped"].is_null());
  CHECK(json["rows"][1]["relative_error"].is_null());
  CHECK(json["rows"][1]["predicted"].is_null());
  CHECK(json["rows"][1]["skipped"] == "unknown GPU");
  CHECK(json["summary"][0]["median_abs_error"].is_null());
  CHECK(json["warnings"].size() == 1);
}

TEST_CASE("checks are yes and no in every format") {
  const std::vector<Check> checks = {{"fits", true, "it fits"}, {"budget", false, "too dear"}};
  const auto json =
      nlohmann::json::parse(render_checks(checks, {"2026-01-01", {}}, Format::json, {}));
  CHECK(json["ok"] == false);
  CHECK(json["checks"][1]["name"] == "budget");
  CHECK(render_checks(checks, {}, Format::csv, {}) ==
        "check,ok,message\r\nfits,true,it fits\r\nbudget,false,too dear\r\n");
}

TEST_CASE("invalid UTF-8 does not break a document") {
  ModelFacts facts;
  facts.name = "bad \xff name";
  facts.architecture.layers = 1;
  CHECK_NOTHROW(nlohmann::json::parse(render_model(facts, {"2026-01-01", {}}, Format::json, {})));
}
