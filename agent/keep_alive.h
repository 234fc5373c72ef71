// Which slot's keep-alive ping is due when: all of a worker's pings, spread evenly over their interval.
//
// Why: a million pings at one instant every 20 s are a load of their own, and a second timer a connection
// would cost every idle user. Here a round visits each slot once an interval, in an order that spreads any
// few of them over it, and a second round follows it by the time-out: who has not answered by then is dead.
// Owner: one worker. Empty (no slot) if the plan asks for no pings; then nothing here costs anything. Times
// are monotonic nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/connection.h"
#include "core/session.h"

namespace onrush {

class KeepAliveRound {
 public:
  KeepAliveRound(const std::optional<KeepAlive>& ping, std::uint32_t slots);

  [[nodiscard]] bool is_on() const noexcept { return !sent_ns_.empty(); }
  void begin(std::int64_t at_ns) noexcept { begin_ns_ = looked_ns_ = at_ns; }

  /// The next slot whose answer is due by `now_ns`; its ping may have been answered, or never sent.
  [[nodiscard]] std::optional<SlotIndex> next_answer(std::int64_t now_ns) noexcept;
  /// The next slot whose ping is due by `now_ns`, whether it has a connection or not.
  [[nodiscard]] std::optional<SlotIndex> next_ping(std::int64_t now_ns) noexcept;
  void looked(std::int64_t now_ns) noexcept { looked_ns_ = now_ns; }
  /// When to look again: many pings at once, but seldom enough that an idle worker sleeps.
  [[nodiscard]] std::int64_t next_look_ns() const noexcept { return looked_ns_ + look_every_ns_; }

  /// When the slot's ping was sent that has no answer yet; 0 if there is none. It names the ping on the wire.
  [[nodiscard]] std::int64_t& sent_ns(SlotIndex slot) noexcept { return sent_ns_[slot]; }
  [[nodiscard]] std::int64_t timeout_ns() const noexcept { return timeout_ns_; }

 private:
  [[nodiscard]] std::int64_t due_ns(std::uint64_t visit) const noexcept;
  [[nodiscard]] SlotIndex slot_of(std::uint64_t visit) const noexcept;

  std::int64_t interval_ns_ = 0;
  std::int64_t timeout_ns_ = 0;
  std::int64_t look_every_ns_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t looked_ns_ = 0;
  std::uint64_t slots_ = 0;
  std::uint64_t stride_ = 1;  ///< from one visit's slot to the next; has no divisor in common with slots_
  std::uint64_t pinged_ = 0;  ///< visits
  std::uint64_t checked_ = 0;
  std::vector<std::int64_t> sent_ns_;  ///< by slot
};

}  // namespace onrush
