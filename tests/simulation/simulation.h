// A whole run in virtual time: agents over the simulated network, and a coordinator that merges what they
// say.
//
// Owner: one test, one thread. Always: after every step the engine's books agree with the sockets that exist,
// and after every snapshot attempted = opened + failed + opening and opened = closed + open + closing, for
// each agent.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/agent_run.h"
#include "agent/worker.h"
#include "core/aggregate.h"
#include "tests/simulation/world.h"

namespace onrush::simulation {

struct Setting {
  std::uint64_t seed = 1;
  std::uint32_t agents = 1;
  std::uint32_t workers = 1;
  Faults faults = {};
  double lost_acknowledgements = 0;  ///< each is lost, doubled or late with this chance
  double cut_links = 0;              ///< chance a poll that an agent's link is cut and made anew
  std::uint64_t descriptor_limit = 20'000;
  PlanFiles files = {};  ///< that the plan names
};

class Simulation {
 public:
  Simulation(const std::string& plan, const Setting& setting);
  ~Simulation();

  /// Runs to the end. `stop_after_s`: the coordinator's Stop, if any.
  void run(std::optional<double> stop_after_s = std::nullopt);

  [[nodiscard]] World& world() noexcept { return world_; }
  [[nodiscard]] std::int64_t start_ns() const noexcept { return start_ns_; }
  [[nodiscard]] const Aggregate& aggregate() const noexcept { return *aggregate_; }
  [[nodiscard]] std::uint64_t count(Counter counter) const {
    return onrush::at(aggregate_->counters(), counter);
  }
  /// Lines of `log` steps that have come.
  [[nodiscard]] const std::vector<LogLine>& logged() const noexcept { return logged_; }
  /// Turns of all workers so far: what a busy loop would spend.
  [[nodiscard]] std::uint64_t turns() const noexcept { return turns_; }
  /// What all workers hold.
  [[nodiscard]] Worker::Held held() const;
  /// When each attempt began, by share: `share.index` is the place.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> attempts_ns() const;
  [[nodiscard]] double seconds() const noexcept {
    return static_cast<double>(world_.now_ns() - start_ns_) / 1e9;
  }

 private:
  struct Agent;

  void step(std::int64_t limit_ns);
  void poll();
  void heard(std::size_t agent, const FromAgent& message);
  void hear_snapshot(std::size_t agent, const Snapshot& snapshot);
  void check_books(const Agent& agent, const Snapshot& snapshot) const;
  void check_sockets() const;
  [[nodiscard]] bool finished() const;

  Setting setting_;
  Random random_;
  World world_;
  std::optional<Plan> plan_;
  std::vector<StageTimeline> stages_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::unique_ptr<Aggregate> aggregate_;
  std::vector<std::uint32_t> settled_;  ///< agents that have reported, by stage
  std::int64_t start_ns_;
  std::uint64_t turns_ = 0;
  std::vector<LogLine> logged_;
};

/// Of a time; without any there are none.
[[nodiscard]] const Histogram& samples(const Measured& measured, Time time);

/// Of a run that is over: every attempt was opened or failed, and every connection closed.
void expect_all_accounted_for(const Simulation& run);

}  // namespace onrush::simulation
