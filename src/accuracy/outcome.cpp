#include <cmath>

#include <nlohmann/json.hpp>

#include "accuracy/rows.hpp"

namespace gpuadvisor::accuracy {
namespace {

std::string parallel_method(const Json& plan) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : "+") + part; };
  for (const auto& [key, name] :
       {std::pair("tp", "TP"), std::pair("pp", "PP"), std::pair("cp", "CP"), std::pair("ep", "EP")})
    if (number(plan, key).value_or(1) > 1) add(name);
  const std::string sharding = text(plan, "sharding");
  const bool replicas = number(plan, "dp").value_or(1) > 1;
  if (!sharding.empty() && sharding != "none")
    add(sharding);
  else if (replicas)
    add("ddp");
  return out.empty() ? "one GPU" : out;
}

}  // namespace

Outcome outcome_of(const Json& row) {
  const Json& run = section(row, "run");
  Outcome outcome;
  outcome.id = text(row, "id");
  outcome.kind = text(row, "kind");
  outcome.quality = text(row, "quality");
  outcome.source = text(row, "source");
  outcome.method = text(run, "phase").empty() ? text(run, "mode") : text(run, "phase");
  outcome.framework = text(run, "engine").empty() ? text(run, "framework") : text(run, "engine");
  outcome.gpu = text(section(row, "cluster"), "gpu");
  outcome.plan = parallel_method(section(row, "plan"));
  return outcome;
}

void compare(Outcome& outcome, double predicted, double measured) {
  if (!(measured > 0) || !std::isfinite(measured)) {
    outcome.skipped = "no positive measured value";
    return;
  }
  if (!std::isfinite(predicted) || predicted < 0) {
    outcome.skipped = "the model gives no finite value";
    return;
  }
  outcome.predicted = predicted;
  outcome.measured = measured;
  outcome.relative_error = (predicted - measured) / measured;
}

Outcome skip(const Json& row, std::string quantity, std::string reason) {
  Outcome outcome = outcome_of(row);
  outcome.quantity = std::move(quantity);
  outcome.skipped = std::move(reason);
  return outcome;
}

}  // namespace gpuadvisor::accuracy
