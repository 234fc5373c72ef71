// The timeline of a plan: for each stage what begins and ends when, before it is shared out to agents.
//
// Why: `onrush check` prints it, the coordinator ends stages by it and every worker runs its share of it; all
// three must mean the same. Owner: any thread; immutable values. Times are relative to the stage's begin.
//
// A stage = a change (ramp of users and arrival rates) + a hold. User j of a scenario (from 0) keeps its
// number for the whole run; growing from 10 to 30 starts users 10..29 in this order, shrinking to 5
// ends 29..5: the newest first.
//
// `arrivals` as a plain number runs one stream for all scenarios, as a map one stream for each. A stage that
// states the other form than before first turns the running rates into its own: one stream splits by weight,
// several add up. So no scenario's rate jumps, and a scenario that the map does not name goes on as it was.
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

/// Users of one scenario change from `from` to `to`, n = |to - from|: item k of n is due at k * over_s / n.
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
  double over_s;          ///< 0: runs at to_per_s from the stage's begin
  bool poisson = false;   ///< at random instants (core/poisson); else at equal intervals
  std::uint64_t key = 0;  ///< of its process
};

/// Of the `users` of a scenario that are wanted when the stage begins, so many lose their connection:
/// cut k (0, 1, ...) is user permuted(k, users, key) and due at k * over_s / count.
struct UserCut {
  std::uint32_t scenario;
  std::uint64_t users;
  std::uint64_t count;  ///< 1 to users
  double over_s;
  std::uint64_t key;
};

struct StageTimeline {
  std::string name;
  StageEnd end;
  double length_s;  ///< after_length: exact, 0 = over at once; when_settled: the change if nobody fails;
                    ///< when_drained: 0
  double hold_s;    ///< when_settled only
  std::vector<UserChange> users;            ///< only scenarios that change
  std::vector<ArrivalChange> arrivals;      ///< every stream that has arrivals in this stage, changed or held
  std::vector<UserCut> cuts;                ///< `disconnect`; only scenarios that it touches
  std::vector<std::uint64_t> users_at_end;  ///< wanted, by scenario
  double asked_rate;  ///< highest asked_rate_at in the stage; 0 if it asks for no connections
};

/// The whole timeline; one entry a stage.
[[nodiscard]] std::vector<StageTimeline> timeline(const Plan& plan);

/// Users that `disconnect` takes their connection when the stages before want `users`, by scenario.
[[nodiscard]] std::uint64_t cut_count(const Disconnect& disconnect, const std::vector<std::uint64_t>& users);

/// Connections a second that the stage asks for at `t_s` after its begin: new users by `rate` or `over`, and
/// arrivals. Users who are ended, or who start over because their script has ended, are not asked for.
[[nodiscard]] double asked_rate_at(const StageTimeline& stage, double t_s);

/// Number of scenario s's first user, so that `${user}` = user_base(s) + j + 1 is unique in the run, and so
/// that small scenarios do not all land on the first agent: user j of scenario s belongs to share
/// (user_base(s) + j) % count.
[[nodiscard]] std::vector<std::uint64_t> user_bases(const Plan& plan);

/// Scenario of arrival k of the shared stream: exact weights in every block of `sum of weights` arrivals, in
/// an order shuffled by block and seed so that no agent's share sees only one kind. A loop of them uses
/// ArrivalMix, which looks the weights up once.
[[nodiscard]] std::uint32_t scenario_of_arrival(const Plan& plan, std::uint64_t k);

/// Most users of the closed model at once, over all scenarios; those being ended count until their stage is
/// over.
[[nodiscard]] std::uint64_t peak_users(const Plan& plan);
/// Of them, those of one share.
[[nodiscard]] std::uint64_t peak_users(const Plan& plan, Share share);

/// Arrivals of each stage over all streams; of a stage that ends when_settled, those of its expected length.
[[nodiscard]] std::vector<std::uint64_t> arrivals_by_stage(const Plan& plan);

/// Seconds that a session takes if the target answers at once, on average; infinite if its script has no end.
[[nodiscard]] double mean_script_s(const Scenario& scenario);

/// Estimate of the most sessions of the open model at once (Little's law: rate x mean script time, and never
/// more than arrive at all); 0 if none.
[[nodiscard]] double peak_arrival_sessions(const Plan& plan);

/// Sockets that both models need at once: peak_users and the estimate of peak_arrival_sessions, rounded up.
[[nodiscard]] std::uint64_t peak_sockets(const Plan& plan);

}  // namespace onrush
