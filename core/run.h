// One run's lifecycle, as the coordinator sees it: who is ready, which stage runs, when it ends, who is lost.
//
//   preparing --all ready--> running --last stage over, Stop, abort--> stopping --last snapshots--> finished
//       |                                                                                             ^
//       +--refused, left, or silent until the deadline: nothing has been started---------------------+
//
// Why: this is where a cluster goes wrong, so it is pure: messages and the time go in, messages and log lines
// come out, and the simulation drives it through every order of events. Owner: the coordinator's loop, one
// thread. Times are nanoseconds on the coordinator's monotonic clock. Always: a message goes only to an agent
// that is alive; an agent that was lost never counts again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/aggregate.h"
#include "core/control.h"
#include "core/plan.h"
#include "core/timeline.h"
#include "core/trace.h"
#include "core/verdict.h"

namespace onrush {

enum class RunState : std::uint8_t { preparing, running, stopping, finished };
[[nodiscard]] const char* name(RunState state) noexcept;

/// An agent that takes part: its share is its place in the list.
struct RunAgent {
  std::string name;
  SourceBlock source;
  std::uint32_t agents_on_host = 1;
};

class Run {
 public:
  Run(std::string id, Plan plan, PlanText text, std::vector<RunAgent> agents);

  /// Asks the agents to prepare. Once, first.
  void begin(std::int64_t now_ns);

  void received(std::uint32_t agent, const FromAgent& message, std::int64_t now_ns);
  /// Its stream broke.
  void disconnected(std::uint32_t agent, std::int64_t now_ns);
  /// Ends the run in order, as Ctrl-C does; `at_once` leaves no time for closing.
  void interrupt(const std::string& why, bool at_once, std::int64_t now_ns);
  /// Looks at deadlines, stage ends and aborts; call it at least every 50 ms.
  void tick(std::int64_t now_ns);
  void observed(std::uint32_t index, double cpu_s, std::uint64_t memory_bytes, std::int64_t now_ns);

  struct Outgoing {
    std::uint32_t agent;
    FromCoordinator message;
  };
  /// What is to be sent, in order; the caller sends it.
  [[nodiscard]] std::vector<Outgoing> take_outgoing() { return std::exchange(outgoing_, {}); }
  /// Agents given up since the last call: the caller cuts their streams.
  [[nodiscard]] std::vector<std::uint32_t> take_given_up() { return std::exchange(given_up_, {}); }
  /// Lines for the person who watches.
  [[nodiscard]] std::vector<std::string> take_log() { return std::exchange(log_, {}); }

  [[nodiscard]] RunState state() const noexcept { return state_; }
  [[nodiscard]] const RunEvents& events() const noexcept { return events_; }
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Aggregate& aggregate() const noexcept { return aggregate_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// What the users who are followed did, in order of time; nothing unless --trace asked for it.
  [[nodiscard]] std::optional<std::string> trace() const {
    return text_.trace_users == 0 ? std::nullopt : std::optional{in_order(trace_)};
  }
  [[nodiscard]] const std::vector<RunAgent>& agents() const noexcept { return agents_; }
  [[nodiscard]] Live live(std::int64_t now_ns) const;
  /// From the start instant to the end (or now); 0 if it never started.
  [[nodiscard]] std::int64_t duration_us(std::int64_t now_ns) const noexcept;

 private:
  struct Member {
    enum class State : std::uint8_t { preparing, ready, running, done, lost } state = State::preparing;
    std::int64_t last_heard_ns = 0;
    bool is_silent = false;                     ///< and the person who watches knows
    std::optional<std::uint32_t> settled = {};  ///< the latest stage that has settled there
  };

  void send(std::uint32_t agent, FromCoordinator message);
  void send_to_all_running(const FromCoordinator& message);
  void start_if_all_ready(std::int64_t now_ns);
  void settled(std::uint32_t agent, std::uint32_t stage);
  void take(std::uint32_t agent, const Snapshot& snapshot, std::int64_t now_ns);
  void show(const Snapshot& snapshot);
  void keep_trace(std::string_view lines);
  void warn(const std::string& warning);
  void watch_observed(std::int64_t now_ns);
  void watch_memory(std::uint32_t agent, const Health& health, std::int64_t now_ns);
  void lose(std::uint32_t agent, const std::string& why, std::int64_t now_ns);
  void refuse(const std::string& reason, std::int64_t now_ns);
  void call_off(const std::string& why, std::int64_t now_ns);
  void advance_stage(std::int64_t now_ns);
  void end_settled_stage(std::int64_t now_ns);
  void end_last_stage(std::int64_t at_ns, std::int64_t now_ns);
  void stop(const std::string& why, std::int64_t now_ns);
  void finish_if_done(std::int64_t now_ns);
  void finish(std::int64_t now_ns);
  void forgive_own_pause(std::int64_t now_ns);
  void watch_silence(std::int64_t now_ns);
  [[nodiscard]] bool all_settled() const noexcept;
  [[nodiscard]] std::int64_t since_start_us(std::int64_t at_ns) const noexcept {
    return (at_ns - start_ns_) / 1000;
  }

  std::string id_;
  Plan plan_;
  PlanText text_;
  std::vector<RunAgent> agents_;
  std::vector<Member> members_;
  std::vector<StageTimeline> stages_;
  Aggregate aggregate_;
  RunState state_ = RunState::preparing;
  RunEvents events_;
  std::vector<Outgoing> outgoing_;
  std::vector<std::uint32_t> given_up_;
  std::vector<std::string> log_;
  std::int64_t log_second_ = -1;  ///< the latest of which a line of a script was shown
  std::uint32_t logged_ = 0;      ///< lines of it
  bool told_unobserved_ = false;
  std::string trace_;
  bool trace_is_cut_ = false;
  std::int64_t begun_ns_ = 0;
  std::int64_t ticked_ns_ = 0;
  std::int64_t start_ns_ = 0;
  std::uint32_t stage_ = 0;
  std::int64_t stage_began_ns_ = 0;
  std::optional<std::int64_t> stage_ends_ns_;  ///< once it is known
  std::int64_t closing_deadline_ns_ = 0;
  std::int64_t ended_ns_ = 0;
};

}  // namespace onrush
