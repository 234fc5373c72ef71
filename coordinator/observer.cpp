#include "coordinator/observer.h"

#include <dirent.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace onrush {
namespace {

constexpr const char* kListening = "0A";  // TCP_LISTEN in /proc/net/tcp

// Inodes of the sockets that listen on the port: columns of /proc/net/tcp are sl, local, remote, state,
// queues, timer, retransmits, uid, timeout, inode (proc(5)).
void add_listeners(const char* table, std::uint16_t port, std::set<std::string>& inodes) {
  std::ifstream file{table};
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::istringstream columns{line};
    std::string sl, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
    columns >> sl >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >> inode;
    const std::size_t colon = local.rfind(':');
    if (state != kListening || colon == std::string::npos) continue;
    if (std::strtoul(local.c_str() + colon + 1, nullptr, 16) == port) inodes.insert("socket:[" + inode + "]");
  }
}

bool holds_one_of(const std::string& process, const std::set<std::string>& inodes) {
  const std::string folder = process + "/fd";
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return false;
  bool found = false;
  std::array<char, 64> link{};
  while (const dirent* entry = readdir(directory)) {
    const ssize_t length = readlink((folder + "/" + entry->d_name).c_str(), link.data(), link.size());
    if (length > 0 && inodes.count({link.data(), static_cast<std::size_t>(length)}) != 0) {
      found = true;
      break;
    }
  }
  closedir(directory);
  return found;
}

}  // namespace

std::vector<int> processes_listening_on(std::uint16_t port) {
  std::set<std::string> inodes;
  add_listeners("/proc/net/tcp", port, inodes);
  add_listeners("/proc/net/tcp6", port, inodes);
  std::vector<int> pids;
  if (inodes.empty()) return pids;
  DIR* directory = opendir("/proc");
  if (directory == nullptr) return pids;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    if (holds_one_of("/proc/" + name, inodes)) pids.push_back(pid);
  }
  closedir(directory);
  return pids;
}

std::optional<ProcessCost> cost_of(int pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::ifstream file{process + "/stat"};
  std::string stat{std::istreambuf_iterator<char>{file}, {}};
  // The command in parentheses may hold anything, so count from its last ')': state is 3rd, utime 14th, stime
  // 15th.
  const std::size_t command_end = stat.rfind(')');
  if (command_end == std::string::npos) return std::nullopt;
  std::istringstream columns{stat.substr(command_end + 2)};
  std::string skipped;
  for (int column = 3; column < 14; ++column) columns >> skipped;
  double user_ticks = 0, system_ticks = 0;
  columns >> user_ticks >> system_ticks;
  std::ifstream statm{process + "/statm"};
  std::uint64_t pages = 0, resident_pages = 0;
  if (!columns || !(statm >> pages >> resident_pages)) return std::nullopt;
  return ProcessCost{(user_ticks + system_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK)),
                     resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
}

Observer::Observer(std::vector<Observed> observed, Sample sample)
    : observed_{std::move(observed)}, sample_{std::move(sample)}, cpu_s_(observed_.size()), thread_{[this] {
        run();
      }} {}

Observer::~Observer() {
  {
    const std::lock_guard lock{mutex_};
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Observer::run() {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock{mutex_};
  while (!ended_.wait_until(lock, next, [this] { return end_; })) {
    for (std::uint32_t i = 0; i < observed_.size(); ++i) sample(i);
    next += std::chrono::seconds{1};
  }
}

void Observer::sample(std::uint32_t index) {
  std::map<int, double>& before = cpu_s_[index];
  if (before.empty())
    for (const int pid : processes_listening_on(observed_[index].port))
      if (const std::optional<ProcessCost> cost = cost_of(pid)) before[pid] = cost->cpu_s;
  double cpu_s = 0;
  std::uint64_t memory_bytes = 0;
  for (auto process = before.begin(); process != before.end();) {
    const std::optional<ProcessCost> cost = cost_of(process->first);
    if (!cost) {  // it ended; when none is left the port is looked up again
      process = before.erase(process);
      continue;
    }
    cpu_s += cost->cpu_s - std::exchange(process->second, cost->cpu_s);
    memory_bytes += cost->memory_bytes;
    ++process;
  }
  if (!before.empty()) sample_(index, cpu_s, memory_bytes);
}

}  // namespace onrush
