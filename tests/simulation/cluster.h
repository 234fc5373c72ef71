// A whole cluster in one thread and virtual time: the coordinator's Run, agents with machines of their own,
// the link between them, and the target. A story of misfortunes says what goes wrong and when.
//
// Owner: one test. Always, checked as it goes: nobody is sent anything after it was given up, a stage ends at
// one instant for all, sockets agree with the engine's gauges, and the aggregate's books balance.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/run.h"
#include "tests/simulation/cluster_agent.h"
#include "tests/simulation/world.h"

namespace onrush::simulation {

/// Something that goes wrong, or that somebody does, at a time since the agents were asked to prepare.
struct Misfortune {
  enum class Kind : std::uint8_t {
    kill,          ///< kill -9 of an agent: its stream breaks
    vanish,        ///< the agent's machine loses power: silence
    freeze,        ///< the agent stands still
    cut,           ///< the agent's link is down; what was under way is lost and given again
    pause,         ///< the coordinator stands still
    stall,         ///< the target stands still
    stop,          ///< Ctrl-C
    stop_at_once,  ///< Ctrl-C twice
  } kind;
  double at_s = 0;
  double for_s = 0;
  std::uint32_t agent = 0;
};
[[nodiscard]] std::string describe(const Misfortune& misfortune);

struct ClusterSetting {
  std::uint64_t seed = 1;
  std::vector<Machine> machines = std::vector<Machine>(3);
  Faults faults = {};
  std::int64_t coordinator_skew_ns = 0;
  std::int64_t longest_way_ns = 2'000'000;  ///< of a message, one way
  double slow = 0;                          ///< chance that a message takes up to 0.5 s, and all behind it
  double doubled = 0;                       ///< chance that a snapshot comes again, behind others
  double lost_acknowledgements = 0;
  std::vector<Misfortune> misfortunes = {};
};

class Cluster {
 public:
  Cluster(const std::string& plan, ClusterSetting setting);

  /// Until the run is finished and every agent alive is idle.
  void play();

  [[nodiscard]] const Run& run() const noexcept { return *run_; }
  [[nodiscard]] const Aggregate& aggregate() const noexcept { return run_->aggregate(); }
  [[nodiscard]] std::uint64_t count(Counter counter) const {
    return onrush::at(run_->aggregate().counters(), counter);
  }
  [[nodiscard]] World& world() noexcept { return world_; }
  [[nodiscard]] const ClusterAgent& agent(std::size_t index) const { return *agents_.at(index); }
  [[nodiscard]] const std::vector<std::string>& log() const noexcept { return log_; }
  /// When the run was finished, since the agents were asked to prepare.
  [[nodiscard]] double finished_s() const noexcept { return finished_s_; }
  [[nodiscard]] double seconds() const noexcept {
    return static_cast<double>(world_.now_ns() - begun_ns_) / 1e9;
  }
  /// When the coordinator gave up an agent.
  [[nodiscard]] const std::map<std::uint32_t, double>& given_up_s() const noexcept { return given_up_s_; }

 private:
  struct Link {
    std::int64_t last_up_ns = 0;
    std::int64_t last_down_ns = 0;
    std::int64_t down_until_ns = 0;
    std::uint64_t epoch = 0;  ///< what was sent in an earlier one and can be lost, is
    bool gone = false;
  };

  void begin();
  void happen(const Misfortune& misfortune);
  void cut(std::uint32_t agent, double for_s);
  void from_agent(std::uint32_t agent, const FromAgent& message);
  void to_agent(std::uint32_t agent, FromCoordinator message);
  void break_stream(std::uint32_t agent);
  void arrive(std::uint32_t agent, const FromAgent& message);
  void coordinator_does(std::function<void()> what);
  void resume();
  void tick();
  void deliver();
  void check_order(std::uint32_t agent, const FromCoordinator& message);
  void check_books();
  void check_sockets() const;
  void step();
  [[nodiscard]] bool over() const;
  [[nodiscard]] std::int64_t way_ns();
  [[nodiscard]] std::int64_t coordinator_ns() const noexcept {
    return world_.now_ns() + setting_.coordinator_skew_ns;
  }

  const ClusterSetting setting_;
  Random random_;
  World world_;
  std::vector<std::unique_ptr<ClusterAgent>> agents_;
  std::vector<Link> links_;
  std::optional<Run> run_;
  std::vector<std::function<void()>> inbox_;  ///< of the coordinator while it stands still
  std::int64_t paused_until_ns_ = 0;
  std::int64_t begun_ns_ = 0;
  double bound_s_ = 0;
  double finished_s_ = 0;
  std::map<std::uint32_t, double> given_up_s_;
  std::map<std::uint32_t, std::int64_t> stage_ends_ns_;
  std::set<std::int64_t> starts_ns_;
  std::vector<std::string> log_;
};

}  // namespace onrush::simulation
