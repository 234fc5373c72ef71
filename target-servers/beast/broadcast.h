// Fan-out: how one `broadcast` becomes a message to every connection of /broadcast.
//
// Why: `sent_us` differs for every recipient, so no two messages are equal. What they share, the pad, exists
// once a worker; what differs is written into some hundred bytes that the connection owns. A recipient's
// queue is a number: the last broadcast it was given, in its worker's log of the most recent ones. Owner:
// BroadcastLog, Recipients and Pad belong to one worker's thread; Broadcaster to all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace target {

struct Worker;

inline constexpr std::size_t kMaxMessageBytes = std::size_t{16} << 20;

/// Wall clock, microseconds since 1970.
[[nodiscard]] std::int64_t wall_clock_us();

struct Broadcast {
  std::uint64_t seq = 0;  ///< counts from 1
  std::int64_t batch_us = 0;
  std::size_t bytes = 0;  ///< length of the message wanted; 0 = as short as it is
};

/// The size asked for by a text message: `broadcast` is 0, `broadcast BYTES` is BYTES, anything else is not
/// one.
[[nodiscard]] std::optional<std::size_t> parse_broadcast(std::string_view text);

/// The last kCapacity broadcasts: the bound of every recipient's queue.
class BroadcastLog {
 public:
  static constexpr std::uint64_t kCapacity = 1024;

  void add(const Broadcast& broadcast);
  [[nodiscard]] std::uint64_t last() const { return last_; }

  /// The first broadcast after `given` that is still here, or null. `skipped` = those between that are gone.
  [[nodiscard]] const Broadcast* after(std::uint64_t given, std::uint64_t& skipped) const;

 private:
  std::uint64_t last_ = 0;
  std::array<Broadcast, kCapacity> ring_{};
};

/// A connection that broadcasts go to.
class Recipient {
 public:
  virtual void broadcast_added() = 0;

 protected:
  ~Recipient() = default;

 private:
  friend class Recipients;
  std::size_t place_ = 0;
};

class Recipients {
 public:
  void join(Recipient& recipient);
  void leave(Recipient& recipient);
  void tell_all();

 private:
  std::vector<Recipient*> all_;
};

/// Letters to fill up messages with; grows to the longest asked for and never moves, since writes point into
/// it.
class Pad {
 public:
  [[nodiscard]] const char* letters(std::size_t count);

 private:
  std::unique_ptr<char[]> letters_;
  std::size_t filled_ = 0;
};

/// Numbers broadcasts and hands each to all workers. Any thread.
class Broadcaster {
 public:
  void begin(std::size_t bytes, const std::vector<std::unique_ptr<Worker>>& workers);

 private:
  void hand_to(Worker& worker);

  // Guards every worker's list of begun broadcasts, so that all workers see them in one order. The order of
  // posts alone would not do: asio keeps a worker's posts to itself apart from those of others.
  std::mutex mutex_;
  std::uint64_t last_ = 0;
};

}  // namespace target
