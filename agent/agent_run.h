// One run on one agent: the plan's share, its workers and what they measured, driven by control messages.
//
// Why: the control link speaks gRPC and the simulation passes values; both drive this. It holds no link and
// no clock: instants are arguments, on this host's monotonic clock (the caller corrects the coordinator's).
// Owner: the control link's thread calls everything here; worker threads run inside and share only mailboxes.
// Always: after prepare() nothing grows with the load; every snapshot is kept until it is acknowledged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/network.h"
#include "core/control.h"
#include "core/expected.h"

namespace onrush {

class Worker;

/// What the process allows, apart from the plan.
struct AgentSettings {
  std::uint32_t workers = 1;              ///< threads, >= 1
  std::uint64_t descriptor_limit = 1024;  ///< of this process (RLIMIT_NOFILE)
  HostFacts facts = {};                   ///< of now; what is unknown is not checked
  bool threads = true;                    ///< false: the caller turns each worker (simulation)
  bool watch_host = true;                 ///< read /proc each second for Health; false in the simulation
  std::string name = "this agent";        ///< in reasons
  std::string host = "this host";         ///< in reasons
  /// Reads what core/memory_left needs; called each second on the link's thread. None: not watched.
  std::function<void(HostFacts&)> look_at_memory{};
  std::function<std::vector<std::uint16_t>()> occupied_ports{};  ///< not to be bound; asked in prepare()
  std::function<void()> on_news{};  ///< called on a worker's thread when a stage has settled or it is done
};

class AgentRun {
 public:
  /// Reads the plan, resolves the target, checks the limits and allocates all. Errors: every reason why this
  /// agent cannot run its share, each with the figure needed, the figure found and the remedy.
  static Expected<std::unique_ptr<AgentRun>, std::vector<std::string>> prepare(
      const Prepare& prepare, const AgentSettings& settings, const NetworkFactory& make_network);
  ~AgentRun();
  AgentRun(const AgentRun&) = delete;
  AgentRun& operator=(const AgentRun&) = delete;

  /// Sessions that it can hold at once.
  [[nodiscard]] std::uint64_t capacity() const noexcept;
  /// What the preflight found that will distort the figures.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;
  [[nodiscard]] const std::string& scenario_name(std::uint32_t scenario) const noexcept;

  /// The run begins at this instant (which may lie ahead). Once.
  void start(std::int64_t local_start_ns);
  /// The stage ends, and the next begins, at this instant. Repeated or late words change nothing.
  void end_stage(std::uint32_t stage, std::int64_t local_at_ns);
  /// Closes everything in order, now; before start() there is nothing to close, and it is finished at once.
  /// Repeated words change nothing.
  void stop();

  /// Added to this host's wall clock to have the coordinator's; 0 until the link knows better.
  void correct_wall_clock(std::int64_t offset_us);

  /// Snapshots up to this number have arrived and are forgotten.
  void acknowledge(std::uint64_t number);
  /// The link was cut: poll() gives every snapshot again that was not acknowledged, oldest first.
  void resend();

  /// Closes everything in order by itself if the host's memory nears its end.
  /// What there is to tell: StageSettled (once a stage) and Snapshots (each second, those of a run's agents
  /// spread over up to half a second so that a host full of them does not stumble at each full one).
  [[nodiscard]] std::vector<FromAgent> poll(std::int64_t local_now_ns);

  /// Every connection is closed and the last snapshot was acknowledged, or it was stopped before its start.
  [[nodiscard]] bool finished() const noexcept;

  /// For callers that turn the workers themselves.
  [[nodiscard]] std::vector<Worker*> workers() noexcept;

 private:
  struct Parts;  // workers, collector, threads: kept out of the control link's sight
  explicit AgentRun(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace onrush
