// What this host and this process did in a second, from the kernel's own counters.
//
// Why: an agent that was starved or whose packets were dropped must say so itself (core/health judges it).
// Owner: the control link's thread. Always: a file that is missing or unreadable counts as nothing, never as
// a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/host_facts.h"
#include "core/snapshot.h"

namespace onrush {

/// Sums since the host began.
struct HostCounters {
  std::uint64_t cpu_ticks = 0;
  std::uint64_t steal_ticks = 0;
  std::uint64_t segments_out = 0;
  std::uint64_t retransmits = 0;
  std::uint64_t connects = 0;
  std::uint64_t listen_overflows = 0;
  std::uint64_t memory_pressures = 0;
  std::uint64_t packets_in = 0;
  std::uint64_t softnet_drops = 0;
};

/// What the CPUs of a host have taken from the network, and what they had no room for.
struct SoftnetCounters {
  std::uint64_t packets = 0;
  std::uint64_t drops = 0;
};

/// The named value of a table of heading and value lines, as in /proc/net/snmp and /proc/net/netstat; 0 if
/// absent.
[[nodiscard]] std::uint64_t value_in(std::string_view table, std::string_view protocol,
                                     std::string_view name);
/// All CPUs of /proc/net/softnet_stat.
[[nodiscard]] SoftnetCounters softnet_counters_in(std::string_view table);

class SelfWatch {
 public:
  using LookAtMemory = std::function<void(HostFacts&)>;
  /// `host`: the counters of /proc. `look_at_memory` brings `facts` up to date; none: memory is not watched.
  SelfWatch(bool host, HostFacts facts, LookAtMemory look_at_memory);
  /// Fills in what concerns host and process since the call before.
  void look(Health& health);

 private:
  bool host_;
  HostCounters before_;
  HostFacts facts_;
  LookAtMemory look_at_memory_;
};

}  // namespace onrush
