// Which instances, in which numbers, are considered at all.
#pragma once

#include <optional>
#include <vector>

#include "advisor/context.hpp"

namespace gpuadvisor::advisor {

/// One instance type that the query admits, and how many of it at most.
struct Offer {
  const catalog::Instance* instance = nullptr;
  const catalog::Gpu* gpu = nullptr;
  int max_count = 1;
  bool foreign = false;  ///< of a provider that was not asked for: for the note only
};

struct Offers {
  std::vector<Offer> offers;       ///< by provider and name
  std::vector<Rejected> rejected;  ///< types refused whatever the count
};

/// Errors: an instance or GPU filter that names nothing.
[[nodiscard]] Result<Offers> list_offers(const Context& context);

/// 1, 2, 4, 8, ... up to `max_count`.
[[nodiscard]] std::vector<int> power_counts(int max_count);

}  // namespace gpuadvisor::advisor
