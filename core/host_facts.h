// What a machine allows a load generator, and what of it is taken already: numbers, and how to read them from
// the texts of /proc.
//
// Why: agents tell them when they attach, preflight and `onrush doctor` reckon with them, and a unit test can
// state any machine. Owner: any thread; pure (proto/host_facts.cpp opens the files). Always: a number that
// could not be read is unknown, never 0; in a network namespace many are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onrush {

enum class Fact : std::uint8_t {
  descriptors_soft,  ///< RLIMIT_NOFILE, as the process was started
  descriptors_hard,  ///< what it may raise it to by itself
  nr_open,           ///< what root may raise that to
  file_max,          ///< open files of the whole host
  files_open,        ///< of them, those in use
  file_max_exempt,   ///< 1: this process may pass file_max (CAP_SYS_ADMIN)
  epoll_watches,     ///< of one user, all processes
  first_local_port,  ///< the kernel's own range
  last_local_port,   ///< inclusive
  occupied_ports,    ///< from 1024 on: reserved, or listened on
  time_waits,        ///< sockets in TIME_WAIT now
  time_wait_reuse,   ///< 0 never, 1 after a second, 2 only on loopback
  tcp_sockets,       ///< allocated now, in all network namespaces
  tcp_pages,         ///< queued in them now
  memory_total,      ///< bytes, as the next three
  memory_free,
  memory_available,  ///< the kernel's estimate, which counts what sockets pin as free
  slab_reclaimable,
  cgroup_limit,        ///< bytes; unknown without a limit
  cgroup_used,         ///< without what it can drop
  tcp_pages_pressure,  ///< net.ipv4.tcp_mem
  tcp_pages_max,
  accept_backlog,  ///< net.core.somaxconn
  syn_backlog,     ///< net.ipv4.tcp_max_syn_backlog
  syncookies,      ///< not 0: syn_backlog does not matter
  packet_backlog,  ///< net.core.netdev_max_backlog
  time_wait_max,   ///< net.ipv4.tcp_max_tw_buckets
  orphans_max,     ///< net.ipv4.tcp_max_orphans
  conntrack_max,
  conntrack_count,   ///< not 0: connections are tracked
  connection_table,  ///< buckets of the hash of established connections
  cores,
  cpu_millicores,  ///< that a cgroup allows; unknown without a quota
  memory_reserve,  ///< bytes that the agent leaves free
};
inline constexpr std::size_t kFacts = 34;

class HostFacts {
 public:
  HostFacts() { numbers_.fill(kUnknown); }

  std::string congestion_control;  ///< "" = unknown
  std::string congestion_other;    ///< that may be chosen instead in any network namespace; "" = unknown
  std::string queueing;            ///< net.core.default_qdisc; "" = unknown

  [[nodiscard]] std::optional<std::uint64_t> find(Fact fact) const noexcept;
  [[nodiscard]] std::uint64_t get_or(Fact fact, std::uint64_t otherwise) const noexcept;
  void set(Fact fact, std::uint64_t number) noexcept { numbers_[static_cast<std::size_t>(fact)] = number; }

  /// In the order of Fact, for the wire.
  using Numbers = std::array<std::uint64_t, kFacts>;
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  [[nodiscard]] const Numbers& numbers() const noexcept { return numbers_; }
  void set_numbers(const Numbers& numbers) noexcept { numbers_ = numbers; }

  friend bool operator==(const HostFacts&, const HostFacts&) = default;

 private:
  Numbers numbers_;
};

/// The facts that are a single number in a file of /proc/sys, with the sysctl's name.
[[nodiscard]] const std::vector<std::pair<Fact, const char*>>& sysctl_facts();
/// "net.core.somaxconn" -> "/proc/sys/net/core/somaxconn".
[[nodiscard]] std::string sysctl_file(std::string_view name);

// Each takes the text of a file; what is missing in it stays unknown.

void read_sysctl(Fact fact, std::string_view text, HostFacts& facts);
void read_meminfo(std::string_view text, HostFacts& facts);
void read_sockstat(std::string_view text, HostFacts& facts);
void read_file_nr(std::string_view text, HostFacts& facts);
void read_port_range(std::string_view text, HostFacts& facts);
void read_tcp_mem(std::string_view text, HostFacts& facts);
/// tcp_allowed_congestion_control: the others may be chosen by the host's root alone.
void read_allowed_congestion(std::string_view text, HostFacts& facts);
/// /proc/self/status and /proc/self/uid_map: root of a user namespace is not root of the host.
void read_capabilities(std::string_view status, std::string_view uid_map, HostFacts& facts);

/// Where this process's control groups lie, from /proc/self/cgroup: paths below the mount; "" = there is
/// none.
struct CgroupPaths {
  std::string unified;    ///< version 2
  std::string v1_memory;  ///< version 1
  std::string v1_cpu;
};
[[nodiscard]] CgroupPaths cgroup_paths(std::string_view text);
/// One group's limit and use; the tightest of the groups above it counts too, so it may be called for each.
struct CgroupMemory {
  std::string_view limit;  ///< memory.max or memory.limit_in_bytes
  std::string_view used;   ///< memory.current or memory.usage_in_bytes
  std::string_view stat;   ///< memory.stat
};
void read_cgroup_memory(const CgroupMemory& group, HostFacts& facts);
/// "150000 100000" or "max 100000" (cpu.max); for version 1 quota and period are put together like that.
void read_cpu_quota(std::string_view cpu_max, HostFacts& facts);

}  // namespace onrush
