// Fixed places for sessions: taken and given back in O(1), found again by place and generation.
//
// Why: a session that ends while an event for it is still under way must not be mistaken for the next one in
// its place. Owner: one worker. Always: nothing is allocated after construction; memory that was never used
// is never touched (calloc's fresh pages), so capacity is cheap; place 0 is never given out.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/check.h"
#include "core/session.h"

namespace onrush {

class Slab {
 public:
  explicit Slab(std::uint32_t capacity)
      : capacity_{capacity}, memory_{std::calloc(std::size_t{capacity} + 2, sizeof(Session))} {
    if (memory_ == nullptr) throw std::bad_alloc{};
    // calloc aligns to 16; one spare place lets the first session begin at a cache line.
    void* first = memory_.get();
    std::size_t room = (std::size_t{capacity} + 2) * sizeof(Session);
    std::align(alignof(Session), (std::size_t{capacity} + 1) * sizeof(Session), first, room);
    places_ = static_cast<Session*>(first);
  }

  /// A free place, zeroed except for its generation, which differs from all it had before; 0 if all are
  /// taken. The caller moves it out of State::idle.
  [[nodiscard]] SlotIndex acquire() noexcept {
    SlotIndex slot = free_;
    if (slot != 0) {
      free_ = places_[slot].timer_next;
    } else if (touched_ < capacity_) {
      slot = ++touched_;
    } else {
      return 0;
    }
    const std::uint32_t generation = places_[slot].generation + 1;
    places_[slot] = Session{};
    places_[slot].generation = generation;
    places_[slot].fd = -1;
    ++used_;
    return slot;
  }

  void release(SlotIndex slot) noexcept {
    Session& session = at(slot);
    ONRUSH_CHECK(session.state != State::idle && !session.has(kTimerArmed));
    session.state = State::idle;
    session.timer_next = free_;
    free_ = slot;
    --used_;
  }

  /// The session that an event was meant for; nullptr if it has ended since.
  [[nodiscard]] Session* find(SlotIndex slot, std::uint32_t generation) noexcept {
    if (slot == 0 || slot > touched_) return nullptr;
    Session& session = places_[slot];
    return session.state != State::idle && session.generation == generation ? &session : nullptr;
  }

  [[nodiscard]] Session& at(SlotIndex slot) noexcept {
    ONRUSH_CHECK(slot != 0 && slot <= touched_);
    return places_[slot];
  }
  [[nodiscard]] SlotIndex slot_of(const Session& session) const noexcept {
    return static_cast<SlotIndex>(&session - places_);
  }

  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint32_t used() const noexcept { return used_; }
  /// Places 1 to touched() have been in use.
  [[nodiscard]] std::uint32_t touched() const noexcept { return touched_; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  std::uint32_t capacity_;
  std::uint32_t used_ = 0;
  std::uint32_t touched_ = 0;
  SlotIndex free_ = 0;  ///< list through timer_next, which a free place does not need
  std::unique_ptr<void, Free> memory_;
  Session* places_;
};

}  // namespace onrush
