// A ranking made by hand, in every format.
#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "gpuadvisor/report.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::report;

namespace {

catalog::Gpu sample_gpu() {
  catalog::Gpu gpu;
  gpu.id = "A10";
  return gpu;
}

catalog::Instance sample_instance(std::string_view name, std::string_view family) {
  catalog::Instance instance;
  instance.name = name;
  instance.provider = "aliyun";
  instance.family = family;
  instance.gpu = "A10";
  instance.gpus = 1;
  return instance;
}

/// One result with simple numbers and one rejection.
struct Sample {
  catalog::Gpu gpu = sample_gpu();
  catalog::Instance good = sample_instance("ecs.good", "ecs.g");
  catalog::Instance bad = sample_instance("ecs.bad", "ecs.b");
  advisor::Ranking ranking;

  Sample() {
    ranking.command = "recommend";
    ranking.catalog_date = "2026-01-01";
    ranking.query.model.label = "7B";
    ranking.query.request.mode = workload::Mode::lora;
    ranking.query.request.seq_len = 1024;
    ranking.counts.total = ranking.counts.active = 7e9;
    ranking.assumed = {{"global_batch", "16", "--global-batch"}, {"loss", "plain", "--loss"}};
    advisor::ResultRow row;
    row.rank = 1;
    row.instance = &good;
    row.gpu = &gpu;
    row.count = 2;
    row.cluster.gpus = 2;
    row.cluster.gpus_per_node = 1;
    row.cluster.gpu_memory_bytes = 20 * kGiB;
    row.best.memory.peak.weights = 10 * kGiB;
    row.best.memory.peak.activations = 4.5;  // rounds up on its own
    row.best.memory.overhead_bytes = 1 * kGiB;
    row.best.verdict = memory::Verdict::fits;
    row.best.performance.step_time_s = 2.0;
    row.best.performance.breakdown.compute = 1.5;
    row.best.performance.breakdown.bubble = 0.5;
    row.best.performance.tokens_per_s = 8192;
    row.best.performance.mfu = 0.4;
    cost::Quote quote;
    quote.per_hour = 10;
    quote.currency = quote.original_currency = "CNY";
    quote.original_per_hour = 10;
    quote.region = "cn-hangzhou";
    quote.date = "2025-12-31";
    row.quote = quote;
    row.cost.hours = 3;
    row.cost.total = 60;  // 10 x 2 x 3
    row.score = {0.9, 1, 1, 0.75};
    row.reasons = {"it is the cheapest"};
    row.warnings = {{advisor::WarningCode::no_rdma, "nodes without RDMA"}};
    ranking.results = {row};
    ranking.fitting_families = {"ecs.g"};
    ranking.rejected = {
        {&bad, 1, advisor::RejectCode::gpu_memory, "3 GiB missing", 3 * kGiB},
        {&good, 1, advisor::RejectCode::host_memory, "host too small", std::nullopt}};
    ranking.next_steps = {"run a pilot"};
    ranking.warnings = {{advisor::WarningCode::old_price, "prices are old"}};
  }
};

}  // namespace

TEST_CASE("the JSON of a ranking follows the contract") {
  const Sample sample;
  const auto json = nlohmann::json::parse(render(sample.ranking, Format::json, {}));
  CHECK(json["schema_version"] == "1");
  CHECK(json["catalog_date"] == "2026-01-01");
  const auto& result = json["results"][0];
  CHECK(result["instance"] == "ecs.good");
  CHECK(result["nodes"] == 2);
  // 10 GiB + 5 (4.5 rounds away from zero) + 1 GiB, all whole
  CHECK(result["memory"]["gpu_peak_bytes"] == 11811160064 + 5);
  CHECK(result["memory"]["error_p50"].is_null());
  CHECK(result["performance"]["breakdown_s"]["bubble"] == 0.5);
  CHECK(result["cost"]["total"] == 60);
  CHECK(result["cost"]["rate"].is_null());
  CHECK(result["cost"]["original"]["currency"] == "CNY");
  CHECK(json["rejected"][0]["missing_bytes"] == 3221225472);
  CHECK(json["rejected"][1]["missing_bytes"].is_null());
  CHECK(json["request"]["seq_len"] == 1024);
  CHECK(json["request"]["origins"]["seq_len"] == "flag");
  CHECK(json["request"]["global_batch"] == 16);
  CHECK(json["request"]["origins"]["global_batch"] == "default");
  CHECK(json["request"]["assumed"][0]["value"] == 16);
  CHECK(json["request"]["assumed"][1]["value"] == "plain");
}

TEST_CASE("a result without a price has nulls, not zeros") {
  Sample sample;
  sample.ranking.results[0].quote.reset();
  sample.ranking.results[0].cost.total.reset();
  const auto json = nlohmann::json::parse(render(sample.ranking, Format::json, {}));
  const auto& cost = json["results"][0]["cost"];
  for (const char* key :
       {"price_kind", "price_per_hour", "region", "original", "price_date", "total"}) {
    INFO(key);
    CHECK(cost.contains(key));
    CHECK(cost[key].is_null());
  }
  CHECK(cost["currency"] == "CNY");
  CHECK_THAT(render(sample.ranking, Format::table, {}), ContainsSubstring("no price"));
}

TEST_CASE("the table tells result, reason, assumptions, rejections, advice, warnings") {
  const Sample sample;
  const std::string text = render(sample.ranking, Format::table, {});
  for (const char* part :
       {"ecs.good x 2", "11.0/20.0", "it is the cheapest", "--global-batch 16",
        "ecs.bad x 1: 3 GiB missing [gpu_memory]", "ecs.good x 1: host too small", "run a pilot",
        "prices are old [old_price]", "[no_rdma; results 1]", "10.00 CNY an instance and hour"}) {
    INFO(part);
    CHECK_THAT(text, ContainsSubstring(part));
  }
}

TEST_CASE("rejected candidates replace results in CSV") {
  const Sample sample;
  Style style;
  style.all_rejected = true;
  CHECK(render(sample.ranking, Format::csv, style) ==
        "provider,instance,count,code,missing_bytes,message\r\n"
        "aliyun,ecs.bad,1,gpu_memory,3221225472,3 GiB missing\r\n"
        "aliyun,ecs.good,1,host_memory,,host too small\r\n");
  CHECK_THAT(render(sample.ranking, Format::table, style), ContainsSubstring("3.00 GiB"));
}

TEST_CASE("CSV and JSON hold the same figures") {
  const Sample sample;
  std::istringstream csv(render(sample.ranking, Format::csv, {}));
  std::string header, row;
  std::getline(csv, header);
  std::getline(csv, row);
  CHECK(header.find("gpu_peak_bytes") != std::string::npos);
  for (const char* figure : {"8192", "0.4", "60", "cn-hangzhou", "2025-12-31", "ecs.good"}) {
    INFO(figure);
    CHECK(row.find(figure) != std::string::npos);
  }
}

TEST_CASE("no results still make a table and a document") {
  Sample sample;
  sample.ranking.results.clear();
  sample.ranking.relaxations = {"use qlora"};
  CHECK_THAT(render(sample.ranking, Format::table, {}),
             ContainsSubstring("Nothing fits") && ContainsSubstring("use qlora"));
  CHECK(nlohmann::json::parse(render(sample.ranking, Format::json, {}))["results"].empty());
  const std::string csv = render(sample.ranking, Format::csv, {});
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1);
}

TEST_CASE("a narrow table keeps to its width") {
  const Sample sample;
  Style style;
  style.columns = 80;
  std::istringstream text(render(sample.ranking, Format::table, style));
  for (std::string line; std::getline(text, line);) {
    INFO(line);
    CHECK(line.size() <= 80);
  }
}
