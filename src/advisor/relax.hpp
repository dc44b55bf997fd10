// What would make something fit when nothing does, and the ranking behind recommend.
#pragma once

#include "advisor/context.hpp"

namespace gpuadvisor::advisor {

/// `recommend` without relaxations.
[[nodiscard]] Result<Ranking> rank_offers(const catalog::Catalog& catalog, const Query& query);

/// An answer with the parts that every command shares.
[[nodiscard]] Ranking make_ranking(std::string command, const Context& context);

/// The tightest constraint first, then at most two changes of the query that were tried
/// and do give a result.
[[nodiscard]] std::vector<std::string> find_relaxations(const catalog::Catalog& catalog,
                                                        const Query& query, const Ranking& failed);

}  // namespace gpuadvisor::advisor
