#include "core/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "core/format.h"

namespace onrush {

namespace {

std::uint64_t divided_up(std::uint64_t n, std::uint64_t by) { return n / by + (n % by != 0 ? 1 : 0); }

const char* plural(std::uint64_t n, const char* one, const char* many) { return n == 1 ? one : many; }

std::string too_few_descriptors(const AgentNeed& need, const AgentLimits& limits) {
  const std::uint64_t limit = divided_up(need.connections + kReservedDescriptors, 1000) * 1000;
  std::string reason = fmt::format(
      "cannot run: {} needs {} sockets but may open {} files (ulimit -n), {} of them for itself\n"
      "  raise it:     ulimit -n {}            or in the unit: LimitNOFILE={}",
      need.agent, format_count(need.connections), format_count(limits.descriptor_limit),
      format_count(kReservedDescriptors), limit, limit);
  if (limits.descriptor_limit > kReservedDescriptors)
    reason += fmt::format("\n  or spread it: onrush run {} --agents {}", need.plan_file,
                          agents_needed(need.peak, limits.descriptor_limit));
  return reason;
}

std::string too_few_ports(const AgentNeed& need, const AgentLimits& limits) {
  std::string reason = fmt::format(
      "cannot run: {} needs {} sockets but has {} local ports ({} source {} x {} ports)", need.agent,
      format_count(need.connections), format_count(limits.source_addresses * limits.ports_per_address),
      format_count(limits.source_addresses), plural(limits.source_addresses, "address", "addresses"),
      format_count(limits.ports_per_address));
  if (limits.ports_per_address > 0) {
    const std::uint64_t addresses = divided_up(need.connections, limits.ports_per_address);
    reason += fmt::format(
        "\n  add addresses: onrush-agent --source-addresses RANGE, with {} addresses of this host",
        format_count(addresses));
  }
  return reason + "\n  or spread it:  start agents on more hosts; each has ports of its own";
}

std::string too_little_memory(const AgentNeed& need, const AgentLimits& limits) {
  return fmt::format(
      "cannot run: the host of {} needs {} for {} connections ({} of kernel memory {}, {} for the user) "
      "but has {} available\n"
      "  free it:      close what else runs there\n"
      "  or spread it: start agents on more hosts",
      need.agent, format_bytes(memory_needed(need.connections_on_host, limits.target_on_host)),
      format_count(need.connections_on_host),
      format_bytes(limits.target_on_host ? 2 * kSocketBytes : kSocketBytes),
      limits.target_on_host ? "a pair of sockets, as the target is there too" : "a socket",
      format_bytes(kUserBytes), format_bytes(limits.memory_available_bytes));
}

}  // namespace

std::vector<std::string> preflight(const AgentNeed& need, const AgentLimits& limits) {
  ONRUSH_CHECK(need.connections <= need.connections_on_host && need.connections_on_host <= need.peak);
  std::vector<std::string> reasons;
  if (need.connections + kReservedDescriptors > limits.descriptor_limit)
    reasons.push_back(too_few_descriptors(need, limits));
  if (need.connections > limits.source_addresses * limits.ports_per_address)
    reasons.push_back(too_few_ports(need, limits));
  if (memory_needed(need.connections_on_host, limits.target_on_host) > limits.memory_available_bytes)
    reasons.push_back(too_little_memory(need, limits));
  return reasons;
}

std::uint32_t agents_needed(std::uint64_t peak, std::uint64_t descriptor_limit) {
  if (peak == 0 || descriptor_limit <= kReservedDescriptors) return 1;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(
      std::min(divided_up(peak, descriptor_limit - kReservedDescriptors), kMost));
}

std::uint64_t memory_needed(std::uint64_t connections, bool target_on_host) {
  return connections * (kSocketBytes * (target_on_host ? 2 : 1) + kUserBytes);
}

}  // namespace onrush
