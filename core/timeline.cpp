#include "core/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/arrival_mix.h"
#include "core/check.h"
#include "core/plan_stages.h"
#include "core/poisson.h"
#include "core/random.h"
#include "core/think_time.h"

namespace onrush {

namespace {

double seconds(std::optional<std::int64_t> ns) { return ns ? static_cast<double>(*ns) / 1e9 : 0; }

/// What the stages so far have left: the users wanted and the arrival rates.
struct Standing {
  std::vector<std::uint64_t> users;  ///< by scenario
  std::vector<double> rates;         ///< by stream
  std::vector<bool> poisson;         ///< by stream
};

std::uint64_t size(const UserChange& c) { return std::max(c.from, c.to) - std::min(c.from, c.to); }

std::vector<UserChange> change_users(const Stage& stage, Standing& now) {
  std::vector<UserChange> changes;
  for (const auto& [scenario, wanted] : stage.users) {
    std::uint64_t& users = now.users[scenario];
    if (users != wanted) changes.push_back({scenario, users, wanted, 0});
    users = wanted;
  }
  double over_s = seconds(stage.over_ns);
  if (stage.rate) {
    ONRUSH_CHECK(*stage.rate > 0);
    std::uint64_t total = 0;
    for (const UserChange& c : changes) total += size(c);
    over_s = static_cast<double>(total) / *stage.rate;
  }
  for (UserChange& c : changes) c.over_s = over_s;
  return changes;
}

// Each scenario loses its part of the count, exactly (largest remainders), all over the same time.
std::vector<UserCut> cut_users(const Plan& plan, const Stage& stage, std::uint64_t index,
                               const std::vector<std::uint64_t>& users) {
  std::vector<UserCut> cuts;
  if (!stage.disconnect) return cuts;
  const std::uint64_t total = cut_count(*stage.disconnect, users);
  const std::vector<double> weights(users.begin(), users.end());
  const std::vector<std::uint64_t> parts =
      total > 0 ? apportion(total, weights) : std::vector<std::uint64_t>(users.size());
  for (std::uint32_t s = 0; s < parts.size(); ++s)
    if (parts[s] > 0)
      cuts.push_back({s, users[s], parts[s], static_cast<double>(total) / stage.disconnect->rate,
                      mix(plan.seed ^ mix(index << 32 | s))});
  return cuts;
}

// The one form of `arrivals` turns into the other without a jump in any scenario's rate: the header says how.
void change_form(const Plan& plan, const Stage& stage, Standing& now) {
  std::vector<double>& rates = now.rates;
  if (stage.arrivals) {
    rates[0] = std::accumulate(rates.begin(), rates.end(), 0.0);
    std::fill(rates.begin() + 1, rates.end(), 0.0);
  } else if (!stage.arrivals_by_scenario.empty()) {
    double weights = 0;
    for (const Scenario& s : plan.scenarios) weights += s.weight;
    for (std::size_t s = 0; s < plan.scenarios.size() && rates[0] > 0; ++s) {
      rates[1 + s] += rates[0] * plan.scenarios[s].weight / weights;
      now.poisson[1 + s] = now.poisson[0];
    }
    rates[0] = 0;
  }
}

std::vector<ArrivalChange> change_arrivals(const Plan& plan, const Stage& stage, std::size_t index,
                                           Standing& now) {
  change_form(plan, stage, now);
  const std::vector<double> from = now.rates;
  if (stage.arrivals) {
    now.rates[0] = *stage.arrivals;
    now.poisson[0] = stage.poisson;
  }
  for (const auto& [scenario, rate] : stage.arrivals_by_scenario) {
    now.rates[1 + scenario] = rate;
    now.poisson[1 + scenario] = stage.poisson_scenarios.count(scenario) > 0;
  }

  std::vector<ArrivalChange> changes;
  for (std::uint32_t stream = 0; stream < from.size(); ++stream) {
    const double to = now.rates[stream];
    const double over_s = from[stream] == to ? 0 : seconds(stage.over_ns);
    if (to > 0 || (from[stream] > 0 && over_s > 0))
      changes.push_back({stream, from[stream], to, over_s, now.poisson[stream],
                         mix(plan.seed ^ mix(~(std::uint64_t{index} << 32 | stream)))});
  }
  return changes;
}

StageEnd end_of(const Stage& stage, const Standing& now) {
  if (stage.rate) return StageEnd::when_settled;
  const bool states_arrivals = stage.arrivals || !stage.arrivals_by_scenario.empty();
  const bool none_left = std::all_of(now.rates.begin(), now.rates.end(), [](double r) { return r == 0; });
  if (states_arrivals && none_left && !stage.over_ns && !stage.for_ns) return StageEnd::when_drained;
  return StageEnd::after_length;
}

// Rates are linear in between, so the highest is at the begin or at the end of the change.
double highest_asked(const StageTimeline& stage) {
  double over_s = 0;
  for (const ArrivalChange& c : stage.arrivals) over_s = std::max(over_s, c.over_s);
  return std::max(asked_rate_at(stage, 0), asked_rate_at(stage, over_s));
}

// Of the users base, base + 1, ..., base + n - 1 those of the share: before x there are ceil((x - index) /
// count).
std::uint64_t users_of_share(std::uint64_t base, std::uint64_t n, Share share) {
  const auto before = [&](std::uint64_t x) { return (x + share.count - 1 - share.index) / share.count; };
  return before(base + n) - before(base);
}

double mean_s(const Steps& steps);

double mean_s(const RepeatStep& repeat) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  double time = kEndless;
  if (repeat.times) {
    const double body = mean_s(repeat.body);
    const double every = std::max(seconds(repeat.every_ns), body);
    time = *repeat.times == 0 ? 0 : every * (*repeat.times - 1) + body;  // nothing waits after the last
  }
  if (repeat.for_ns) time = std::min(time, seconds(repeat.for_ns));
  return time;
}

double mean_s(const ChooseStep& choose) {
  double sum = 0;
  double weights = 0;
  for (const ChooseStep::Branch& branch : choose.branches) {
    sum += branch.weight * mean_s(branch.body);
    weights += branch.weight;
  }
  return sum / weights;
}

double mean_s(const Steps& steps) {
  double sum = 0;
  for (const Step& step : steps) {
    if (const auto* choose = std::get_if<ChooseStep>(&step.what)) sum += mean_s(*choose);
    if (const auto* think = std::get_if<ThinkStep>(&step.what)) sum += mean_s(think->time);
    if (const auto* repeat = std::get_if<RepeatStep>(&step.what)) sum += mean_s(*repeat);
    if (const auto* listen = std::get_if<ListenStep>(&step.what))
      sum += listen->for_ns ? seconds(listen->for_ns) : std::numeric_limits<double>::infinity();
  }
  return sum;
}

}  // namespace

std::vector<StageTimeline> timeline(const Plan& plan) {
  Standing now{std::vector<std::uint64_t>(plan.scenarios.size()),
               std::vector<double>(plan.scenarios.size() + 1), std::vector<bool>(plan.scenarios.size() + 1)};
  std::vector<StageTimeline> stages;
  for (const Stage& stage : plan.stages) {
    StageTimeline t{};
    t.name = stage.name;
    t.cuts = cut_users(plan, stage, stages.size(), now.users);
    t.users = change_users(stage, now);
    t.arrivals = change_arrivals(plan, stage, stages.size(), now);
    t.users_at_end = now.users;
    t.end = end_of(stage, now);
    switch (t.end) {
      case StageEnd::after_length: t.length_s = seconds(stage.over_ns) + seconds(stage.for_ns); break;
      case StageEnd::when_settled:
        t.length_s = t.users.empty() ? 0 : t.users.front().over_s;
        t.hold_s = seconds(stage.for_ns);
        break;
      case StageEnd::when_drained: break;
    }
    t.asked_rate = highest_asked(t);
    stages.push_back(std::move(t));
  }
  return stages;
}

std::uint64_t cut_count(const Disconnect& disconnect, const std::vector<std::uint64_t>& users) {
  const std::uint64_t all = std::accumulate(users.begin(), users.end(), std::uint64_t{0});
  if (!disconnect.share) return std::min(disconnect.count, all);
  return std::min(all,
                  static_cast<std::uint64_t>(std::llround(*disconnect.share * static_cast<double>(all))));
}

double asked_rate_at(const StageTimeline& stage, double t_s) {
  double asked = 0;
  for (const UserChange& c : stage.users)
    if (c.to > c.from && t_s < c.over_s) asked += static_cast<double>(c.to - c.from) / c.over_s;
  for (const ArrivalChange& c : stage.arrivals)
    asked += t_s < c.over_s ? c.from_per_s + (c.to_per_s - c.from_per_s) * t_s / c.over_s : c.to_per_s;
  return asked;
}

std::vector<std::uint64_t> user_bases(const Plan& plan) {
  std::vector<std::uint64_t> most(plan.scenarios.size());
  for (const Stage& stage : plan.stages)
    for (const auto& [scenario, users] : stage.users) most[scenario] = std::max(most[scenario], users);
  std::vector<std::uint64_t> bases(most.size());
  std::exclusive_scan(most.begin(), most.end(), bases.begin(), std::uint64_t{0});
  return bases;
}

std::uint32_t scenario_of_arrival(const Plan& plan, std::uint64_t k) { return ArrivalMix{plan}.scenario(k); }

std::uint64_t peak_users(const Plan& plan) { return peak_users(plan, Share{0, 1}); }

std::uint64_t peak_users(const Plan& plan, Share share) {
  const std::vector<std::uint64_t> bases = user_bases(plan);
  std::uint64_t peak = 0;
  for (const StageTimeline& stage : timeline(plan)) {
    std::vector<std::uint64_t> most = stage.users_at_end;
    for (const UserChange& c : stage.users) most[c.scenario] = std::max(c.from, c.to);
    std::uint64_t users = 0;
    for (std::size_t s = 0; s < most.size(); ++s) users += users_of_share(bases[s], most[s], share);
    peak = std::max(peak, users);
  }
  return peak;
}

std::vector<std::uint64_t> arrivals_by_stage(const Plan& plan) {
  std::vector<std::uint64_t> by_stage;
  std::vector<double> begun(plan.scenarios.size() + 1);
  for (const StageTimeline& stage : timeline(plan)) {
    std::uint64_t sum = 0;
    for (const ArrivalChange& c : stage.arrivals) {
      const double length_s = stage.length_s + stage.hold_s;
      const double hold_s = length_s - c.over_s;
      double& before = begun[c.stream];
      if (c.poisson) {
        const std::uint64_t first = items_before(before);
        PoissonArrivals arrivals({c.from_per_s, c.to_per_s, c.over_s, length_s}, first, c.key, Share{0, 1});
        const std::uint64_t next = arrivals.number_at(length_s);
        sum += next - first;
        before = static_cast<double>(next);
        continue;
      }
      for (const Ramp& ramp :
           {Ramp{c.from_per_s, c.to_per_s, c.over_s}, Ramp{c.to_per_s, c.to_per_s, hold_s}}) {
        if (!(ramp.length_s > 0)) continue;
        const Schedule schedule(ramp, begun[c.stream], Share{0, 1});
        sum += schedule.count();
        begun[c.stream] = schedule.ended();
      }
    }
    by_stage.push_back(sum);
  }
  return by_stage;
}

double mean_script_s(const Scenario& scenario) { return mean_s(scenario.script); }

double peak_arrival_sessions(const Plan& plan) {
  double weights = 0;
  for (const Scenario& s : plan.scenarios) weights += s.weight;
  std::vector<double> arrived(plan.scenarios.size());
  std::vector<double> fastest(plan.scenarios.size());
  for (const StageTimeline& stage : timeline(plan)) {
    std::vector<double> rates(plan.scenarios.size());
    for (const ArrivalChange& c : stage.arrivals)
      for (std::size_t s = 0; s < rates.size(); ++s) {
        const double part = c.stream == 0 ? plan.scenarios[s].weight / weights : double(c.stream == 1 + s);
        const double length_s = stage.length_s + stage.hold_s;
        rates[s] += std::max(c.from_per_s, c.to_per_s) * part;
        arrived[s] += part * ((c.from_per_s - c.to_per_s) / 2 * c.over_s + c.to_per_s * length_s);
      }
    for (std::size_t s = 0; s < rates.size(); ++s) fastest[s] = std::max(fastest[s], rates[s]);
  }
  double sessions = 0;
  for (std::size_t s = 0; s < fastest.size(); ++s)
    if (fastest[s] > 0) sessions += std::min(fastest[s] * mean_script_s(plan.scenarios[s]), arrived[s]);
  return sessions;
}

std::uint64_t peak_sockets(const Plan& plan) {
  return peak_users(plan) + static_cast<std::uint64_t>(std::ceil(peak_arrival_sessions(plan)));
}

}  // namespace onrush
