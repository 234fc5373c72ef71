#include "agent/self_watch.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "core/memory_left.h"

namespace onrush {
namespace {

std::string contents(const char* file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

HostCounters read_host() {
  HostCounters host;
  std::istringstream cpu{contents("/proc/stat")};
  std::string word;
  cpu >> word;
  // user nice system idle iowait irq softirq steal; guest time is contained in user.
  for (int field = 0; field < 8; ++field) {
    std::uint64_t ticks = 0;
    if (!(cpu >> ticks)) break;
    host.cpu_ticks += ticks;
    if (field == 7) host.steal_ticks = ticks;
  }
  const std::string snmp = contents("/proc/net/snmp");
  host.segments_out = value_in(snmp, "Tcp:", "OutSegs");
  host.retransmits = value_in(snmp, "Tcp:", "RetransSegs");
  host.connects = value_in(snmp, "Tcp:", "ActiveOpens");
  const std::string netstat = contents("/proc/net/netstat");
  host.listen_overflows = value_in(netstat, "TcpExt:", "ListenOverflows");
  host.memory_pressures = value_in(netstat, "TcpExt:", "TCPMemoryPressures");
  const SoftnetCounters softnet = softnet_counters_in(contents("/proc/net/softnet_stat"));
  host.packets_in = softnet.packets;
  host.softnet_drops = softnet.drops;
  return host;
}

std::uint64_t private_bytes() {
  std::istringstream statm{contents("/proc/self/statm")};
  std::uint64_t size = 0, resident = 0, shared = 0;
  statm >> size >> resident >> shared;
  return (resident - std::min(shared, resident)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t since(std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; }

}  // namespace

std::uint64_t value_in(std::string_view table, std::string_view protocol, std::string_view name) {
  std::istringstream lines{std::string{table}};
  std::string heading, values;
  while (std::getline(lines, heading) && std::getline(lines, values)) {
    std::istringstream names{heading}, numbers{values};
    std::string key, value;
    names >> key;
    numbers >> value;
    if (key != protocol) continue;
    while (names >> key && numbers >> value) {
      if (key != name) continue;
      std::uint64_t number = 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      return number;
    }
  }
  return 0;
}

SoftnetCounters softnet_counters_in(std::string_view table) {
  const auto number = [](const std::string& hexadecimal) {
    std::uint64_t value = 0;
    std::from_chars(hexadecimal.data(), hexadecimal.data() + hexadecimal.size(), value, 16);
    return value;
  };
  std::istringstream lines{std::string{table}};
  std::string line;
  SoftnetCounters sum;
  while (std::getline(lines, line)) {
    std::istringstream fields{line};
    std::string processed, dropped;
    if (!(fields >> processed >> dropped)) continue;
    sum.packets += number(processed);
    sum.drops += number(dropped);
  }
  return sum;
}

SelfWatch::SelfWatch(bool host, HostFacts facts, LookAtMemory look_at_memory)
    : host_{host}, facts_{std::move(facts)}, look_at_memory_{std::move(look_at_memory)} {
  if (host_) before_ = read_host();
}

void SelfWatch::look(Health& health) {
  if (look_at_memory_) {
    look_at_memory_(facts_);
    if (const auto left = memory_left(facts_)) {
      health.memory_left_bytes = *left;
      health.memory_reserve_bytes = memory_reserve(facts_);
    }
  }
  if (!host_) return;
  const HostCounters now = read_host();
  const std::uint64_t ticks = since(now.cpu_ticks, before_.cpu_ticks);
  if (ticks > 0)
    health.cpu_steal =
        static_cast<double>(since(now.steal_ticks, before_.steal_ticks)) / static_cast<double>(ticks);
  health.segments_out = since(now.segments_out, before_.segments_out);
  health.retransmits = since(now.retransmits, before_.retransmits);
  health.packets_in = since(now.packets_in, before_.packets_in);
  health.softnet_drops = since(now.softnet_drops, before_.softnet_drops);
  health.connects = since(now.connects, before_.connects);
  health.listen_overflows = since(now.listen_overflows, before_.listen_overflows);
  health.memory_pressures = since(now.memory_pressures, before_.memory_pressures);
  health.memory_bytes = private_bytes();
  before_ = now;
}

}  // namespace onrush
