// From flags to the question that the advisor answers.
#pragma once

#include "cli/arguments.hpp"
#include "cli/flag_reader.hpp"
#include "gpuadvisor/advisor.hpp"
#include "gpuadvisor/catalog.hpp"

namespace gpuadvisor::cli {

/// Reads the whole question. Errors name the flag; unknown names come with near ones.
[[nodiscard]] Result<advisor::Query> read_query(const Arguments& arguments,
                                                const catalog::Catalog& catalog);

/// The cluster of `estimate` and `plan`: --instance and --count, or --gpu and --gpus.
[[nodiscard]] Result<catalog::Cluster> read_cluster(const Arguments& arguments,
                                                    const catalog::Catalog& catalog);
/// Was a cluster described?
[[nodiscard]] bool has_cluster(const Arguments& arguments);

// Parts of read_query; each adds to `query` and keeps the first error in `reader`.
void read_model(FlagReader& reader, advisor::Query& query);
void read_run(FlagReader& reader, advisor::Query& query);
void read_serving(FlagReader& reader, advisor::Query& query);
void read_plan_flags(FlagReader& reader, advisor::Query& query);
void read_limits(FlagReader& reader, const catalog::Catalog& catalog, advisor::Query& query);
void read_aim(FlagReader& reader, advisor::Query& query);

}  // namespace gpuadvisor::cli
