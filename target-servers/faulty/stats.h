// What every path of this server has seen: GET /stats.
//
// Why: a client that is sent a fault must answer with the right close code; only the other end can say if it
// did. Owner: any thread, under one lock.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace target {

/// RFC 6455 section 7.4.1: what stands for a close frame without a code, and for an end without a close
/// frame.
inline constexpr int kCloseWithoutCode = 1005;
inline constexpr int kEndWithoutClose = 1006;

struct PathStats {
  std::int64_t requests = 0;
  std::int64_t opened = 0;  ///< a 101 was sent, as far as the fault allows
  std::int64_t messages_in = 0;
  std::int64_t messages_out = 0;
  std::int64_t pongs = 0;
  std::int64_t unmasked_frames = 0;    ///< RFC 6455 section 5.1 forbids them to a client
  std::map<int, std::int64_t> closes;  ///< of opened connections: by the code that the client sent
};

class Stats {
 public:
  template <class Change>
  void update(const std::string& path, Change change) {
    const std::lock_guard lock{mutex_};
    change(paths_[path]);
  }
  void connected(int n) {
    const std::lock_guard lock{mutex_};
    connections_ += n;
  }
  [[nodiscard]] std::string json() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t connections_ = 0;
  std::map<std::string, PathStats> paths_;
};

}  // namespace target
