// One broadcast on its way to the members of one worker, and the frame that they get.
//
// Why: a worker has up to 20,000 members. It gives them the message in slices and looks at its other sockets
// in between, and renders it once: only the digits of `sent_us` differ, and they are always sixteen. Owner:
// the worker. Always: members before the cursor have been looked at, those from it on not yet, whoever
// leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "target-servers/floor/shared.h"

namespace target {

/// A frame with a hole for the time at which it is sent.
class BroadcastFrame {
 public:
  void render(const Broadcast& broadcast);
  /// The frame as sent now. Valid until the next call.
  [[nodiscard]] std::string_view stamped() noexcept;

 private:
  std::string frame_;
  std::size_t stamp_at_ = 0;
};

class FanOut {
 public:
  static constexpr std::size_t kSlice = 256;

  /// Their places are told through `place_of(descriptor)`, a reference.
  template <class PlaceOf>
  void join(int descriptor, PlaceOf place_of) {
    place_of(descriptor) = static_cast<std::uint32_t>(members_.size());
    members_.push_back(descriptor);
  }

  template <class PlaceOf>
  void leave(int descriptor, PlaceOf place_of) {
    std::uint32_t hole = place_of(descriptor);
    const auto move_to_hole = [&](std::uint32_t from) {
      if (from == hole) return;  // what lies there has moved already
      members_[hole] = members_[from];
      place_of(members_[hole]) = hole;
      hole = from;
    };
    if (hole < cursor_) move_to_hole(--cursor_);
    move_to_hole(static_cast<std::uint32_t>(members_.size() - 1));
    members_.pop_back();
  }

  void begin(const Broadcast& broadcast) {
    seq_ = broadcast.seq;
    cursor_ = 0;
    under_way_ = true;
    frame_.render(broadcast);
  }
  [[nodiscard]] bool at_end() const noexcept { return cursor_ == members_.size(); }
  /// The next member to look at; not at the end.
  [[nodiscard]] int next() noexcept { return members_[cursor_++]; }
  void end() noexcept {
    under_way_ = false;
    cursor_ = 0;
  }

  [[nodiscard]] bool under_way() const noexcept { return under_way_; }
  [[nodiscard]] std::uint32_t seq() const noexcept { return seq_; }  ///< of the newest begun
  [[nodiscard]] BroadcastFrame& frame() noexcept { return frame_; }

 private:
  std::vector<int> members_;
  std::uint32_t cursor_ = 0;  // 0 between broadcasts
  std::uint32_t seq_ = 0;
  bool under_way_ = false;
  BroadcastFrame frame_;
};

}  // namespace target
