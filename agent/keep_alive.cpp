#include "agent/keep_alive.h"

#include <algorithm>
#include <numeric>

namespace onrush {
namespace {

// A round is looked at in so many steps, and never more often than each millisecond.
constexpr std::int64_t kLooksPerRound = 1024;
constexpr std::int64_t kShortestLook_ns = 1'000'000;

// Multiples of the golden ratio leave the largest gaps between any few of them (Knuth, volume 3,
// section 6.4).
std::uint64_t spreading_stride(std::uint64_t slots) {
  auto stride = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(slots) * 0.618034));
  while (std::gcd(stride, slots) != 1) ++stride;
  return stride;
}

}  // namespace

KeepAliveRound::KeepAliveRound(const std::optional<KeepAlive>& ping, std::uint32_t slots) {
  if (!ping || slots == 0) return;
  interval_ns_ = ping->interval_ns;
  timeout_ns_ = ping->timeout_ns;
  look_every_ns_ = std::max(kShortestLook_ns, std::min(interval_ns_, timeout_ns_) / kLooksPerRound);
  slots_ = slots;
  stride_ = spreading_stride(slots);
  sent_ns_.resize(slots + 1);
}

// Visit n is due at n * interval / slots; in whole rounds and a rest, so that no product leaves 64 bits.
std::int64_t KeepAliveRound::due_ns(std::uint64_t visit) const noexcept {
  const auto rest = static_cast<double>(visit % slots_) / static_cast<double>(slots_);
  return begin_ns_ + static_cast<std::int64_t>(visit / slots_) * interval_ns_ +
         static_cast<std::int64_t>(rest * static_cast<double>(interval_ns_));
}

SlotIndex KeepAliveRound::slot_of(std::uint64_t visit) const noexcept {
  return static_cast<SlotIndex>(visit % slots_ * stride_ % slots_) + 1;
}

std::optional<SlotIndex> KeepAliveRound::next_answer(std::int64_t now_ns) noexcept {
  // Pings leave up to a look later than they are due, and each has all of its time.
  const std::int64_t due = due_ns(checked_) + timeout_ns_ + 2 * look_every_ns_;
  if (checked_ >= pinged_ || due > now_ns) return std::nullopt;
  return slot_of(checked_++);
}

std::optional<SlotIndex> KeepAliveRound::next_ping(std::int64_t now_ns) noexcept {
  if (due_ns(pinged_) > now_ns) return std::nullopt;
  return slot_of(pinged_++);
}

}  // namespace onrush
