// SIGINT, SIGTERM and SIGHUP as calls: the first asks for an end in order, the second for an end at once.
//
// Why: a signal handler may do next to nothing; a thread that waits for the signals may do anything.
// Owner: the command, made in main before any other thread so that all of them block these signals too.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace onrush {

class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Called with 1, 2, ... on the watch's thread; signals that came before are told at once.
  void on_signal(std::function<void(int count)> handler);

 private:
  void run();

  std::mutex mutex_;
  std::function<void(int)> handler_;
  int count_ = 0;
  std::atomic<bool> end_{false};
  bool ignores_hangup_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace onrush
