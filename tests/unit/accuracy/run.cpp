#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "gpuadvisor/accuracy.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::accuracy;

namespace {

Result<Report> run_text(const std::string& text, const Options& options = {}) {
  const std::vector<Document> documents = {{"rows.json", text}};
  return run(catalog::Catalog::embedded(), documents, options);
}

const char* const kRow = R"({"id":"r1","kind":"train_memory","quality":"A","source":"s",
  "model":{"preset":"llama-2-7b"},"run":{"mode":"lora","precision":"bf16","recompute":"full",
  "framework":"hf","seq_len":2048,"micro_batch":1,"lora":{"rank":8}},
  "cluster":{"gpu":"A100-SXM4-80GB","gpus":1},"plan":{"sharding":"none"},
  "measured":{"quantity":"QUANTITY","value":20}})";

std::string document(const std::string& quantity) {
  std::string row = kRow;
  row.replace(row.find("QUANTITY"), 8, quantity);
  return "{\"rows\":[" + row + "]}";
}

}  // namespace

TEST_CASE("only broken JSON or a document without rows is an error") {
  CHECK_FALSE(run_text("{\"rows\":[").has_value());
  CHECK_FALSE(run_text("{}").has_value());
  CHECK_FALSE(run_text("[]").has_value());
  CHECK_FALSE(run_text("{\"rows\":3}").has_value());
  CHECK(run_text("{}").error().code == ErrorCode::input);
  CHECK(run_text("{}").error().where == "rows.json");
  CHECK(run_text("{\"rows\":[]}").has_value());
}

TEST_CASE("strange rows are skipped with a reason, never dropped") {
  const auto report = run_text(R"({"rows":[3, {}, {"kind":"colour"}, {"kind":"train_memory"},
    {"kind":"train_speed","model":[],"run":7,"cluster":null,"plan":"x","measured":{"step_time_s":"a"}}]})");
  REQUIRE(report.has_value());
  REQUIRE(report->outcomes.size() == 5);
  for (const Outcome& outcome : report->outcomes) {
    REQUIRE(outcome.skipped.has_value());
    CHECK_FALSE(outcome.skipped->empty());
  }
}

TEST_CASE("each outcome is an error, a judgement or a skip") {
  for (const char* quantity :
       {"max_allocated_gib", "max_reserved_gib", "nvidia_smi_gib", "observed_gib", "max_seq_len"}) {
    const auto report = run_text(document(quantity));
    REQUIRE(report.has_value());
    const Outcome& outcome = report->outcomes.at(0);
    REQUIRE(outcome.relative_error.has_value());
    CHECK(std::isfinite(*outcome.relative_error));
    CHECK_FALSE(outcome.correct.has_value());
  }
  CHECK(run_text(document("fits"))->outcomes.at(0).correct == true);
  CHECK(run_text(document("oom"))->outcomes.at(0).correct == false);
  CHECK(run_text(document("weight_kg"))->outcomes.at(0).skipped.has_value());
}

TEST_CASE("reserved is at least allocated, nvidia-smi more") {
  const double allocated = run_text(document("max_allocated_gib"))->outcomes[0].predicted;
  const double reserved = run_text(document("max_reserved_gib"))->outcomes[0].predicted;
  const double smi = run_text(document("nvidia_smi_gib"))->outcomes[0].predicted;
  CHECK(allocated > 13);  // 6.7e9 weights of 2 bytes alone are 12.6 GiB
  CHECK(reserved >= allocated);
  CHECK(smi > reserved);
}

TEST_CASE("explain shows one row's terms beside the measured value") {
  Options options;
  options.explain_id = "r1";
  const auto report = run_text(document("max_allocated_gib"), options);
  CHECK(report->explanation.find("weights") != std::string::npos);
  CHECK(report->explanation.find("measured max_allocated_gib: 20") != std::string::npos);
  options.explain_id = "r2";
  CHECK(run_text(document("max_allocated_gib"), options)->warnings.size() == 1);
}

TEST_CASE("the built-in rows are all read and almost all predicted") {
  const auto documents = embedded_measurements();
  REQUIRE(documents.size() == 4);
  const auto report = run(catalog::Catalog::embedded(), documents, {});
  REQUIRE(report.has_value());
  std::size_t rows[2] = {0, 0};
  std::size_t skipped[2] = {0, 0};
  std::set<std::string> ids;
  for (const Outcome& outcome : report->outcomes) {
    const int set =
        (outcome.relative_error ? 1 : 0) + (outcome.correct ? 1 : 0) + (outcome.skipped ? 1 : 0);
    REQUIRE(set == 1);
    const bool memory = outcome.kind == "train_memory";
    if (!memory && outcome.kind != "train_speed") continue;
    ++rows[memory ? 0 : 1];
    if (outcome.skipped) ++skipped[memory ? 0 : 1];
    ids.insert(outcome.id);
  }
  CHECK(rows[0] == 351);
  CHECK(rows[1] == 628);
  CHECK(ids.size() == rows[0] + rows[1]);
  CHECK(skipped[0] * 100 <= rows[0] * 3);
  CHECK(skipped[1] * 100 <= rows[1] * 3);
}

TEST_CASE("memory beside speeds is compared on demand") {
  const auto documents = embedded_measurements();
  Options options;
  options.with_speed_memory = true;
  const auto with = run(catalog::Catalog::embedded(), std::span(documents).subspan(1, 1), options);
  std::size_t memory = 0;
  for (const Outcome& outcome : with->outcomes) memory += outcome.kind == "train_memory" ? 1U : 0U;
  CHECK(memory == 162);
}
