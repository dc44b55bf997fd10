// The request as understood: every value, and whether it was said or assumed.
#include <charconv>

#include "report/json.hpp"

namespace gpuadvisor::report {
namespace {

/// Collects values with their origin.
class RequestFields {
 public:
  void said(const char* field, Json value) {
    if (values_.contains(field)) return;
    values_[field] = std::move(value);
    origins_[field] = "flag";
  }
  template <class T>
  void said_number(const char* field, const std::optional<T>& value) {
    if (value) said(field, Json(*value));
  }
  template <class E>
  void said_name(const char* field, const std::optional<E>& value) {
    if (value) said(field, Json(workload::to_string(*value)));
  }
  void assumed(const std::string& field, Json value) {
    if (values_.contains(field)) return;
    values_[field] = std::move(value);
    origins_[field] = "default";
  }
  [[nodiscard]] Json&& values() { return std::move(values_); }
  [[nodiscard]] Json&& origins() { return std::move(origins_); }

 private:
  Json values_ = Json::object();
  Json origins_ = Json::object();
};

/// An assumed value as JSON: a number where its text is one.
Json typed(const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, integer);
      error == std::errc{} && stop == end)
    return integer;
  double real = 0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, real);
      error == std::errc{} && stop == end)
    return number(real);
  if (text == "true" || text == "false") return text == "true";
  return text;
}

void add_run(RequestFields& fields, const workload::Request& request) {
  fields.said_name("mode", request.mode);
  fields.said_name("precision", request.precision);
  fields.said_name("optimizer", request.optimizer);
  fields.said_name("recompute", request.recompute);
  fields.said_name("attention", request.attention);
  fields.said_name("framework", request.framework);
  fields.said_name("kernel_profile", request.kernel_profile);
  fields.said_name("loss", request.loss);
  fields.said_name("quant", request.quant);
  fields.said_number("seq_len", request.seq_len);
  fields.said_number("global_batch", request.global_batch);
  fields.said_number("tokens", request.tokens);
  fields.said_number("samples", request.samples);
  fields.said_number("epochs", request.epochs);
  fields.said_number("lora_rank", request.lora_rank);
  if (request.lora_targets) fields.said("lora_targets", array_of(*request.lora_targets));
}

void add_plan(RequestFields& fields, const planner::Constraints& plan) {
  fields.said_number("tp", plan.tp);
  fields.said_number("pp", plan.pp);
  fields.said_number("vpp", plan.vpp);
  fields.said_number("cp", plan.cp);
  fields.said_number("ep", plan.ep);
  fields.said_number("dp", plan.dp);
  fields.said_number("micro_batch", plan.micro_batch);
  fields.said_name("sharding", plan.sharding);
  fields.said_number("zero_stage", plan.zero_stage);
  fields.said_number("sequence_parallel", plan.sequence_parallel);
  fields.said_name("schedule", plan.schedule);
  fields.said_name("recompute", plan.recompute);
}

void add_serving(RequestFields& fields, const serving::Request& request) {
  fields.said("engine", serving::to_string(request.engine));
  fields.said("input_len", number(request.input_len));
  fields.said("output_len", number(request.output_len));
  fields.said("concurrency", number(request.concurrency));
}

Json model_json(const advisor::Ranking& ranking) {
  Json json = Json::object();
  json["label"] = ranking.query.model.label;
  json["note"] = text_or_null(ranking.query.model.note);
  json["parameters_total"] = whole(ranking.counts.total);
  json["parameters_active"] = whole(ranking.counts.active);
  json["layers"] = ranking.query.model.architecture.layers;
  json["hidden"] = ranking.query.model.architecture.hidden;
  json["heads"] = ranking.query.model.architecture.heads;
  json["kv_heads"] = ranking.query.model.architecture.kv_heads;
  json["vocab"] = ranking.query.model.architecture.vocab;
  return json;
}

Json limits_json(const advisor::Query& query) {
  Json json = Json::object();
  json["providers"] = array_of(query.providers);
  json["gpus"] = array_of(query.gpus);
  json["instances"] = array_of(query.instances);
  json["region"] = text_or_null(query.region);
  json["max_nodes"] = query.max_nodes;
  json["max_gpus"] = query.max_gpus ? Json(*query.max_gpus) : Json(nullptr);
  Json budget = nullptr;
  if (query.budget) {
    budget = Json::object();
    budget["amount"] = number(query.budget->amount);
    budget["currency"] = query.budget->currency;
  }
  json["budget"] = std::move(budget);
  json["deadline_s"] = number(query.deadline_s);
  json["price_kind"] = catalog::to_string(query.price_kind);
  json["currency"] = query.currency;
  json["min_headroom"] = number(query.constraints.min_headroom);
  json["include_retired"] = query.include_retired;
  return json;
}

Json assumed_json(std::span<const workload::Assumption> assumed) {
  Json array = Json::array();
  for (const workload::Assumption& assumption : assumed) {
    Json json = Json::object();
    json["field"] = assumption.field;
    json["value"] = typed(assumption.value);
    json["flag"] = assumption.flag;
    array.push_back(std::move(json));
  }
  return array;
}

}  // namespace

Json request_json(const advisor::Ranking& ranking) {
  const advisor::Query& query = ranking.query;
  RequestFields fields;
  add_run(fields, query.request);
  add_plan(fields, query.constraints);
  if (query.request.mode == workload::Mode::serve) add_serving(fields, query.serve);
  for (const workload::Assumption& assumption : ranking.assumed)
    fields.assumed(assumption.field, typed(assumption.value));

  Json json = Json::object();
  json["command"] = ranking.command;
  json["model"] = model_json(ranking);
  json.update(fields.values());
  json["objective"] = advisor::to_string(query.objective);
  Json weights = Json::object();
  weights["vram"] = number(query.weights.vram);
  weights["interconnect"] = number(query.weights.interconnect);
  weights["cost"] = number(query.weights.cost);
  json["weights"] = std::move(weights);
  json["limits"] = limits_json(query);
  json["as_of"] = query.as_of.empty() ? ranking.catalog_date : query.as_of;
  json["origins"] = fields.origins();
  json["assumed"] = assumed_json(ranking.assumed);
  return json;
}

}  // namespace gpuadvisor::report
