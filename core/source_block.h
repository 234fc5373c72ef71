// Which local endpoints each agent may use: disjoint blocks of (source address, port) for agents of one host.
//
// Why: the kernel's own search for a free port is slow and stops at 28,000, and two agents that pick the same
// port fail at random. The coordinator deals the blocks out, so nobody has to be told by hand. Pure; any
// thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/control.h"
#include "core/expected.h"

namespace onrush {

/// Single addresses from `10.0.0.1`, `10.0.0.1-10.0.0.20`, `10.0.0.0/28`, IPv6 alike, several by comma.
/// Errors: not an address, ends that are no range, more than 4096 addresses.
[[nodiscard]] Expected<std::vector<std::string>, std::string> expand_addresses(std::string_view ranges);

/// A block for each agent, in order. Agents of one kernel (equal boot_id) get disjoint ones. Towards IPv4
/// loopback an agent without source addresses of its own gets a loopback address to itself, made of its
/// process id, all of whose ports are its: so agents of other runs on the host stay apart as well; towards
/// other targets of the plan it has its part of the shared ports.
[[nodiscard]] std::vector<SourceBlock> deal_source_blocks(const std::vector<Hello>& agents,
                                                          const std::vector<std::string>& target_hosts);

}  // namespace onrush
