// Launch files hold exactly the plan that was estimated.
#include "gpuadvisor/emit.hpp"

#include <nlohmann/json.hpp>

#include "test_support/catch.hpp"

using namespace gpuadvisor;

namespace {

advisor::Query question(std::string_view preset, workload::Mode mode) {
  advisor::Query query;
  query.model.architecture = model::find_preset(preset)->architecture;
  query.model.label = std::string(preset);
  query.request.mode = mode;
  query.top = 1;
  query.threads = 1;
  return query;
}

/// The best result for the question, and what emit reads.
struct Answer {
  advisor::Query query;
  advisor::Ranking ranking;
  [[nodiscard]] emit::Job job() const { return {&query, &ranking.results.front()}; }
};

Answer answer(advisor::Query query) {
  auto ranking = advisor::recommend(catalog::Catalog::embedded(), query);
  REQUIRE(ranking.has_value());
  REQUIRE_FALSE(ranking->results.empty());
  return {std::move(query), std::move(*ranking)};
}

Answer training(workload::Framework framework) {
  advisor::Query query = question("llama-3.1-8b", workload::Mode::full_ft);
  query.request.framework = framework;
  return answer(std::move(query));
}

Answer serve(std::string_view preset) { return answer(question(preset, workload::Mode::serve)); }

}  // namespace

TEST_CASE("target names are read back") {
  for (const auto name : emit::target_names()) {
    const auto target = emit::target_from_string(name);
    REQUIRE(target.has_value());
    CHECK(emit::to_string(*target) == name);
  }
  CHECK_FALSE(emit::target_from_string("docker").has_value());
}

TEST_CASE("DeepSpeed sizes multiply to the global batch and name the stage") {
  const Answer best = training(workload::Framework::deepspeed);
  const auto text = emit::file(best.job(), emit::Target::deepspeed);
  REQUIRE(text.has_value());
  const auto config = nlohmann::json::parse(*text);
  const advisor::ResultRow& row = best.ranking.results.front();
  const auto micro = config.at("train_micro_batch_size_per_gpu").get<std::int64_t>();
  const auto accumulation = config.at("gradient_accumulation_steps").get<std::int64_t>();
  CHECK(micro * accumulation * row.best.plan.dp ==
        config.at("train_batch_size").get<std::int64_t>());
  CHECK(config.at("train_batch_size").get<std::int64_t>() == row.training.global_batch);
  CHECK(config.at("zero_optimization").at("stage").get<int>() ==
        workload::zero_stage(row.best.plan.sharding));
  const bool offload = (row.best.plan.offload & workload::kOffloadOptimizer) != 0;
  CHECK(config.at("zero_optimization").contains("offload_optimizer") == offload);
}

TEST_CASE("Megatron arguments restate the plan and the shape") {
  const Answer best = training(workload::Framework::megatron);
  const auto text = emit::file(best.job(), emit::Target::megatron);
  REQUIRE(text.has_value());
  const workload::Plan& plan = best.ranking.results.front().best.plan;
  CHECK_THAT(*text, ContainsSubstring("--tensor-model-parallel-size " + std::to_string(plan.tp)));
  CHECK_THAT(*text, ContainsSubstring("--pipeline-model-parallel-size " + std::to_string(plan.pp)));
  CHECK_THAT(*text, ContainsSubstring("--num-layers 32 --hidden-size 4096"));
  CHECK_THAT(*text, ContainsSubstring("--num-query-groups 8"));
}

TEST_CASE("a target that cannot express the plan is refused") {
  Answer best = training(workload::Framework::deepspeed);
  best.ranking.results.front().best.plan.pp = 2;
  for (const auto target : {emit::Target::deepspeed, emit::Target::fsdp}) {
    const auto text = emit::file(best.job(), target);
    REQUIRE_FALSE(text.has_value());
    CHECK(text.error().code == ErrorCode::usage);
    CHECK_THAT(text.error().message, ContainsSubstring("PP2"));
  }
  const auto text = emit::file(best.job(), emit::Target::vllm);
  REQUIRE_FALSE(text.has_value());
  CHECK_THAT(text.error().message, ContainsSubstring("the job is training"));
}

TEST_CASE("serving commands carry length, batch, tensor parallel size and format") {
  const Answer best = serve("qwen2.5-7b");
  const int tp = best.ranking.results.front().serving->plan.tp;
  const auto vllm = emit::file(best.job(), emit::Target::vllm);
  REQUIRE(vllm.has_value());
  CHECK_THAT(*vllm, ContainsSubstring("--tensor-parallel-size " + std::to_string(tp)));
  CHECK_THAT(*vllm, ContainsSubstring("--max-model-len 1280"));  // 1024 in, 256 out
  CHECK_THAT(*vllm, ContainsSubstring("Qwen/Qwen2.5-7B"));
  const auto llama = emit::file(best.job(), emit::Target::llama_cpp);
  REQUIRE(llama.has_value());
  CHECK_THAT(*llama, ContainsSubstring("--parallel 16"));
  const auto eas = emit::file(best.job(), emit::Target::pai_eas);
  REQUIRE(eas.has_value());
  const auto document = nlohmann::json::parse(*eas);
  CHECK(document.at("cloud").at("computing").at("instances").at(0).at("type").get<std::string>() ==
        best.ranking.results.front().instance->name);
}

TEST_CASE("orders name type, count and spot price limit") {
  Answer best = training(workload::Framework::deepspeed);
  best.query.price_kind = catalog::PriceKind::spot;
  const advisor::ResultRow& row = best.ranking.results.front();
  const auto order = emit::file(best.job(), emit::Target::aliyun);
  REQUIRE(order.has_value());
  CHECK_THAT(*order, ContainsSubstring("--InstanceType " + std::string(row.instance->name)));
  CHECK_THAT(*order, ContainsSubstring("--Amount " + std::to_string(row.count)));
  CHECK_THAT(*order, ContainsSubstring("--SpotStrategy SpotWithPriceLimit"));
}
