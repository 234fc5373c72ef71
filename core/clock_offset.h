// How far the coordinator's clock is ahead of an agent's, and how wrong that can be at most.
//
// Why: agents start at one instant and broadcasts are timed across machines; a one-way time is worth no more
// than the bound beside it. Owner: the agent's control link; pure, times are arguments. Monotonic clocks,
// nanoseconds.
//
// A probe leaves the agent at t1, reaches the coordinator at t2, leaves it at t3 and is back at t4. With the
// true offset o and the delays d1, d2 >= 0: t2 = t1 + d1 + o and t4 = t3 + d2 - o. Half the sum of (t2 - t1)
// and (t3 - t4) is o + (d1 - d2) / 2, so it misses o by at most half of the round trip d1 + d2, however
// unequal the two ways are.
#pragma once

#include <cstdint>
#include <optional>

namespace onrush {

struct ClockEstimate {
  std::int64_t offset_ns;  ///< coordinator's clock - agent's clock
  std::int64_t bound_ns;   ///< the true offset lies within offset_ns +- bound_ns
};

class ClockOffset {
 public:
  /// Both sides run on one kernel (equal boot ids): one clock, no offset, no error; probes change nothing any
  /// more.
  void same_kernel() noexcept { same_kernel_ = true; }

  /// Takes a probe in. False: its times contradict each other, and it is not used.
  bool probe(std::int64_t t1_ns, std::int64_t t2_ns, std::int64_t t3_ns, std::int64_t t4_ns) noexcept;

  /// The best estimate at `now_ns` of the agent's clock; nothing before the first probe.
  [[nodiscard]] std::optional<ClockEstimate> at(std::int64_t now_ns) const noexcept;

 private:
  struct Best {
    std::int64_t offset_ns;
    std::int64_t half_round_trip_ns;
    std::int64_t taken_ns;
  };
  std::optional<Best> best_;
  bool same_kernel_ = false;
};

}  // namespace onrush
