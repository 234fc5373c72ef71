// Can this machine run its share of the plan, and will the figures be the target's? The arithmetic, before
// the first SYN.
//
// Why: a run that dies of a limit of our own after ten minutes looks like a fault of the target. Every check
// names the figure needed, the figure found and the command that mends it. What cannot work is refused; what
// only distorts the figures is a warning in the report. Owner: any thread; pure. What the machine allows
// comes in as facts; a check whose fact is unknown says so and refuses nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/control.h"
#include "core/host_facts.h"
#include "core/plan.h"
#include "core/schedule.h"

namespace onrush {

/// Kernel memory of an established, idle socket, measured on Linux 6.18 (docs/operations.md); a pair is two.
inline constexpr std::uint64_t kSocketBytes = 4200;
/// Our own memory of a virtual user.
inline constexpr std::uint64_t kUserBytes = 128;
/// OpenSSL 3.0's memory of an idle TLS connection: 25,307 bytes measured (make bench ONLY=tls_memory).
inline constexpr std::uint64_t kTlsBytes = 25'300;
/// Private memory of an agent's process, users apart.
inline constexpr std::uint64_t kAgentBytes = 4'100'000;
/// Descriptors that an agent needs beside its sockets: control link, event loops, libraries, and spare ones.
inline constexpr std::uint64_t kReservedDescriptors = 200;

enum class CheckGrade : std::uint8_t { ok, unknown, warning, refused };
/// "ok", "unknown", "warning", "refused".
[[nodiscard]] const char* name(CheckGrade grade) noexcept;

/// A way out: "raise it", "ulimit -n 51000".
struct Remedy {
  std::string what;
  std::string command;
};

/// What an operator's script has to set for a check to pass.
struct Setting {
  enum class Kind : std::uint8_t {
    sysctl,       ///< key = value
    descriptors,  ///< of a process
    addresses,    ///< that many more on this host
  } kind = Kind::sysctl;
  std::string key;
  std::string value;
};

struct Check {
  std::string name;    ///< "open files"
  std::string needed;  ///< as a person reads it
  std::string found;
  CheckGrade grade = CheckGrade::ok;
  std::string why = {};  ///< a clause after "cannot run: "; empty if ok
  std::vector<Remedy> remedies = {};
  std::vector<Setting> settings = {};
};

/// "cannot run: ...", with a line for each remedy; or the warning in one line.
[[nodiscard]] std::string describe(const Check& check);

/// What a plan asks of its generator as a whole.
struct PlanNeed {
  std::string plan_file;
  std::uint64_t peak = 0;       ///< sockets at once
  double connects_per_s = 0;    ///< the fastest that it asks for, or that we can open if it sets no pace
  std::uint64_t listeners = 0;  ///< users who take broadcasts, at most at once
  std::uint64_t user_bytes = kUserBytes;  ///< see user_bytes_of
};
/// Our own memory of a connected user: with TLS, the contexts of permessage-deflate that it may come to own,
/// GraphQL's tables, and the values that it keeps.
[[nodiscard]] std::uint64_t user_bytes_of(const Plan& plan);
[[nodiscard]] PlanNeed need_of(const Plan& plan, const std::string& file);

/// One agent and what it is dealt.
struct AgentPlace {
  std::string agent;
  std::uint64_t connections = 0;
  std::uint64_t descriptor_limit = 0;
  std::uint64_t source_addresses = 1;
  std::uint64_t ports_per_address = 0;  ///< of its own block
  bool chosen_by_route = true;          ///< no address of its own: earlier connections may hold ports of it
  bool loopback = false;                ///< a target is there
  /// Of its connections, those that go to one address, where most go: each has all ports to itself.
  double busiest_share = 1;
};
/// Its descriptor limit is left to the caller, and `agent`.
[[nodiscard]] AgentPlace place_of(const Plan& plan, const PlanNeed& need, Share share,
                                  const SourceBlock& source);
[[nodiscard]] std::vector<Check> check_agent(const PlanNeed& need, const AgentPlace& place,
                                             const HostFacts& facts);

/// A machine with some of the agents, and perhaps the target.
struct HostPlace {
  std::string host;               ///< as reasons call it
  std::uint64_t connections = 0;  ///< of all agents on it
  std::uint32_t agents = 1;
  bool target_here = false;  ///< then both ends of each connection count
};
[[nodiscard]] std::vector<Check> check_host(const PlanNeed& need, const HostPlace& place,
                                            const HostFacts& facts);

/// Agents with this descriptor limit that hold `peak` connections, at least 1. If the limit leaves no socket
/// at all it is 1 too, and that agent's preflight says why it cannot.
[[nodiscard]] std::uint32_t agents_needed(std::uint64_t peak, std::uint64_t descriptor_limit);

/// Kernel memory and our own for that many connections.
[[nodiscard]] std::uint64_t memory_needed(std::uint64_t connections, bool target_on_host,
                                          std::uint64_t user_bytes = kUserBytes);

}  // namespace onrush
