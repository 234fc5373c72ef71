// The agent's end of Control.Attach: dials the coordinator, says who it is, and drives runs by what it hears.
//
// Why: the engine knows neither gRPC nor the coordinator's clock; this is the one place that does both.
// Owner: the agent's main thread calls serve(); a second thread only reads the stream into a queue.
// Always: whatever happens to the coordinator, the connections of a run under way are closed in order before
// serve() returns.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/agent_run.h"
#include "core/control.h"

namespace onrush {

class ControlLink {
 public:
  /// `end` is raised from outside (a signal) to leave in order.
  ControlLink(std::string coordinator, Hello hello, AgentSettings settings, const std::atomic<bool>& end);
  ~ControlLink();

  /// Attaches and serves runs until the coordinator is gone, refuses, or `end` is raised. Returns the exit
  /// code: 0 when it was told to end or the coordinator ended between runs, 70 when it was lost in mid-run or
  /// never reached.
  /// `is_wanted` is asked while nobody answers: once it says no, that is an end in order too.
  int serve(const std::function<bool()>& is_wanted);

 private:
  struct Stream;  // gRPC stays in the .cpp

  bool attach(const std::function<bool()>& is_wanted);
  int serve_attached();
  int leave();
  void heard(const FromCoordinator& message);
  void prepare(const Prepare& message);
  void send(const FromAgent& message);
  void look_at_host();
  void tell_facts(std::int64_t now_ns);
  void probe(std::int64_t now_ns);
  void poll();
  void close_in_order();
  [[nodiscard]] std::int64_t to_local_ns(std::int64_t coordinator_ns) const;

  std::string coordinator_;
  Hello hello_;
  AgentSettings settings_;
  const std::atomic<bool>& end_;
  std::int64_t looked_ns_;  ///< at the host's facts
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<AgentRun> run_;
};

}  // namespace onrush
