// Takes submissions, gathers agents, drives one run at a time, and hands out what it left.
//
// Why: this is the coordinator's one owner of mutable state; the gRPC, HTTP and signal edges only post to it.
// Owner: the loop's thread. Always: at most one submission is under way; another is rejected with that
// reason.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/fleet.h"
#include "coordinator/observer.h"
#include "coordinator/run_event.h"
#include "core/run.h"
#include "core/verdict.h"

namespace onrush {

using FollowerId = std::uint64_t;

class RunControl {
 public:
  struct Settings {
    std::string results;  ///< folder for results that nobody is there to take
    /// Runs a task on the loop; used by the observer's thread.
    std::function<void(std::function<void()>)> post;
  };
  explicit RunControl(Settings settings);
  ~RunControl();

  AgentId agent_attached(AgentLink link);
  void agent_said(AgentId id, const FromAgent& message);
  void agent_gone(AgentId id);

  FollowerId submitted(const Submission& submission, Follower follower);
  void stop_asked(FollowerId id, const std::string& why, bool at_once);
  void follower_gone(FollowerId id);

  /// Ends what is under way in order.
  void stop(const std::string& why);

  void tick();

  /// Told to followers.
  void serves_http_at(const std::string& address) { http_ = address; }

  /// Prometheus text of the run under way or the last one.
  [[nodiscard]] std::string metrics() const;
  /// State, agents and the run under way or the last one, as JSON.
  [[nodiscard]] std::string status() const;
  /// Who is attached, and what their machines allow.
  [[nodiscard]] std::vector<Hello> survey() const;
  [[nodiscard]] std::string health() const { return "ok\n"; }
  [[nodiscard]] bool is_idle() const noexcept { return !waiting_ && !run_; }

 private:
  /// A submission that waits for its agents.
  struct Waiting {
    Submission submission;
    Plan plan;
    std::int64_t since_ns;
  };

  void start_if_gathered();
  void begin(const std::vector<AgentId>& ids);
  void deliver();
  void finish();
  void hand_over(const std::string& name, const std::string& content);
  [[nodiscard]] const Run* shown() const noexcept { return run_ ? run_.get() : last_.get(); }
  void tell(const RunEvent& event);
  void reject(const std::string& why, int exit_code);
  [[nodiscard]] std::optional<std::uint32_t> member(AgentId id) const;

  Settings settings_;
  std::string http_;
  Fleet fleet_;
  std::optional<Waiting> waiting_;
  std::unique_ptr<Run> run_;
  std::unique_ptr<Run> last_;  ///< finished; kept for /metrics until the next one begins
  Decision last_decision_;
  std::vector<AgentId> members_;  ///< of run_, by share
  std::vector<Hello> hellos_;     ///< of the members
  std::unique_ptr<Observer> observer_;
  std::string plan_yaml_;
  std::string started_;  ///< ISO 8601, UTC
  std::int64_t told_ns_ = 0;
  Follower follower_;
  FollowerId follower_id_ = 0;
  FollowerId next_follower_ = 1;
};

}  // namespace onrush
