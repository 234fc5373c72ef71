#include "agent/broadcasts.h"

#include <algorithm>
#include <bit>

#include "agent/recorder.h"

namespace onrush {

Broadcasts::Broadcasts(std::uint32_t scenario, std::uint32_t capacity)
    : scenario_{scenario}, seen_(kRemembered), begun_(std::max<std::uint32_t>(capacity, 1)) {}

void Broadcasts::listener_began(const Slab& slab, const Session& session) noexcept {
  ++listeners_;
  newest_ = (newest_ + 1) % begun_.size();
  begun_[newest_] = {slab.slot_of(session), session.generation};
}

// Listeners are remembered in the order in which they began, and nearly always all opened long before the
// broadcast; so those that opened after it are found by going back from the newest until one opened before.
std::uint64_t Broadcasts::entitled(Slab& slab, const Copy& copy) const noexcept {
  if (copy.batch_us == 0) return listeners_;
  std::uint64_t too_late = 0;
  for (std::size_t back = 0; back < begun_.size(); ++back) {
    const Begun& begun = begun_[(newest_ + begun_.size() - back) % begun_.size()];
    if (begun.slot == 0) break;
    const Session* session = slab.find(begun.slot, begun.generation);
    if (session == nullptr || !session->has(kNumbered)) continue;
    if (session->begun_ns / 1000 + copy.wall_offset_us <= copy.batch_us) break;
    ++too_late;
  }
  return listeners_ - std::min(too_late, listeners_);
}

void Broadcasts::received(Slab& slab, const Copy& copy, Recorder& recorder) {
  Seen& seen = seen_[copy.sequence % kRemembered];
  const bool opened_after = copy.batch_us != 0 && copy.opened_us > copy.batch_us;
  // A smaller number with a later fan-out: the target has begun to count anew.
  const bool late = seen.sequence > copy.sequence && !(copy.batch_us > seen.batch_us && seen.batch_us != 0);
  std::uint64_t expected = opened_after ? 1 : 0;
  if (seen.sequence != copy.sequence && !late) {
    seen = {copy.sequence, copy.batch_us};
    const std::uint64_t listeners = entitled(slab, copy);
    count_skipped(copy, listeners, recorder);
    expected += listeners;
    highest_ = copy.sequence;
  }
  if (seen.sequence == copy.sequence && seen.batch_us == 0) seen.batch_us = copy.batch_us;
  recorder.broadcast(scenario_, copy.sequence, copy.batch_us, expected, copy.received_us);
}

void Broadcasts::count_skipped(const Copy& copy, std::uint64_t entitled, Recorder& recorder) {
  if (highest_ == 0 || copy.sequence <= highest_) return;
  const std::uint64_t first =
      std::max(highest_ + 1, copy.sequence - std::min<std::uint64_t>(copy.sequence, 64));
  for (std::uint64_t skipped = first; skipped < copy.sequence; ++skipped) {
    seen_[skipped % kRemembered] = {skipped, 0};
    recorder.broadcast(scenario_, skipped, 0, entitled, 0);
  }
}

}  // namespace onrush
