// What the processes behind local ports cost, sampled each second from /proc on a thread of its own.
//
// Why: a client's view without the server's cost answers half of the question; and looking for the process
// that listens on a port reads every descriptor of the machine, which must not stop the loop. Owner: the run
// control; samples arrive on the observer's thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/plan.h"

namespace onrush {

/// Processes that listen on a TCP port of this host (several with SO_REUSEPORT).
[[nodiscard]] std::vector<int> processes_listening_on(std::uint16_t port);

/// CPU time and memory of a process until now; nothing if it is gone.
struct ProcessCost {
  double cpu_s;
  std::uint64_t memory_bytes;  ///< resident
};
[[nodiscard]] std::optional<ProcessCost> cost_of(int pid);

class Observer {
 public:
  /// `index` into the observed; CPU seconds since the sample before; resident bytes; both over all its
  /// processes.
  using Sample = std::function<void(std::uint32_t index, double cpu_s, std::uint64_t memory_bytes)>;

  Observer(std::vector<Observed> observed, Sample sample);
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

 private:
  void run();
  void sample(std::uint32_t index);

  std::vector<Observed> observed_;
  Sample sample_;
  std::vector<std::map<int, double>> cpu_s_;  ///< by observed, then process: total at the last sample
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace onrush
