// The JSON documents: valid against their schemas, and true in themselves.
#include <cmath>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "run_line.hpp"
#include "schema_check.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using test::run_line;

namespace {

using Json = nlohmann::json;

Json document_of(const std::string& line, int status = 0) {
  const cli::Output output = run_line(line);
  INFO(line << "\n" << output.notes);
  REQUIRE(output.status == status);
  return Json::parse(output.text);
}

void check_schema(const std::string& schema, const Json& document) {
  const auto errors = test::schema_errors(schema, document);
  for (const std::string& error : errors) UNSCOPED_INFO(error);
  CHECK(errors.empty());
}

/// The byte terms sum to the peak; the time terms to the step.
void check_sums(const Json& result) {
  const Json& memory = result["memory"];
  std::int64_t bytes = 0;
  for (const char* term : {"weights_bytes", "gradients_bytes", "optimizer_bytes",
                           "activations_bytes", "logits_bytes", "buffers_bytes", "overhead_bytes"})
    bytes += memory[term].get<std::int64_t>();
  CHECK(bytes == memory["gpu_peak_bytes"].get<std::int64_t>());
  const Json& performance = result["performance"];
  double seconds = 0;
  for (const auto& [name, value] : performance["breakdown_s"].items())
    seconds += value.get<double>();
  CHECK_THAT(seconds, WithinRel(performance["step_time_s"].get<double>(), 1e-9));
}

void check_plan(const Json& result) {
  const Json& plan = result["plan"];
  CHECK(plan["tp"].get<int>() * plan["pp"].get<int>() * plan["cp"].get<int>() *
            plan["dp"].get<int>() ==
        result["gpus"].get<int>());
}

void check_cost(const Json& result) {
  const Json& cost = result["cost"];
  if (cost["total"].is_null()) return;
  CHECK_THAT(cost["total"].get<double>(),
             WithinRel(cost["price_per_hour"].get<double>() * result["count"].get<double>() *
                           cost["hours"].get<double>(),
                       1e-9));
}

bool is_snake_case(const std::string& key) {
  return key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

void check_keys(const Json& value) {
  if (value.is_object())
    for (const auto& [key, item] : value.items()) {
      INFO(key);
      CHECK(is_snake_case(key));
      check_keys(item);
    }
  if (value.is_array())
    for (const Json& item : value) check_keys(item);
}

}  // namespace

TEST_CASE("recommend 70B full-ft is a valid and true document") {
  const Json document = document_of("recommend --params 70B --mode full-ft -o json");
  check_schema("recommend", document);
  check_keys(document);
  REQUIRE_FALSE(document["results"].empty());
  for (const Json& result : document["results"]) {
    INFO(result["instance"]);
    check_sums(result);
    check_plan(result);
    check_cost(result);
    // 16 bytes a parameter must lie somewhere: on the GPUs, or in host memory.
    const bool offloaded = !result["plan"]["offload"].empty();
    const double states = 16 * document["request"]["model"]["parameters_total"].get<double>();
    const double on_gpus =
        result["memory"]["gpu_usable_bytes"].get<double>() * result["gpus"].get<double>();
    if (!offloaded) CHECK(on_gpus >= states);
    CHECK(result["memory"]["verdict"] != "does_not_fit");
  }
}

TEST_CASE("ranks count up and no family stands twice") {
  const Json document = document_of("recommend --params 7B --mode lora -o json");
  check_schema("recommend", document);
  std::set<std::string> instances;
  int rank = 0;
  for (const Json& result : document["results"]) {
    CHECK(result["rank"] == ++rank);
    CHECK(instances.insert(result["instance"].get<std::string>()).second);
  }
}

TEST_CASE("every assumption names its flag and every value its origin") {
  const Json request = document_of("recommend --params 7B --mode lora -o json")["request"];
  CHECK(request["origins"]["mode"] == "flag");
  CHECK(request["origins"]["seq_len"] == "default");
  CHECK(request["seq_len"] == 2048);
  bool found = false;
  for (const Json& assumption : request["assumed"]) {
    CHECK(assumption["flag"].get<std::string>().rfind("--", 0) == 0);
    if (assumption["field"] == "seq_len") found = assumption["value"] == 2048;
  }
  CHECK(found);
}

TEST_CASE("estimate and plan give the same kind of document") {
  const Json estimate = document_of(
      "estimate --model llama-3-8b --mode full-ft --gpu A100-SXM4-80GB --gpus 8 --sharding zero3 "
      "-o json");
  check_schema("recommend", estimate);
  REQUIRE(estimate["results"].size() == 1);
  CHECK(estimate["results"][0]["plan"]["zero_stage"] == 3);
  CHECK(estimate["results"][0]["instance"].is_null());
  check_sums(estimate["results"][0]);

  const Json plan = document_of(
      "plan --model llama-3-8b --mode full-ft --gpu A100-SXM4-80GB --gpus 8 --top 4 --json");
  check_schema("recommend", plan);
  REQUIRE(plan["results"].size() == 4);
  double last = 0;
  for (const Json& result : plan["results"]) {
    check_sums(result);
    check_plan(result);
    CHECK(result["performance"]["step_time_s"].get<double>() >= last);
    last = result["performance"]["step_time_s"].get<double>();
  }
}

TEST_CASE("a plan that does not fit is printed with status 1") {
  const Json document = document_of(
      "estimate --model llama-3-70b --mode full-ft --gpu A10 --gpus 8 --sharding zero3 --offload "
      "none -o json",
      1);
  check_schema("recommend", document);
  CHECK(document["results"][0]["memory"]["verdict"] == "does_not_fit");
}

TEST_CASE("nothing fits is a valid document with status 1") {
  const Json document = document_of("recommend --params 1T --mode full-ft --max-gpus 8 -o json", 1);
  check_schema("recommend", document);
  CHECK(document["results"].empty());
  CHECK_FALSE(document["rejected"].empty());
  CHECK_FALSE(document["relaxations"].empty());
}

TEST_CASE("check says yes and no") {
  const Json yes = document_of("check --params 7B --mode lora -o json");
  check_schema("check", yes);
  CHECK(yes["ok"] == true);
  const Json no =
      document_of("check --params 7B --mode lora --budget 1CNY --deadline 1s -o json", 1);
  check_schema("check", no);
  CHECK(no["ok"] == false);
  REQUIRE(no["checks"].size() == 3);
  CHECK(no["checks"][0]["ok"] == true);
  CHECK(no["checks"][1]["ok"] == false);
  CHECK(no["checks"][2]["ok"] == false);
}

TEST_CASE("catalog and models documents are valid") {
  const Json list = document_of("catalog list -o json");
  check_schema("catalog", list);
  CHECK(list["instances"].size() > 100);
  check_schema("catalog", document_of("catalog show ecs.gn7i-c8g1.2xlarge -o json"));
  const Json models = document_of("models list -o json");
  check_schema("models", models);
  CHECK(models["models"].size() > 50);
  const Json model = document_of("models show llama-3-8b -o json");
  check_schema("models", model);
  CHECK(model["parameters_total"] == 8030261248);
  // 2 (k and v) x 32 layers x 8 heads x 128 x 2 bytes
  CHECK(model["kv_bytes_per_token"] == 131072);
}

TEST_CASE("accuracy document is valid") {
  const Json document = document_of("accuracy -o json");
  check_schema("accuracy", document);
  CHECK(document["rows"].size() > 100);
}

TEST_CASE("the schemas refuse what the contract forbids") {
  Json document = document_of("check --params 7B --mode lora -o json");
  document.erase("checks");
  CHECK_FALSE(test::schema_errors("check", document).empty());
  Json ranking = document_of("recommend --params 7B --mode lora --top 1 -o json");
  ranking["results"][0]["memory"]["weights_bytes"] = 1.5;
  CHECK_FALSE(test::schema_errors("recommend", ranking).empty());
  ranking = document_of("recommend --params 7B --mode lora --top 1 -o json");
  ranking["results"][0]["memory"].erase("error_p50");
  CHECK_FALSE(test::schema_errors("recommend", ranking).empty());
}

TEST_CASE("the same question has the same bytes") {
  const std::string line = "recommend --params 13B --mode full-ft -o json";
  CHECK(run_line(line).text == run_line(line).text);
}

TEST_CASE("a model file gives the same counts as its preset") {
  const std::string folder = std::string(GPUADVISOR_SOURCE_DIR) + "/tests/unit/cli/model";
  const Json read = document_of("models read " + folder + "/config.json -o json");
  check_schema("models", read);
  CHECK(read["parameters_total"] == 8030261248);  // llama-3-8b
  CHECK(document_of("models read " + folder + " -o json")["parameters_total"] == 8030261248);
  const Json ranking =
      document_of("recommend --model-file " + folder + " --mode lora --top 1 -o json");
  CHECK(ranking["request"]["model"]["parameters_total"] == 8030261248);
  CHECK(run_line("models read /nowhere").status == cli::kBadInput);
  CHECK(run_line("recommend --model-file /nowhere --mode lora").status == cli::kBadInput);
}
