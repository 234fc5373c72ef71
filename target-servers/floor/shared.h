// What the worker processes share: their counters, the log of broadcasts, a bell each.
//
// Why: a process has 20,000 descriptors at most, so a million connections take many processes, which must
// still be one server: one GET /stats for all of them, one numbering of broadcasts. Owner: made before the
// first fork, in anonymous shared memory; lives until the last process ends. Always: a worker alone writes
// its counters; a broadcast's number is taken once, and whoever joined before that gets it.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace target {

inline constexpr std::size_t kMaxMessageBytes = std::size_t{16} << 20;

/// Wall clock, microseconds since 1970.
[[nodiscard]] std::int64_t wall_clock_us() noexcept;

/// One worker's figures, on a cache line of their own.
struct alignas(64) Counters {
  std::atomic<pid_t> pid;
  std::atomic<std::int64_t> connections;
  std::atomic<std::int64_t> messages_in;
  std::atomic<std::int64_t> messages_out;
  std::atomic<std::int64_t> broadcasts_dropped;
};

/// Without a locked instruction: each counter has one writer.
inline void add(std::atomic<std::int64_t>& counter, std::int64_t amount) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

struct Broadcast {
  std::uint32_t seq = 0;  ///< counts from 1
  std::int64_t batch_us = 0;
  std::size_t bytes = 0;  ///< length of the message wanted; 0 = as short as it is
};

/// The size asked for by a text message: `broadcast` is 0, `broadcast BYTES` is BYTES, anything else is none.
[[nodiscard]] std::optional<std::size_t> parse_broadcast(std::string_view text);

/// The most recent broadcasts: the bound of every recipient's queue.
class BroadcastLog {
 public:
  static constexpr std::uint32_t kCapacity = 1024;

  /// The last number taken. Who joins now gets those after it.
  [[nodiscard]] std::uint32_t last() const noexcept { return last_.load(); }
  void add(std::size_t bytes) noexcept;

  enum class Found : std::uint8_t { here, not_yet, gone };
  [[nodiscard]] Found find(std::uint32_t seq, Broadcast& into) const noexcept;

 private:
  struct Entry {
    std::atomic<std::uint32_t> seq;  ///< 0 while it is being written
    std::atomic<std::int64_t> batch_us;
    std::atomic<std::size_t> bytes;
  };

  alignas(64) std::atomic<std::uint32_t> last_;
  alignas(64) std::array<Entry, kCapacity> ring_;
};

class Shared {
 public:
  static constexpr unsigned kMaxWorkers = 256;

  /// Throws std::system_error if the system has no room for it.
  explicit Shared(unsigned workers);

  [[nodiscard]] unsigned workers() const noexcept { return static_cast<unsigned>(bells_.size()); }
  [[nodiscard]] Counters& counters(unsigned worker) noexcept { return memory_->counters[worker]; }
  [[nodiscard]] BroadcastLog& log() noexcept { return memory_->log; }

  /// An eventfd. Watched by edge it is never read: each ring is an edge.
  [[nodiscard]] int bell(unsigned worker) const noexcept { return bells_[worker]; }
  /// Wakes every worker but the one that calls.
  void wake_others(unsigned caller) const noexcept;

  /// The body of GET /stats.
  [[nodiscard]] std::string stats() const;

 private:
  struct Memory {
    std::array<Counters, kMaxWorkers> counters;
    BroadcastLog log;
  };

  Memory* memory_;
  std::vector<int> bells_;
  pid_t server_;  ///< the process that was started
};

}  // namespace target
