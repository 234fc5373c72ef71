// When each arrival of a stage is due: the open-loop clock of a run.
//
// Why: a load generator that waits for the target before it sends hides the target's stalls. Here item k
// has a due time that depends on nothing but the plan, and whatever runs late is recorded as late.
// Owner: any thread; a Schedule is a value and never changes. Times are nanoseconds since the ramp began.
#pragma once

#include <cstdint>
#include <optional>

namespace onrush {

/// A constant or linearly changing arrival rate.
struct Ramp {
  double from_per_s;  ///< rate when it begins, >= 0
  double to_per_s;    ///< rate when it ends, >= 0
  double length_s;    ///< > 0; infinity if the rate is constant and the end is not known beforehand
};

/// The share of a plan that one worker runs: every `count`-th item, beginning with `index`.
/// Shares of all workers are disjoint and complete for any `count`.
struct Share {
  std::uint32_t index;  ///< < count
  std::uint32_t count;  ///< >= 1
};

/// Arrivals of a ramp from its begin until `t_s` (or its end, if that comes first), by the integral of the
/// rate.
[[nodiscard]] double arrivals_until(const Ramp& ramp, double t_s) noexcept;

/// When the ramp's integral comes to `x` (0 to its whole), in seconds since its begin.
[[nodiscard]] double seconds_until(const Ramp& ramp, double x) noexcept;
/// How many items are due before the running count of a run comes to `count`: the number of the next one.
[[nodiscard]] std::uint64_t items_before(double count) noexcept;

/// Items are numbered from 0 over the whole run, across ramps: k is due when `begun` + the ramp's integral =
/// k. An item due exactly when a ramp ends is the next ramp's, so `begun` = the predecessor's `ended()`
/// neither loses nor doubles.
class Schedule {
 public:
  /// `begun`: arrivals of the whole run before this ramp, with its fraction, which is carried over.
  Schedule(Ramp ramp, double begun, Share share) noexcept;

  /// The first item of this share in this ramp; nothing if there is none.
  [[nodiscard]] std::optional<std::uint64_t> first() const noexcept;
  /// The item of this share after `k`; nothing if the ramp holds no more.
  [[nodiscard]] std::optional<std::uint64_t> after(std::uint64_t k) const noexcept;
  /// When item `k` of the run, which lies in this ramp, is due: 0 to the ramp's length, never falling with k.
  [[nodiscard]] std::int64_t due_ns(std::uint64_t k) const noexcept;
  /// How many items of this share the ramp has; the largest number there is if it has no end.
  [[nodiscard]] std::uint64_t count() const noexcept;
  /// `begun` of the ramp that follows this one.
  [[nodiscard]] double ended() const noexcept;

 private:
  Ramp ramp_;
  double begun_;
  Share share_;
  std::uint64_t end_;  ///< number of the first item after this ramp
};

}  // namespace onrush
