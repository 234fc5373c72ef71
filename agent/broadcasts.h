// Which broadcasts this worker's listening users have seen, and how many users were entitled to each.
//
// Why: reach = received / expected needs the number of listeners at the moment a broadcast begins, and asking
// every session for each broadcast would cost more than receiving it. Owner: one worker; one of these a
// scenario.
//
// Expected of a broadcast: the users who listen when this worker first sees it and whose connection had
// opened before its fan-out began (`batch_us`), and each later one that receives it all the same, because the
// target had registered it before we saw its 101. A broadcast that nobody here saw counts when a later one
// shows that it was skipped. Always: nothing is allocated after construction; the last kRemembered broadcasts
// are told apart, older ones are late.
#pragma once

#include <cstdint>
#include <vector>

#include "core/slab.h"

namespace onrush {

class Recorder;

class Broadcasts {
 public:
  static constexpr std::size_t kRemembered = 4096;

  /// `capacity`: sessions of the worker.
  Broadcasts(std::uint32_t scenario, std::uint32_t capacity);

  void listener_began(const Slab& slab, const Session& session) noexcept;
  void listener_ended() noexcept { --listeners_; }
  [[nodiscard]] std::uint64_t listeners() const noexcept { return listeners_; }

  /// A copy that is the first for this listener. `wall_offset_us`: wall clock minus monotonic clock.
  struct Copy {
    std::uint64_t sequence;
    std::int64_t batch_us;     ///< 0 if the target does not say
    std::int64_t received_us;  ///< wall clock
    std::int64_t opened_us;    ///< wall clock when the listener's connection opened
    std::int64_t wall_offset_us;
  };
  void received(Slab& slab, const Copy& copy, Recorder& recorder);

 private:
  struct Seen {
    std::uint64_t sequence = 0;
    std::int64_t batch_us = 0;
  };
  struct Begun {
    SlotIndex slot;
    std::uint32_t generation;
  };

  [[nodiscard]] std::uint64_t entitled(Slab& slab, const Copy& copy) const noexcept;
  void count_skipped(const Copy& copy, std::uint64_t entitled, Recorder& recorder);

  std::uint32_t scenario_;
  std::uint64_t listeners_ = 0;
  std::uint64_t highest_ = 0;
  std::vector<Seen> seen_;    ///< by sequence modulo its size
  std::vector<Begun> begun_;  ///< a ring of those who began to listen, in order
  std::size_t newest_ = 0;
};

}  // namespace onrush
