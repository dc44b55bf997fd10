// What each framework can do, as data: which shardings, dimensions and recompute
// kinds it offers, and which it divides evenly only.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::planner {

/// A small set of enumerators, one bit each.
template <class E>
struct Set {
  std::uint32_t bits = 0;
  constexpr Set() = default;
  constexpr Set(std::initializer_list<E> values) {
    for (const E value : values) bits |= 1U << static_cast<unsigned>(value);
  }
  [[nodiscard]] constexpr bool has(E value) const {
    return (bits >> static_cast<unsigned>(value) & 1U) != 0;
  }
  constexpr Set operator&(Set other) const {
    Set both;
    both.bits = bits & other.bits;
    return both;
  }
};

enum class Dimension : std::uint8_t { tp, pp, cp, ep };

/// `searched` is tried when the user leaves a dimension free; `legal` may be asked for.
struct FrameworkRules {
  Set<workload::Sharding> searched, legal;
  Set<Dimension> searched_dimensions, legal_dimensions;
  Set<workload::Recompute> searched_recompute;
  bool even_stages = false;       ///< layers must divide by pp (Megatron-LM's argument check)
  bool even_interleave = false;   ///< micro-batches must divide by pp when vpp > 1
  bool sharded_pipeline = false;  ///< fsdp or ZeRO-2/3 together with pp > 1
  bool searches_offload = false;
};

[[nodiscard]] const FrameworkRules& framework_rules(workload::Framework framework);

}  // namespace gpuadvisor::planner
