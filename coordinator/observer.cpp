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

#include "proto/listening_sockets.h"

namespace onrush {
namespace {

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
  for (const ListeningSocket& socket : listening_sockets())
    if (socket.port == port) inodes.insert("socket:[" + std::to_string(socket.inode) + "]");
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
