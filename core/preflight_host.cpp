// The checks of a whole machine: one function a limit, each with the reason for its figure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "core/memory_left.h"
#include "core/preflight.h"

namespace onrush {

namespace {

// A server that is busy with what it has accepted comes back to accept() within this time.
constexpr double kAcceptPause_s = 0.1;
// The kernel hands packets to ksoftirqd when they are many, which may wait for one slice of the scheduler.
constexpr double kPacketPause_s = 0.01;
// Of a connection: SYN, its answer, ACK, request, ACK, 101, ACK.
constexpr double kPacketsPerConnect = 7;
// What one core writes to distinct sockets in a second at most; each makes a segment and an acknowledgement.
constexpr double kFastestBroadcast = 150'000;
constexpr double kPacketsPerCopy = 2;
constexpr double kDelayedAck_s = 0.04;
// An agent closes at this pace at most (core/run); TIME_WAIT lasts a minute in Linux, an orphan about a
// second.
constexpr std::uint64_t kClosesPerSecond = 20'000;
constexpr std::uint64_t kTimeWait_s = 60;
// CPU of one end of a handshake, measured with a client that does nothing else.
constexpr double kHandshakeCpu_s = 34e-6;
// Longer chains than this cost more than the rest of a lookup.
constexpr std::uint64_t kSocketsPerBucket = 2;

std::uint64_t ends(const HostPlace& place) { return place.target_here ? 2 : 1; }

std::uint64_t rounded_up(std::uint64_t n) {
  constexpr std::uint64_t kStep = 1000;
  return (n + kStep - 1) / kStep * kStep;
}

std::uint64_t power_of_two_from(std::uint64_t n) {
  std::uint64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

/// Connections a second of this host's agents.
double connects_of(const PlanNeed& need, const HostPlace& place) {
  if (need.peak == 0) return 0;
  return need.connects_per_s * static_cast<double>(place.connections) / static_cast<double>(need.peak);
}

std::uint64_t listeners_of(const PlanNeed& need, const HostPlace& place) {
  return std::min(need.listeners, place.connections);
}

Check unknown(std::string name, std::uint64_t needed) {
  return {.name = std::move(name),
          .needed = format_count(needed),
          .found = "unknown",
          .grade = CheckGrade::unknown};
}

/// A limit that is one sysctl, and at least `needed`.
struct Limit {
  std::string name;
  const char* sysctl;
  Fact fact;
  std::uint64_t needed;
};

Check against(const Limit& limit, const HostFacts& facts, CheckGrade grade, const std::string& why) {
  const auto found = facts.find(limit.fact);
  if (!found) return unknown(limit.name, limit.needed);
  Check check{.name = limit.name, .needed = format_count(limit.needed), .found = format_count(*found)};
  if (limit.needed <= *found) return check;
  const std::uint64_t value = rounded_up(limit.needed);
  check.grade = grade;
  check.why = fmt::format("{} ({} {}, found {})", why, limit.sysctl, format_count(limit.needed),
                          format_count(*found));
  check.remedies.push_back({"raise it", fmt::format("sysctl -w {}={}", limit.sysctl, value)});
  check.settings.push_back({Setting::Kind::sysctl, limit.sysctl, std::to_string(value)});
  return check;
}

Check memory(const PlanNeed& need, const HostPlace& place, const HostFacts& facts) {
  const std::uint64_t sockets = memory_needed(place.connections, place.target_here, need.user_bytes);
  const std::uint64_t reserve = memory_reserve(facts);
  const std::uint64_t needed = sockets + place.agents * kAgentBytes + reserve;
  const auto left = memory_left(facts);
  Check check{.name = "memory", .needed = format_bytes(needed), .found = "unknown"};
  if (!left) return check.grade = CheckGrade::unknown, check;
  check.found = format_bytes(*left);
  if (needed <= *left) return check;
  check.grade = CheckGrade::refused;
  check.why = fmt::format(
      "{} needs {} for {} connections ({} of kernel memory {}, {} for the user) and {} {}, and keeps {} "
      "free, but has {} left",
      place.host, format_bytes(needed - reserve), format_count(place.connections),
      format_bytes(ends(place) * kSocketBytes),
      place.target_here ? "a pair of sockets, as the target is there too" : "a socket",
      format_bytes(need.user_bytes), format_count(place.agents), place.agents == 1 ? "agent" : "agents",
      format_bytes(reserve), format_bytes(*left));
  check.remedies.push_back({"free it", "close what else runs there"});
  if (facts.find(Fact::cgroup_limit))
    check.remedies.push_back({"or raise the limit", "of its control group (systemd: MemoryMax=)"});
  check.remedies.push_back({"or spread it", "start agents on more hosts"});
  return check;
}

Check files(const HostPlace& place, const HostFacts& facts) {
  const std::uint64_t needed = facts.get_or(Fact::files_open, 0) + ends(place) * place.connections +
                               place.agents * kReservedDescriptors;
  const Limit limit{"open files of the host", "fs.file-max", Fact::file_max, needed};
  // Root may pass it, so of root's agents it is no limit; of a target that runs as another user it is.
  const bool exempt = facts.get_or(Fact::file_max_exempt, 0) != 0;
  return against(limit, facts, exempt ? CheckGrade::warning : CheckGrade::refused,
                 exempt ? place.host + " has too few files for a target that is not root"
                        : place.host + " cannot open that many files");
}

Check epoll(const HostPlace& place, const HostFacts& facts) {
  return against({"epoll watches of a user", "fs.epoll.max_user_watches", Fact::epoll_watches,
                  ends(place) * place.connections + place.agents},
                 facts, CheckGrade::refused, place.host + " cannot watch that many sockets");
}

// Measured: a message of up to 2 KB that waits in a socket holds one page of this budget. The sender holds
// one too until the acknowledgement, which comes within 40 ms: those of the copies that a core sends
// meanwhile.
Check broadcast(const PlanNeed& need, const HostPlace& place, const HostFacts& facts) {
  const std::uint64_t listeners = listeners_of(need, place);
  const std::uint64_t unacknowledged =
      place.target_here ? std::min(listeners, static_cast<std::uint64_t>(kFastestBroadcast * kDelayedAck_s))
                        : 0;
  const std::uint64_t needed = facts.get_or(Fact::tcp_pages, 0) + listeners + unacknowledged;
  const auto found = facts.find(Fact::tcp_pages_pressure);
  if (!found) return unknown("pages queued in TCP", needed);
  Check check{.name = "pages queued in TCP", .needed = format_count(needed), .found = format_count(*found)};
  if (needed <= *found) return check;
  const std::uint64_t pressure = rounded_up(needed);
  const std::string value = fmt::format("{} {} {}", pressure / 4 * 3, pressure, pressure / 4 * 6);
  check.grade = CheckGrade::warning;
  check.why = fmt::format(
      "{} runs into TCP's memory pressure when a broadcast waits in all of {} sockets, and windows shrink "
      "(net.ipv4.tcp_mem {}, found {})",
      place.host, format_count(listeners), format_count(needed), format_count(*found));
  check.remedies.push_back({"raise it", fmt::format("sysctl -w net.ipv4.tcp_mem='{}'", value)});
  check.settings.push_back({Setting::Kind::sysctl, "net.ipv4.tcp_mem", value});
  return check;
}

void backlogs(const PlanNeed& need, const HostPlace& place, const HostFacts& facts,
              std::vector<Check>& checks) {
  const double connects = connects_of(need, place);
  const auto places = static_cast<std::uint64_t>(std::ceil(connects * kAcceptPause_s));
  checks.push_back(against(
      {"accept backlog", "net.core.somaxconn", Fact::accept_backlog, places}, facts, CheckGrade::warning,
      fmt::format("a target that pauses for 0.1 s turns connections away at {}", format_rate(connects))));
  if (facts.get_or(Fact::syncookies, 1) == 0)
    checks.push_back(against({"SYN backlog", "net.ipv4.tcp_max_syn_backlog", Fact::syn_backlog, places},
                             facts, CheckGrade::warning, "SYNs are dropped and sent again after a second"));
  const double copies =
      std::min(static_cast<double>(listeners_of(need, place)), kFastestBroadcast * kPacketPause_s);
  const double packets = std::max(connects * kPacketsPerConnect * kPacketPause_s, copies * kPacketsPerCopy);
  checks.push_back(against({"packet backlog", "net.core.netdev_max_backlog", Fact::packet_backlog,
                            static_cast<std::uint64_t>(std::ceil(packets))},
                           facts, CheckGrade::warning,
                           "loopback may drop packets, which are sent again after 0.2 s or more"));
}

void closing(const HostPlace& place, const HostFacts& facts, std::vector<Check>& checks) {
  if (place.target_here)
    checks.push_back(against({"sockets in TIME_WAIT", "net.ipv4.tcp_max_tw_buckets", Fact::time_wait_max,
                              std::min(place.connections, kClosesPerSecond * kTimeWait_s)},
                             facts, CheckGrade::warning,
                             "connections that the target ends first leave more than the kernel keeps"));
  checks.push_back(against({"sockets without owner", "net.ipv4.tcp_max_orphans", Fact::orphans_max,
                            std::min(ends(place) * place.connections, kClosesPerSecond)},
                           facts, CheckGrade::warning, "the kernel resets what closes instead of ending it"));
}

Check conntrack(const HostPlace& place, const HostFacts& facts) {
  const std::uint64_t tracked = facts.get_or(Fact::conntrack_count, 0);
  Check check{.name = "connection tracking", .needed = "off", .found = "off"};
  if (tracked == 0) return check;
  const Limit limit{"connection tracking", "net.netfilter.nf_conntrack_max", Fact::conntrack_max,
                    tracked + place.connections};
  check = against(limit, facts, CheckGrade::refused,
                  place.host + " tracks connections and drops those that do not fit its table");
  if (check.grade == CheckGrade::refused) return check;
  check.needed = "off";
  check.found = "on";
  check.grade = CheckGrade::warning;
  check.why = place.host + " tracks every connection, which costs CPU in each packet";
  check.remedies = {{"turn it off", "iptables -t raw -A OUTPUT -p tcp -j NOTRACK; the same for PREROUTING"}};
  return check;
}

Check pacing(const HostPlace& place, const HostFacts& facts) {
  Check check{.name = "congestion control", .needed = "bbr only with fq", .found = "unknown"};
  if (facts.congestion_control.empty()) return check.grade = CheckGrade::unknown, check;
  check.found = facts.congestion_control;
  if (facts.congestion_control != "bbr") return check;
  // Loopback has no queueing discipline at all, so there bbr never gets the pacing that it needs.
  if (!place.target_here && facts.queueing.empty()) return check.grade = CheckGrade::unknown, check;
  if (!place.target_here && facts.queueing == "fq") return check;
  check.found += place.target_here ? " on loopback" : " with " + facts.queueing;
  check.grade = CheckGrade::warning;
  check.why = place.host + " paces bbr by a timer in each socket, which costs CPU and may delay messages";
  const Setting setting = place.target_here
                              ? Setting{Setting::Kind::sysctl, "net.ipv4.tcp_congestion_control",
                                        facts.congestion_other.empty() ? "cubic" : facts.congestion_other}
                              : Setting{Setting::Kind::sysctl, "net.core.default_qdisc", "fq"};
  check.remedies.push_back({"change it", fmt::format("sysctl -w {}={}", setting.key, setting.value)});
  check.settings.push_back(setting);
  return check;
}

Check connection_table(const HostPlace& place, const HostFacts& facts) {
  const std::uint64_t needed = ends(place) * place.connections / kSocketsPerBucket;
  const auto found = facts.find(Fact::connection_table);
  if (!found) return unknown("buckets of connections", needed);
  Check check{
      .name = "buckets of connections", .needed = format_count(needed), .found = format_count(*found)};
  if (needed <= *found) return check;
  const std::uint64_t power = power_of_two_from(needed);
  check.grade = CheckGrade::warning;
  check.why = fmt::format("{} finds each socket in a chain of {}, which costs CPU in each packet", place.host,
                          ends(place) * place.connections / std::max<std::uint64_t>(*found, 1));
  check.remedies.push_back({"boot with", fmt::format("thash_entries={}", power)});
  check.remedies.push_back({"or for a new network namespace",
                            fmt::format("sysctl -w net.ipv4.tcp_child_ehash_entries={}", power)});
  return check;
}

Check cores(const PlanNeed& need, const HostPlace& place, const HostFacts& facts) {
  const double needed = connects_of(need, place) * kHandshakeCpu_s * static_cast<double>(ends(place));
  Check check{.name = "cores", .needed = fmt::format("{:.1f}", needed), .found = "unknown"};
  const auto known = facts.find(Fact::cores);
  if (!known) return check.grade = CheckGrade::unknown, check;
  const double cores =
      std::min(static_cast<double>(*known),
               static_cast<double>(facts.get_or(Fact::cpu_millicores, *known * 1000)) / 1000);
  check.found = fmt::format("{:.1f}", cores);
  if (needed <= cores) return check;
  check.grade = CheckGrade::warning;
  check.why = fmt::format("{} connections a second take {} of CPU{}, and {} has {}",
                          format_count(static_cast<std::uint64_t>(connects_of(need, place))), check.needed,
                          place.target_here ? " at both ends" : "", place.host, check.found);
  check.remedies.push_back({"spread it", "start agents on more hosts"});
  return check;
}

}  // namespace

std::vector<Check> check_host(const PlanNeed& need, const HostPlace& place, const HostFacts& facts) {
  std::vector<Check> checks{memory(need, place, facts), files(place, facts), epoll(place, facts),
                            broadcast(need, place, facts)};
  // The queues of a target elsewhere are not ours to see.
  if (place.target_here) backlogs(need, place, facts, checks);
  closing(place, facts, checks);
  checks.push_back(conntrack(place, facts));
  checks.push_back(pacing(place, facts));
  checks.push_back(connection_table(place, facts));
  checks.push_back(cores(need, place, facts));
  return checks;
}

}  // namespace onrush
