#include "proto/host_facts.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "proto/listening_sockets.h"

namespace onrush {

std::int64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::string boot_id() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string id;
  file >> id;
  return id;
}

std::uint64_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

void hold_standard_descriptors() noexcept {
  int descriptor = 0;
  do {
    descriptor = open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) close(descriptor);
}

namespace {

std::string contents(const std::string& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void read_limits(HostFacts& facts) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  facts.set(Fact::descriptors_soft, limit.rlim_cur);
  facts.set(Fact::descriptors_hard, limit.rlim_max);
}

void read_ports(HostFacts& facts) {
  constexpr std::uint16_t kFirstPort = 1024;  // the blocks begin there
  const std::vector<std::uint16_t> ports = occupied_ports();
  const auto above = std::lower_bound(ports.begin(), ports.end(), kFirstPort);
  facts.set(Fact::occupied_ports, static_cast<std::uint64_t>(ports.end() - above));
}

// Each group and all above it. In a container the path is often the host's, and the mount begins at our own
// group: then that is read.
std::vector<std::string> groups(const std::string& mount, std::string path) {
  std::vector<std::string> all;
  if (!std::ifstream{mount + path + "/cgroup.procs"}) path.clear();
  for (;; path.erase(path.rfind('/'))) {
    all.push_back(mount + path);
    if (path.rfind('/') == std::string::npos) return all;
  }
}

// The statistics of a group are costly to read, and without a limit nobody needs them.
void read_group(const std::string& limit_file, const std::string& used_file, const std::string& stat_file,
                HostFacts& facts) {
  constexpr std::size_t kDigitsOfNoLimit = 19;
  const std::string limit = contents(limit_file);
  if (limit.empty() || limit.starts_with("max") || limit.size() > kDigitsOfNoLimit) return;
  read_cgroup_memory({limit, contents(used_file), contents(stat_file)}, facts);
}

void read_cgroups(HostFacts& facts, bool cpu) {
  const CgroupPaths paths = cgroup_paths(contents("/proc/self/cgroup"));
  for (const std::string& group : groups("/sys/fs/cgroup", paths.unified)) {
    read_group(group + "/memory.max", group + "/memory.current", group + "/memory.stat", facts);
    if (cpu) read_cpu_quota(contents(group + "/cpu.max"), facts);
  }
  if (!paths.v1_memory.empty())
    for (const std::string& group : groups("/sys/fs/cgroup/memory", paths.v1_memory))
      read_group(group + "/memory.limit_in_bytes", group + "/memory.usage_in_bytes", group + "/memory.stat",
                 facts);
  if (cpu && !paths.v1_cpu.empty())
    for (const std::string& group : groups("/sys/fs/cgroup/cpu", paths.v1_cpu))
      read_cpu_quota(contents(group + "/cpu.cfs_quota_us") + " " + contents(group + "/cpu.cfs_period_us"),
                     facts);
}

std::string word_in(const char* sysctl) {
  std::ifstream in{sysctl_file(sysctl)};
  std::string word;
  in >> word;
  return word;
}

}  // namespace

void read_memory_facts(HostFacts& facts) {
  // The tightest group is found anew: what it had used a second ago must not be compared with.
  facts.set(Fact::cgroup_limit, HostFacts::kUnknown);
  read_meminfo(contents("/proc/meminfo"), facts);
  read_sockstat(contents("/proc/net/sockstat"), facts);
  read_cgroups(facts, false);
}

HostFacts read_host_facts() {
  HostFacts facts;
  read_limits(facts);
  for (const auto& [fact, name] : sysctl_facts()) read_sysctl(fact, contents(sysctl_file(name)), facts);
  read_file_nr(contents("/proc/sys/fs/file-nr"), facts);
  read_port_range(contents("/proc/sys/net/ipv4/ip_local_port_range"), facts);
  read_tcp_mem(contents("/proc/sys/net/ipv4/tcp_mem"), facts);
  read_capabilities(contents("/proc/self/status"), contents("/proc/self/uid_map"), facts);
  read_ports(facts);
  read_meminfo(contents("/proc/meminfo"), facts);
  read_sockstat(contents("/proc/net/sockstat"), facts);
  read_cgroups(facts, true);
  facts.set(Fact::cores, std::thread::hardware_concurrency());
  read_allowed_congestion(contents(sysctl_file("net.ipv4.tcp_allowed_congestion_control")), facts);
  facts.congestion_control = word_in("net.ipv4.tcp_congestion_control");
  facts.queueing = word_in("net.core.default_qdisc");
  return facts;
}

}  // namespace onrush
