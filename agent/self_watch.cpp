#include "agent/self_watch.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

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
  host.retransmits = value_in(contents("/proc/net/snmp"), "Tcp:", "RetransSegs");
  host.listen_overflows = value_in(contents("/proc/net/netstat"), "TcpExt:", "ListenOverflows");
  host.softnet_drops = softnet_drops_in(contents("/proc/net/softnet_stat"));
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

std::uint64_t softnet_drops_in(std::string_view table) {
  std::istringstream lines{std::string{table}};
  std::string line;
  std::uint64_t drops = 0;
  while (std::getline(lines, line)) {
    std::istringstream fields{line};
    std::string processed, dropped;
    if (!(fields >> processed >> dropped)) continue;
    std::uint64_t number = 0;
    std::from_chars(dropped.data(), dropped.data() + dropped.size(), number, 16);
    drops += number;
  }
  return drops;
}

SelfWatch::SelfWatch() : before_{read_host()} {}

void SelfWatch::look(Health& health) {
  const HostCounters now = read_host();
  const std::uint64_t ticks = since(now.cpu_ticks, before_.cpu_ticks);
  if (ticks > 0)
    health.cpu_steal =
        static_cast<double>(since(now.steal_ticks, before_.steal_ticks)) / static_cast<double>(ticks);
  health.retransmits = since(now.retransmits, before_.retransmits);
  health.softnet_drops = since(now.softnet_drops, before_.softnet_drops);
  health.listen_overflows = since(now.listen_overflows, before_.listen_overflows);
  health.memory_bytes = private_bytes();
  before_ = now;
}

}  // namespace onrush
