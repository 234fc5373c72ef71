// One agent's process in virtual time: a real AgentRun, and around it what agent/control_link does with gRPC.
//
// Why: the whole cluster's simulation needs agents that can die, stand still, have clocks of their own and
// lose their link. Owner: Cluster, one thread. Always: what is told to a process that stands still happens
// when it goes on, in the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent_run.h"
#include "agent/worker.h"
#include "core/clock_offset.h"
#include "core/control.h"
#include "tests/simulation/world.h"

namespace onrush::simulation {

/// The machine that an agent runs on.
struct Machine {
  std::int64_t clock_skew_ns = 0;  ///< its monotonic clock is ahead of the world's
  std::int64_t wall_skew_us = 0;   ///< its wall clock is ahead of the true time
  std::int64_t prepare_ns = 20'000'000;
  std::uint32_t workers = 1;
  std::uint64_t descriptor_limit = 20'000;
  std::int64_t memory_ends_ns = std::numeric_limits<std::int64_t>::max();  ///< of the world's clock
};

class ClusterAgent {
 public:
  using Send = std::function<void(FromAgent)>;
  ClusterAgent(World& world, const Machine& machine, Send send);

  void attach();  ///< probes and polls from now on
  void hear(FromCoordinator message);
  /// The link was cut and is there again.
  void link_is_back();
  /// The link is gone for good: everything is closed in order.
  void link_is_gone();
  /// kill -9.
  void kill();
  void freeze(std::int64_t until_ns);

  /// Turns every worker that has something to do now. `next_ns` sinks to when the next one has.
  bool turn(std::int64_t& next_ns);

  [[nodiscard]] bool is_alive() const noexcept { return alive_; }
  /// Nothing is left to do for it: dead, or without a run.
  [[nodiscard]] bool is_idle() const noexcept { return !alive_ || (run_ == nullptr && inbox_.empty()); }
  [[nodiscard]] std::uint64_t sockets() const;
  /// Instants of the world's clock.
  [[nodiscard]] std::int64_t started_ns() const noexcept { return started_ns_; }
  /// Microseconds by which its corrected wall clock misses the true time.
  [[nodiscard]] std::int64_t wall_error_us() const noexcept { return wall_error_us_; }

 private:
  void now_or_later(std::function<void()> what);
  void thaw();
  void take(const FromCoordinator& message);
  void prepare(const Prepare& message);
  void prepared(const Prepare& message);
  void take_probe(const ProbeReply& reply);
  void poll();
  void close_in_order();
  void end_run();
  [[nodiscard]] std::int64_t local_ns() const noexcept { return world_.now_ns() + machine_.clock_skew_ns; }
  [[nodiscard]] std::int64_t to_local_ns(std::int64_t coordinator_ns) const;

  World& world_;
  const Machine machine_;
  Send send_;
  std::unique_ptr<AgentRun> run_;
  std::vector<std::unique_ptr<AgentRun>> past_;  ///< the world still knows their networks
  std::vector<SimulatedNetwork*> networks_;
  ClockOffset clock_;
  std::vector<std::function<void()>> inbox_;
  bool alive_ = true;
  bool linked_ = true;
  bool preparing_ = false;
  std::int64_t frozen_until_ns_ = 0;
  std::int64_t probed_ns_ = 0;
  int probes_ = 0;
  std::int64_t started_ns_ = 0;
  std::int64_t wall_error_us_ = 0;
};

}  // namespace onrush::simulation
