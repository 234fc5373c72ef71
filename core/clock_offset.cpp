#include "core/clock_offset.h"

#include <algorithm>

namespace onrush {

namespace {

// Quartz clocks are good to 50 parts in a million, so two of them part by up to 100: 1 ns in 10 us.
std::int64_t drift_ns(std::int64_t age_ns) { return std::max<std::int64_t>(age_ns, 0) / 10'000; }

}  // namespace

// The shortest round trip bounds the error best, until drift has spoilt it. Drift adds to all old probes
// alike, so a probe that is worse than another stays worse, and the best one is all that has to be kept.
bool ClockOffset::probe(std::int64_t t1_ns, std::int64_t t2_ns, std::int64_t t3_ns,
                        std::int64_t t4_ns) noexcept {
  const std::int64_t round_trip_ns = (t4_ns - t1_ns) - (t3_ns - t2_ns);
  if (t4_ns < t1_ns || t3_ns < t2_ns || round_trip_ns < 0) return false;
  const Best fresh{((t2_ns - t1_ns) + (t3_ns - t4_ns)) / 2, (round_trip_ns + 1) / 2, t4_ns};
  if (!best_ || fresh.half_round_trip_ns <= best_->half_round_trip_ns + drift_ns(t4_ns - best_->taken_ns))
    best_ = fresh;
  return true;
}

std::optional<ClockEstimate> ClockOffset::at(std::int64_t now_ns) const noexcept {
  if (same_kernel_) return ClockEstimate{0, 0};
  if (!best_) return std::nullopt;
  return ClockEstimate{best_->offset_ns, best_->half_round_trip_ns + drift_ns(now_ns - best_->taken_ns)};
}

}  // namespace onrush
