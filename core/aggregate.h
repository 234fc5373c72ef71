// Everything that a run has measured, merged without loss from the snapshots of all agents.
//
// Why: percentiles merge exactly only bucket by bucket, and totals only if every snapshot counts once. Each agent's
// snapshots are applied in order of their numbers; a repeated one changes nothing.
// Owner: the coordinator's run control, one thread. Times are microseconds since the run began unless said otherwise.
// Always: sum over agents = total; per-stage and per-scenario sums = total; histogram counts = counters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/histogram.h"
#include "core/live.h"
#include "core/plan.h"
#include "core/snapshot.h"
#include "core/timeline.h"

namespace onrush {

enum class AgentState : std::uint8_t { running, finished, lost };

struct ThresholdResult {
  std::string expression;
  bool held;
  std::optional<double> value;  ///< in the expression's own unit; nothing without samples
};

class Aggregate {
 public:
  Aggregate(const Plan& plan, std::vector<StageTimeline> stages, std::vector<std::string> agents);

  /// Merges one snapshot. False: it was applied before. Error: it cannot be right (indices out of range, a broken
  /// histogram, a number skipped); nothing of it was applied.
  Expected<bool, std::string> apply(std::uint32_t agent, const Snapshot& snapshot);

  /// Its open connections are closed and lost, its attempts failed, both with Cause::agent_lost; once per agent.
  void agent_lost(std::uint32_t agent, std::int64_t at_us);

  void stage_began(std::uint32_t stage, std::int64_t at_us);
  void stage_ended(std::uint32_t stage, std::int64_t at_us);

  /// One sample of an observed process (index into plan.observe): CPU time since the last sample, resident memory.
  void observed(std::uint32_t index, std::uint32_t second, double cpu_s, std::uint64_t memory_bytes);

  /// Evaluates the plan's aborts on whole seconds that every agent alive has reported; the first that holds.
  [[nodiscard]] std::optional<std::string> abort_reason() const;
  /// Evaluates the plan's thresholds over what there is.
  [[nodiscard]] std::vector<ThresholdResult> thresholds() const;

  /// Fills in all but run, state, elapsed_us, left_us.
  [[nodiscard]] Live live(std::int64_t now_us) const;

  /// The accounting identities, one sentence for each that is broken; empty if all hold.
  [[nodiscard]] std::vector<std::string> broken_identities() const;

  // Accessors for report and exposition are the implementer's to add.
};

}  // namespace onrush
