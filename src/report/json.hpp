// Building blocks of the JSON documents. Numbers that are not finite become null,
// sizes are whole bytes, keys keep the order in which they are added.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "gpuadvisor/advisor.hpp"
#include "gpuadvisor/report.hpp"

namespace gpuadvisor::report {

using Json = nlohmann::ordered_json;

/// The number, or null when it is not finite.
[[nodiscard]] Json number(double value);
[[nodiscard]] Json number(const std::optional<double>& value);
/// Bytes or another count as an integer; null when not finite or beyond 2^63.
[[nodiscard]] Json whole(double value);
[[nodiscard]] Json text_or_null(std::string_view text);
[[nodiscard]] Json array_of(std::span<const std::string> texts);

/// `schema_version`, `tool_version`, `catalog_date`: the start of every document.
[[nodiscard]] Json document(std::string_view catalog_date);
[[nodiscard]] Json to_json(std::span<const advisor::Warning> warnings);

/// Parts of one result (contract: data/schema/recommend.schema.json).
[[nodiscard]] Json plan_json(const workload::Plan& plan, const workload::Training& training);
[[nodiscard]] Json memory_json(const planner::Candidate& candidate, const advisor::ResultRow& row);
[[nodiscard]] Json performance_json(const planner::Candidate& candidate,
                                    const advisor::ResultRow& row);
[[nodiscard]] Json cost_json(const advisor::ResultRow& row, const advisor::Query& query);
[[nodiscard]] Json serving_json(const serving::Option& option, const advisor::ResultRow& row);
[[nodiscard]] Json serving_plan_json(const serving::Option& option, const advisor::Query& query);

/// The request as understood, with the origin of each value.
[[nodiscard]] Json request_json(const advisor::Ranking& ranking);

[[nodiscard]] Json source_json(const catalog::Source& source);
[[nodiscard]] Json instance_json(const catalog::Instance& instance);

/// The document as text: two blanks of indent, a line break at the end. Invalid
/// UTF-8 is replaced, so that this never fails.
[[nodiscard]] std::string dump(const Json& document);

}  // namespace gpuadvisor::report
