#include <cstddef>
#include <vector>

#include "gpuadvisor/performance.hpp"
#include "performance/step.hpp"

namespace gpuadvisor::performance {
namespace {

constexpr std::size_t kInitialSlots = 256;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

std::uint64_t word(std::int32_t high, std::int32_t low) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
         static_cast<std::uint32_t>(low);
}

std::uint64_t hash_of(const LayerKey& key) {
  const auto kinds = static_cast<std::uint64_t>(key.recompute) << 16 |
                     static_cast<std::uint64_t>(key.sharding) << 8 |
                     static_cast<std::uint64_t>(key.offload) << 1 |
                     static_cast<std::uint64_t>(key.sequence_parallel ? 1 : 0);
  std::uint64_t hash = mix(word(key.tp, key.cp), word(key.ep, key.micro_batch));
  hash = mix(hash, word(key.shard_group, key.replicas));
  hash = mix(hash, kinds);
  return hash ^ hash >> 29;
}

struct Slot {
  bool used = false;
  LayerKey key;
  LayerTimes times;
};

}  // namespace

/// Open addressing, at most half full.
struct LayerTable::State {
  Run run;
  std::vector<Slot> slots = std::vector<Slot>(kInitialSlots);
  std::size_t used = 0;

  Slot& slot_of(const LayerKey& key) {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash_of(key)) & mask;
    while (slots[at].used && !(slots[at].key == key)) at = (at + 1) & mask;
    return slots[at];
  }

  void grow() {
    std::vector<Slot> old(2 * slots.size());
    old.swap(slots);
    for (const Slot& slot : old)
      if (slot.used) slot_of(slot.key) = slot;
  }

  const LayerTimes& find(const LayerKey& key) {
    Slot* slot = &slot_of(key);
    if (slot->used) return slot->times;
    if (2 * (used + 1) > slots.size()) {
      grow();
      slot = &slot_of(key);
    }
    slot->key = key;
    slot->times = layer_times(run.machine, *run.prepared, key);
    slot->used = true;
    ++used;
    return slot->times;
  }
};

LayerTable::LayerTable(const memory::Prepared& prepared, const catalog::Cluster& cluster)
    : state_(std::make_unique<State>()) {
  state_->run = make_run(prepared, cluster);
}
LayerTable::~LayerTable() = default;
LayerTable::LayerTable(LayerTable&&) noexcept = default;
LayerTable& LayerTable::operator=(LayerTable&&) noexcept = default;

Estimate LayerTable::estimate(const workload::Plan& plan) {
  const LayerKey key = layer_key(state_->run.prepared->training, plan, state_->run.machine);
  return step_estimate(state_->run, state_->find(key), plan);
}

double LayerTable::compute_lower_bound(const workload::Plan& plan) const {
  return step_lower_bound(state_->run, plan);
}

std::size_t LayerTable::size() const { return state_->used; }

}  // namespace gpuadvisor::performance
