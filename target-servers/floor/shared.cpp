#include "target-servers/floor/shared.h"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <new>
#include <system_error>

namespace target {
namespace {

std::int64_t read_clock_us(clockid_t clock) noexcept {
  timespec t{};
  if (clock_gettime(clock, &t) != 0) return 0;
  return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_nsec / 1000;
}

std::int64_t cpu_us(pid_t process) noexcept {
  clockid_t clock{};
  return clock_getcpuclockid(process, &clock) == 0 ? read_clock_us(clock) : 0;
}

/// Resident pages that are no file's and not shared memory.
std::int64_t private_bytes(pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/statm", static_cast<int>(process));
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  long long resident = 0;
  long long shared = 0;
  const bool read = std::fscanf(file, "%*d %lld %lld", &resident, &shared) == 2;
  std::fclose(file);
  return read ? (resident - shared) * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

std::int64_t wall_clock_us() noexcept { return read_clock_us(CLOCK_REALTIME); }

std::optional<std::size_t> parse_broadcast(std::string_view text) {
  constexpr std::string_view kWord = "broadcast";
  if (text.substr(0, kWord.size()) != kWord) return std::nullopt;
  text.remove_prefix(kWord.size());
  if (text.empty()) return 0;
  if (text.front() != ' ') return std::nullopt;
  text.remove_prefix(1);
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return std::min(bytes, kMaxMessageBytes);
}

void BroadcastLog::add(std::size_t bytes) noexcept {
  const std::uint32_t seq = last_.fetch_add(1) + 1;
  Entry& entry = ring_[seq % kCapacity];
  entry.seq.store(0);
  entry.batch_us.store(wall_clock_us());
  entry.bytes.store(bytes);
  entry.seq.store(seq);
}

BroadcastLog::Found BroadcastLog::find(std::uint32_t seq, Broadcast& into) const noexcept {
  const auto ahead = static_cast<std::int32_t>(last_.load() - seq);
  if (ahead < 0) return Found::not_yet;
  if (ahead >= static_cast<std::int32_t>(kCapacity)) return Found::gone;
  const Entry& entry = ring_[seq % kCapacity];
  if (entry.seq.load() != seq) return Found::not_yet;  // its writer rings when it is done
  into = {seq, entry.batch_us.load(), entry.bytes.load()};
  return entry.seq.load() == seq ? Found::here : Found::gone;
}

Shared::Shared(unsigned workers) : server_{getpid()} {
  void* memory = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "shared memory"};
  memory_ = new (memory) Memory{};
  for (unsigned i = 0; i < workers; ++i) {
    const int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (bell < 0) throw std::system_error{errno, std::generic_category(), "eventfd"};
    bells_.push_back(bell);
  }
}

void Shared::wake_others(unsigned caller) const noexcept {
  const std::uint64_t one = 1;
  for (unsigned i = 0; i < bells_.size(); ++i)
    if (i != caller) {
      // A bell that cannot take one more has rung 2^64 times.
      [[maybe_unused]] const auto rung = write(bells_[i], &one, sizeof one);
    }
}

std::string Shared::stats() const {
  Counters sum{};
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (unsigned i = 0; i < workers(); ++i) {
    const Counters& worker = memory_->counters[i];
    const std::int64_t connections = worker.connections.load(std::memory_order_relaxed);
    add(sum.connections, connections);
    add(sum.messages_in, worker.messages_in.load(std::memory_order_relaxed));
    add(sum.messages_out, worker.messages_out.load(std::memory_order_relaxed));
    add(sum.broadcasts_dropped, worker.broadcasts_dropped.load(std::memory_order_relaxed));
    least = i == 0 ? connections : std::min(least, connections);
    most = std::max(most, connections);
    const pid_t process = worker.pid.load(std::memory_order_relaxed);
    cpu += cpu_us(process);
    memory += private_bytes(process);
  }
  char text[512];
  const int length = std::snprintf(
      text, sizeof text,
      R"({"pid":%d,"runtime":"epoll","version":"%s","connections":%lld,"messages_in":%lld,"messages_out":%lld,)"
      R"("broadcasts_dropped":%lld,"workers":%u,"fewest_of_a_worker":%lld,"most_of_a_worker":%lld,)"
      R"("cpu_s":%.6f,"memory_private_bytes":%lld})"
      "\n",
      static_cast<int>(server_), ONRUSH_VERSION, static_cast<long long>(sum.connections),
      static_cast<long long>(sum.messages_in), static_cast<long long>(sum.messages_out),
      static_cast<long long>(sum.broadcasts_dropped), workers(), static_cast<long long>(least),
      static_cast<long long>(most), static_cast<double>(cpu) * 1e-6, static_cast<long long>(memory));
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace target
