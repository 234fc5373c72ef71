#include "core/memory_left.h"

#include <algorithm>

namespace onrush {

std::optional<std::uint64_t> memory_left(const HostFacts& facts) {
  const auto available = facts.find(Fact::memory_available);
  if (!available) return std::nullopt;
  const std::uint64_t pinned = std::min(facts.get_or(Fact::tcp_sockets, 0) * kPinnedSlabBytes,
                                        facts.get_or(Fact::slab_reclaimable, 0));
  std::uint64_t left = *available - std::min(*available, pinned);
  if (const auto limit = facts.find(Fact::cgroup_limit))
    left = std::min(left, *limit - std::min(*limit, facts.get_or(Fact::cgroup_used, 0)));
  return left;
}

std::uint64_t memory_reserve(const HostFacts& facts) {
  constexpr std::uint64_t kPart = 25;
  if (const auto told = facts.find(Fact::memory_reserve)) return *told;
  const std::uint64_t total = facts.get_or(Fact::memory_total, 0);
  return std::min(total, facts.get_or(Fact::cgroup_limit, total)) / kPart;
}

}  // namespace onrush
