// Can an agent hold its share of the plan's peak? The arithmetic, before the first SYN.
//
// Why: a run that dies of a limit of our own after ten minutes looks like a fault of the target. Each reason
// names the figure needed, the figure found, and the command that mends it. Owner: any thread; pure. What the
// machine allows was asked by the caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace onrush {

/// Kernel memory of an established, idle socket, measured on Linux 6.18; a pair is two
/// of them.
inline constexpr std::uint64_t kSocketBytes = 4200;
/// Our own memory of a virtual user.
inline constexpr std::uint64_t kUserBytes = 128;
/// Descriptors that an agent needs beside its sockets: control link, event loops, libraries, and spare ones.
inline constexpr std::uint64_t kReservedDescriptors = 200;

/// What the plan asks of one agent at its peak.
struct AgentNeed {
  std::string agent;
  std::uint64_t connections = 0;          ///< of this agent
  std::uint64_t connections_on_host = 0;  ///< of all agents on its host, this one included
  std::uint64_t peak = 0;                 ///< of the whole run
  std::string plan_file;
};

/// What its machine has.
struct AgentLimits {
  std::uint64_t descriptor_limit = 0;
  std::uint64_t source_addresses = 1;
  std::uint64_t ports_per_address = 0;  ///< of its own block
  std::uint64_t memory_available_bytes = 0;
  bool target_on_host = false;  ///< then the target's sockets take memory here too
};

/// Why it cannot, each ready to print; empty if it can.
[[nodiscard]] std::vector<std::string> preflight(const AgentNeed& need, const AgentLimits& limits);

/// Agents with this descriptor limit that hold `peak` connections, at least 1. If the limit leaves no socket
/// at all it is 1 too, and that agent's preflight says why it cannot.
[[nodiscard]] std::uint32_t agents_needed(std::uint64_t peak, std::uint64_t descriptor_limit);

/// Kernel memory and our own for that many connections.
[[nodiscard]] std::uint64_t memory_needed(std::uint64_t connections, bool target_on_host);

}  // namespace onrush
