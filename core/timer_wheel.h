// Deadlines of all sessions of a worker: set, moved and cleared in O(1), never early.
//
// Why: a million users think, wait for replies and close; a heap would cost a cache miss a level for each.
// The wheel has four levels of 256 buckets; a tick is 65,536 ns, so paced messages leave within 0.07 ms of
// their due time. Owner: one worker. Links and the exact deadline (wake_ns) live in the session; the wheel
// itself allocates nothing.
//
// A deadline's tick t and the current tick c fix its bucket: the highest byte in which they differ is the
// level, that byte of t is the place (as in the kernel's and tokio's wheels). This stays true while c moves,
// because whenever c enters a bucket of a higher level, that bucket is dealt out again. So the bucket is
// never stored. What differs above the fourth byte (78 hours ahead) waits in one more bucket.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "core/slab.h"

namespace onrush {

class TimerWheel {
 public:
  static constexpr int kTickBits = 16;
  static constexpr std::int64_t kTick_ns = std::int64_t{1} << kTickBits;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  TimerWheel(Slab& slab, std::int64_t now_ns) noexcept : slab_{slab}, tick_{tick_before(now_ns)} {}

  /// Sets or moves the session's deadline.
  void arm(Session& session, std::int64_t deadline_ns) noexcept {
    disarm(session);
    session.wake_ns = deadline_ns;
    session.set(kTimerArmed);
    link(session);
    ++armed_;
  }

  void disarm(Session& session) noexcept {
    if (!session.has(kTimerArmed)) return;
    unlink(session);
    session.clear(kTimerArmed);
    --armed_;
  }

  /// Calls `fire(session)` for every deadline that has come, at most `budget` times; the timer is disarmed
  /// before and may be armed again. Returns how often; equal to `budget` means there may be more.
  template <class Fire>
  std::uint32_t advance(std::int64_t now_ns, std::uint32_t budget, Fire&& fire) noexcept {
    const std::uint64_t now = tick_before(now_ns);
    std::uint32_t fired = 0;
    while (armed_ != 0) {
      for (SlotIndex first; (first = heads_[tick_ & 255]) != 0 && fired < budget; ++fired) {
        Session& session = slab_.at(first);
        disarm(session);
        fire(session);
      }
      if (fired == budget || tick_ >= now) return fired;
      move_to(std::min(now, next_tick(1)));
    }
    tick_ = std::max(tick_, now);
    return fired;
  }

  /// Nothing is due before this instant; kNever if nothing is armed. May be earlier than the first deadline.
  [[nodiscard]] std::int64_t next_due_ns() const noexcept {
    if (armed_ == 0) return kNever;
    return instant_of(next_tick(0));
  }

  [[nodiscard]] std::uint32_t armed() const noexcept { return armed_; }

 private:
  static constexpr int kLevels = 4;
  static constexpr std::uint32_t kFar = kLevels * 256;

  static std::uint64_t tick_before(std::int64_t ns) noexcept {
    return static_cast<std::uint64_t>(ns) >> kTickBits;
  }
  static std::int64_t instant_of(std::uint64_t tick) noexcept {
    return static_cast<std::int64_t>(tick << kTickBits);
  }

  // Rounded up, so that the tick has passed only when the deadline has.
  static std::uint64_t tick_of(std::int64_t deadline_ns) noexcept {
    return tick_before(std::max<std::int64_t>(deadline_ns, 0) + kTick_ns - 1);
  }

  [[nodiscard]] std::uint32_t bucket_of(const Session& session) const noexcept {
    const std::uint64_t tick = std::max(tick_of(session.wake_ns), tick_);
    const std::uint64_t differs = tick ^ tick_;
    if (differs >> 32 != 0) return kFar;
    const int level = differs == 0 ? 0 : (static_cast<int>(std::bit_width(differs)) - 1) / 8;
    return static_cast<std::uint32_t>(level * 256) + static_cast<std::uint32_t>(tick >> (8 * level) & 255);
  }

  void link(Session& session) noexcept {
    const std::uint32_t bucket = bucket_of(session);
    const SlotIndex slot = slab_.slot_of(session);
    SlotIndex& head = heads_[bucket];
    if (head == 0) {
      head = session.timer_next = session.timer_previous = slot;
      occupied_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
      return;
    }
    Session& first = slab_.at(head);
    Session& last = slab_.at(first.timer_previous);
    session.timer_previous = first.timer_previous;
    session.timer_next = head;
    last.timer_next = slot;
    first.timer_previous = slot;
  }

  void unlink(Session& session) noexcept {
    const std::uint32_t bucket = bucket_of(session);
    const SlotIndex slot = slab_.slot_of(session);
    if (session.timer_next == slot) {
      ONRUSH_CHECK(heads_[bucket] == slot);
      heads_[bucket] = 0;
      occupied_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
      return;
    }
    slab_.at(session.timer_previous).timer_next = session.timer_next;
    slab_.at(session.timer_next).timer_previous = session.timer_previous;
    if (heads_[bucket] == slot) heads_[bucket] = session.timer_next;
  }

  // The first tick of the first occupied bucket, on level 0 `from_here` places ahead or later.
  [[nodiscard]] std::uint64_t next_tick(std::uint32_t from_here) const noexcept {
    for (int level = 0; level < kLevels; ++level) {
      const int shift = 8 * level;
      const auto here = static_cast<std::uint32_t>(tick_ >> shift & 255);
      const std::uint32_t next = next_in(level, here + (level == 0 ? from_here : 1));
      if (next < 256) return (tick_ >> (shift + 8) << (shift + 8)) + (std::uint64_t{next} << shift);
    }
    return (tick_ >> 32 << 32) + (std::uint64_t{1} << 32);
  }

  // The first occupied place of a level at or after `from`; 256 if there is none.
  [[nodiscard]] std::uint32_t next_in(int level, std::uint32_t from) const noexcept {
    const std::size_t words = static_cast<std::size_t>(level) * 4;
    for (std::uint32_t word = from / 64; word < 4; ++word) {
      std::uint64_t bits = occupied_[words + word];
      if (word == from / 64) bits &= ~std::uint64_t{0} << (from % 64);
      if (bits != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    return 256;
  }

  // Moves on to `tick`, past no occupied bucket of level 0, and deals out the buckets that it enters.
  void move_to(std::uint64_t tick) noexcept {
    const std::uint64_t crossed = tick ^ tick_;
    tick_ = tick;
    if (crossed >> 32 != 0) deal_out(kFar);
    for (int level = kLevels - 1; level >= 1; --level)
      if (crossed >> (8 * level) != 0)
        deal_out(static_cast<std::uint32_t>(level * 256) +
                 static_cast<std::uint32_t>(tick >> (8 * level) & 255));
  }

  void deal_out(std::uint32_t bucket) noexcept {
    SlotIndex slot = heads_[bucket];
    if (slot == 0) return;
    heads_[bucket] = 0;
    occupied_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
    const SlotIndex last = slab_.at(slot).timer_previous;
    for (;;) {
      Session& session = slab_.at(slot);
      const SlotIndex next = session.timer_next;
      link(session);
      if (slot == last) return;
      slot = next;
    }
  }

  Slab& slab_;
  std::uint64_t tick_;
  std::uint32_t armed_ = 0;
  std::array<SlotIndex, kFar + 1> heads_{};
  std::array<std::uint64_t, kFar / 64 + 1> occupied_{};
};

}  // namespace onrush
