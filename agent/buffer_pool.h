// Buffers that sessions borrow while a message is half read or half written, and give back.
//
// Why: an idle connection owns no buffer, and of a million connections only those in the middle of something
// need one. Owner: one worker. Handles are numbers from 1; 0 means none borrowed. Always: a buffer given back
// keeps at most kKeptBytes, so one burst of long messages does not stay in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/check.h"

namespace onrush {

/// Bytes that the socket did not take.
struct Unsent {
  std::string bytes;
  std::size_t written = 0;  ///< of them
  bool pong = false;        ///< a pong is owed, to the newest ping that came while these bytes waited
  std::string pong_payload;
  void clear() { bytes.clear(), pong_payload.clear(), written = 0, pong = false; }
};

/// What has come of a response head or a message, and of a control frame between its fragments.
struct Partial {
  std::string bytes;
  std::string control;
  bool message = false;     ///< `bytes` are the message under way
  std::size_t refusal = 0;  ///< `bytes` are a refusal whose head is this long, and what has come of its body
  void clear() { bytes.clear(), control.clear(), message = false, refusal = 0; }
};

template <class Buffer>
class BufferPool {
 public:
  static constexpr std::size_t kKeptBytes = 16 * 1024;

  explicit BufferPool(std::uint32_t ready) {
    for (std::uint32_t i = 0; i < ready; ++i) {
      buffers_.emplace_back().bytes.reserve(1024);
      free_.push_back(i + 1);
    }
  }

  [[nodiscard]] std::uint32_t borrow() {
    ++borrowed_;
    if (free_.empty()) {
      buffers_.emplace_back();
      return static_cast<std::uint32_t>(buffers_.size());
    }
    const std::uint32_t handle = free_.back();
    free_.pop_back();
    return handle;
  }

  [[nodiscard]] Buffer& at(std::uint32_t handle) {
    ONRUSH_CHECK(handle != 0 && handle <= buffers_.size());
    return buffers_[handle - 1];
  }

  /// Gives back and forgets the handle.
  void give_back(std::uint32_t& handle) {
    if (handle == 0) return;
    Buffer& buffer = at(handle);
    buffer.clear();
    if (buffer.bytes.capacity() > kKeptBytes) std::string{}.swap(buffer.bytes);
    free_.push_back(handle);
    --borrowed_;
    handle = 0;
  }

  [[nodiscard]] std::uint32_t borrowed() const noexcept { return borrowed_; }
  /// What the borrowed ones hold.
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const Buffer& buffer : buffers_) sum += buffer.bytes.size();
    return sum;
  }

 private:
  std::deque<Buffer> buffers_;
  std::vector<std::uint32_t> free_;
  std::uint32_t borrowed_ = 0;
};

}  // namespace onrush
