// Everything that a run has measured, merged without loss from the snapshots of all agents.
//
// Why: percentiles merge exactly only bucket by bucket, and totals only if every snapshot counts once. Each
// agent's snapshots are applied in order of their numbers; a repeated one changes nothing. Figures are kept
// by stage and scenario; larger parts are added up when asked for, so that all agree. Owner: the
// coordinator's run control, one thread. Times are microseconds since the run began unless said otherwise.
// Always: sum over agents = total; per-stage and per-scenario sums = total; histogram counts = counters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/delivery.h"
#include "core/evaluate.h"
#include "core/health.h"
#include "core/histogram.h"
#include "core/live.h"
#include "core/measured.h"
#include "core/plan.h"
#include "core/series.h"
#include "core/snapshot.h"
#include "core/timeline.h"

namespace onrush {

enum class AgentState : std::uint8_t { running, finished, lost };
/// "running", "finished", "lost".
[[nodiscard]] const char* name(AgentState state) noexcept;

struct ThresholdResult {
  std::string expression;
  bool held;
  std::optional<double> value;   ///< in the expression's own unit; nothing without samples
  std::string value_text;        ///< as a person reads it
  std::optional<double> margin;  ///< by how much it held; negative: by how much it did not
  std::string margin_text;       ///< without its sign
  /// If it did not hold: the first second that broke it, or the one that a break longer than its `for` began
  /// with; nothing if no single second did.
  std::optional<std::uint32_t> first_failed_s;
  /// Of a time that missed it: which seconds of those judged were SUSPECT or INVALID, or "".
  std::string doubt;
};

/// What is known of one agent.
struct AgentRecord {
  std::string name;
  AgentState state = AgentState::running;
  Counters counters{};
  Gauges gauges;  ///< of its last second
  Health health;  ///< of its last second
  std::uint64_t memory_max_bytes = 0;
  double busiest_worker_max = 0;
  std::uint64_t open_max = 0;
  std::uint64_t valid_seconds = 0;
  std::uint64_t suspect_seconds = 0;
  std::uint64_t invalid_seconds = 0;
  std::uint64_t gap_seconds = 0;  ///< missing because it was lost; not among the invalid ones
  std::optional<std::int64_t> lost_us;
};

/// One line of the error table, before it is added up.
struct FailureTotal {
  Failure failure;
  std::uint32_t agent = 0;
  std::uint32_t stage = 0;
  std::uint32_t scenario = 0;
  std::uint64_t count = 0;
  std::int64_t first_us = 0;
  std::int64_t last_us = 0;
  std::string sample;
};

struct ObservedSample {
  std::uint32_t second;
  double cpu_s;  ///< since the sample before
  std::uint64_t memory_bytes;
};

/// When a stage was, and how it connected in the whole seconds in which it had users left to connect.
struct StageSpan {
  std::optional<std::int64_t> began_us;
  std::optional<std::int64_t> ended_us;
  std::uint64_t change = 0;   ///< users that its change connects
  std::uint64_t settled = 0;  ///< of its attempts, by the last whole second
  std::uint32_t connecting_seconds = 0;
  std::uint64_t opened_of_asked = 0;
  double asked = 0;
};

class Aggregate {
 public:
  Aggregate(const Plan& plan, std::vector<StageTimeline> stages, std::vector<std::string> agents);

  /// Merges one snapshot. False: it was applied before, or its agent is lost. Error: it cannot be right
  /// (indices out of range, a broken histogram, a number skipped); nothing of it was applied.
  Expected<bool, std::string> apply(std::uint32_t agent, const Snapshot& snapshot);

  /// Its open connections are closed and lost, its attempts failed, both with Cause::agent_lost; once per
  /// agent.
  void agent_lost(std::uint32_t agent, std::int64_t at_us);

  void stage_began(std::uint32_t stage, std::int64_t at_us);
  void stage_ended(std::uint32_t stage, std::int64_t at_us);

  /// One sample of an observed process (index into plan.observe): CPU time since the last sample, resident
  /// memory.
  void observed(std::uint32_t index, std::uint32_t second, double cpu_s, std::uint64_t memory_bytes);

  /// Evaluates the plan's aborts on whole seconds that every agent alive has reported; the first that holds.
  [[nodiscard]] std::optional<std::string> abort_reason() const { return aborted_; }
  /// Evaluates the plan's thresholds over what there is.
  [[nodiscard]] std::vector<ThresholdResult> thresholds() const;

  /// Fills in all but run, state, elapsed_us, left_us.
  [[nodiscard]] Live live(std::int64_t now_us) const;

  /// The accounting identities, one sentence for each that is broken; empty if all hold.
  [[nodiscard]] std::vector<std::string> broken_identities() const;

  // For reports and the exposition.

  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const std::vector<StageTimeline>& stages() const noexcept { return stages_; }
  [[nodiscard]] const std::vector<StageSpan>& spans() const noexcept { return spans_; }
  [[nodiscard]] const std::vector<AgentRecord>& agents() const noexcept { return agents_; }
  [[nodiscard]] const std::vector<std::vector<ObservedSample>>& observations() const noexcept {
    return observed_;
  }
  [[nodiscard]] const Series& series() const noexcept { return series_; }
  /// At most kSuspectsKept; the records of the agents count all.
  [[nodiscard]] const std::vector<SuspectSecond>& suspects() const noexcept { return suspects_; }
  [[nodiscard]] std::vector<FailureTotal> failures() const;

  [[nodiscard]] const Measured& cell(std::uint32_t stage, std::uint32_t scenario) const;
  [[nodiscard]] Measured of_stage(std::uint32_t stage) const;
  [[nodiscard]] Measured of_scenario(std::uint32_t scenario) const;
  [[nodiscard]] Measured total() const;
  [[nodiscard]] Counters counters_of_stage(std::uint32_t stage) const;
  [[nodiscard]] Counters counters_of_scenario(std::uint32_t scenario) const;
  [[nodiscard]] Counters counters() const;
  [[nodiscard]] DeliverySummary delivery(std::optional<std::uint32_t> stage = std::nullopt) const {
    return deliveries_.summary(stage);
  }
  /// Connections open when the stage ended, or now.
  [[nodiscard]] std::uint64_t open_after(std::uint32_t stage) const;

  static constexpr std::size_t kSuspectsKept = 10'000;
  static constexpr std::size_t kFailureKindsKept = 10'000;

 private:
  struct AbortWatch {
    std::uint32_t held_s = 0;  ///< seconds without a break
  };
  /// How a threshold has fared second by second.
  struct PromiseWatch {
    bool judged = false;
    std::uint32_t broken_s = 0;  ///< seconds without a break
    std::uint32_t since = 0;     ///< the first of them
    std::optional<std::uint32_t> first_failed_s;
    std::optional<double> worst;  ///< of a second
  };
  using FailureKey =
      std::tuple<Failure, std::uint32_t, std::uint32_t, std::uint32_t>;  ///< agent, stage, scenario

  [[nodiscard]] std::string why_impossible(std::uint32_t agent, const Snapshot& snapshot) const;
  [[nodiscard]] std::string why_impossible(const Cell& cell) const;
  void apply_cell(std::uint32_t agent, std::uint32_t second, const Cell& cell);
  void count_failure(std::uint32_t agent, const FailureCount& failure);
  void apply_state(std::uint32_t agent, const Snapshot& snapshot);
  void grade(std::uint32_t agent, std::uint32_t second, Judgement judgement);
  void note_suspect(SuspectSecond suspect);
  void close_books(std::uint32_t agent, std::uint32_t scenario, std::int64_t at_us);
  void close_whole_seconds();
  void whole(const SeriesRow& row, const Series::ByCell& by_cell);
  bool note_pace(std::uint32_t stage, std::uint32_t second, const Counters& counters);
  void watch_abort(std::size_t index, const SeriesRow& row, const Series::ByCell& by_cell,
                   const std::set<std::uint32_t>& connecting);

  void watch_promise(std::size_t index, const SeriesRow& row, const Series::ByCell& by_cell,
                     const std::set<std::uint32_t>& connecting);
  [[nodiscard]] bool is_judged(const Expression& expression, bool by_second, std::uint32_t second,
                               const std::set<std::uint32_t>& connecting) const;
  [[nodiscard]] std::optional<std::uint32_t> scenario_of(const Expression& expression) const;
  [[nodiscard]] std::uint64_t open_after(std::uint32_t stage, std::optional<std::uint32_t> scenario) const;

  [[nodiscard]] std::uint32_t current_stage() const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> stage_of(const Expression& expression) const;
  [[nodiscard]] bool is_whole_in(std::uint32_t stage, std::uint32_t second) const;
  [[nodiscard]] double asked_in(std::uint32_t stage, const Counters& counters) const;
  [[nodiscard]] double seconds_of(std::optional<std::uint32_t> stage) const;
  [[nodiscard]] Evidence so_far(const Expression& expression) const;
  [[nodiscard]] Evidence in_second(const Expression& expression, const Series::ByCell& by_cell,
                                   const std::set<std::uint32_t>& connecting) const;
  [[nodiscard]] std::string doubt_of(const Expression& expression) const;
  [[nodiscard]] double progress_of(std::uint32_t stage, std::int64_t now_us) const;
  void fill_failures(Live& live) const;
  void fill_storm(Live& live) const;
  void fill_agents(Live& live) const;

  Plan plan_;
  std::vector<StageTimeline> stages_;
  std::vector<StageSpan> spans_;
  std::vector<AgentRecord> agents_;
  std::vector<std::uint64_t> next_number_;              ///< by agent
  std::vector<std::optional<std::uint32_t>> reported_;  ///< by agent: its last second
  std::vector<std::vector<Counters>> books_;            ///< by agent and scenario
  std::vector<Measured> cells_;                         ///< stage * scenarios + scenario
  std::uint64_t sessions_without_time_ = 0;             ///< closed by the loss of their agent
  Series series_;
  Deliveries deliveries_;
  std::map<FailureKey, FailureTotal> failures_;
  std::vector<std::vector<ObservedSample>> observed_;
  std::vector<SuspectSecond> suspects_;
  std::size_t replaced_ =
      kSuspectsKept;  ///< of a full list, what lies before may give way to INVALID seconds
  std::set<std::uint32_t> suspect_seconds_;
  std::vector<AbortWatch> watches_;
  std::vector<PromiseWatch> promises_;
  std::optional<std::string> aborted_;
  Histogram scratch_;
};

}  // namespace onrush
