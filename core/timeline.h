// The timeline of a plan: for each stage what begins and ends when, before it is shared out to agents.
//
// Why: `onrush check` prints it, the coordinator ends stages by it and every worker runs its share of it; all three
// must mean the same. Owner: any thread; immutable values. Times are relative to the stage's begin.
//
// A stage = a change (ramp of users and arrival rates) + a hold. User j of a scenario (from 0) keeps its number for
// the whole run; growing from 10 to 30 starts users 10..29 in this order, shrinking to 5 ends 29..5: the newest first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/schedule.h"

namespace onrush {

enum class StageEnd : std::uint8_t {
  after_length,  ///< at a time known beforehand: length_s
  when_settled,  ///< when every user of the change has opened or failed (or has closed); then holds hold_s
  when_drained,  ///< when every session of the open model has ended
};

/// Users of one scenario change from `from` to `to`: item k of |to - from| is due at k * over_s / |to - from|.
struct UserChange {
  std::uint32_t scenario;
  std::uint64_t from;
  std::uint64_t to;
  double over_s;  ///< 0: all are due at once
};

/// One stream of arrivals in one stage: a ramp, then its end value until the stage ends.
/// Stream 0 is shared by all scenarios by weight; stream 1 + s belongs to scenario s alone.
struct ArrivalChange {
  std::uint32_t stream;
  double from_per_s;
  double to_per_s;
  double over_s;  ///< 0: jumps
};

struct StageTimeline {
  std::string name;
  StageEnd end;
  double length_s;  ///< after_length: exact; when_settled: the change, as far as it is known; when_drained: 0
  double hold_s;    ///< when_settled only
  std::vector<UserChange> users;       ///< only scenarios that change
  std::vector<ArrivalChange> arrivals; ///< every stream whose rate is not 0 throughout, changed or held
  std::vector<std::uint64_t> users_at_end;  ///< wanted, by scenario
  double asked_rate;                   ///< connections a second asked for by `rate`, `over` or arrivals; 0 if none
};

/// The whole timeline; one entry a stage.
[[nodiscard]] std::vector<StageTimeline> timeline(const Plan& plan);

/// Number of scenario s's first user, so that `${user}` = user_base(s) + j + 1 is unique in the run, and so that small
/// scenarios do not all land on the first agent: user j of scenario s belongs to share (user_base(s) + j) % count.
[[nodiscard]] std::vector<std::uint64_t> user_bases(const Plan& plan);

/// Scenario of arrival k of the shared stream: exact weights in every block of `sum of weights` arrivals, in an order
/// shuffled by block and seed so that no agent's share sees only one kind.
[[nodiscard]] std::uint32_t scenario_of_arrival(const Plan& plan, std::uint64_t k);

/// Most users of the closed model at once, over all scenarios.
[[nodiscard]] std::uint64_t peak_users(const Plan& plan);

/// Estimate of the most sessions of the open model at once (Little's law: rate x mean script time); 0 if none.
[[nodiscard]] double peak_arrival_sessions(const Plan& plan);

}  // namespace onrush
