// The reading half of the aggregate: sums of cells, and the live state.
#include <algorithm>

#include "core/aggregate.h"
#include "core/storm.h"

namespace onrush {

const Measured& Aggregate::cell(std::uint32_t stage, std::uint32_t scenario) const {
  return cells_.at(stage * plan_.scenarios.size() + scenario);
}

Measured Aggregate::of_stage(std::uint32_t stage) const {
  Measured sum;
  for (std::uint32_t s = 0; s < plan_.scenarios.size(); ++s) sum.add(cell(stage, s));
  return sum;
}

Measured Aggregate::of_scenario(std::uint32_t scenario) const {
  Measured sum;
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage) sum.add(cell(stage, scenario));
  return sum;
}

Measured Aggregate::total() const {
  Measured sum;
  for (const Measured& part : cells_) sum.add(part);
  return sum;
}

Counters Aggregate::counters_of_stage(std::uint32_t stage) const {
  Counters sum{};
  for (std::uint32_t s = 0; s < plan_.scenarios.size(); ++s) add(sum, cell(stage, s).counters);
  return sum;
}

Counters Aggregate::counters_of_scenario(std::uint32_t scenario) const {
  Counters sum{};
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage) add(sum, cell(stage, scenario).counters);
  return sum;
}

Counters Aggregate::counters() const {
  Counters sum{};
  for (const Measured& part : cells_) add(sum, part.counters);
  return sum;
}

std::uint64_t Aggregate::open_after(std::uint32_t stage) const { return open_after(stage, std::nullopt); }

std::uint64_t Aggregate::open_after(std::uint32_t stage, std::optional<std::uint32_t> scenario) const {
  Counters sum{};
  for (std::uint32_t i = 0; i <= stage; ++i)
    for (std::uint32_t s = 0; s < plan_.scenarios.size(); ++s)
      if (!scenario || *scenario == s) add(sum, cell(i, s).counters);
  const std::uint64_t opened = at(sum, Counter::opened);
  return opened - std::min(opened, at(sum, Counter::closed));
}

std::vector<FailureTotal> Aggregate::failures() const {
  std::vector<FailureTotal> all;
  all.reserve(failures_.size());
  for (const auto& [key, failure] : failures_) all.push_back(failure);
  return all;
}

std::uint32_t Aggregate::current_stage() const noexcept {
  std::uint32_t current = 0;
  for (std::uint32_t i = 0; i < spans_.size(); ++i)
    if (spans_[i].began_us) current = i;
  return current;
}

double Aggregate::progress_of(std::uint32_t stage, std::int64_t now_us) const {
  const StageTimeline& timeline = stages_[stage];
  const StageSpan& span = spans_[stage];
  if (!span.began_us) return 0;
  if (span.ended_us) return 1;
  const Counters counters = counters_of_stage(stage);
  const auto share = [](double part, double whole) {
    return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 1.0;
  };
  switch (timeline.end) {
    case StageEnd::after_length:
      return share(static_cast<double>(now_us - *span.began_us) / 1e6, timeline.length_s);
    case StageEnd::when_settled: {
      std::uint64_t leaving = 0;
      for (const UserChange& change : timeline.users)
        if (change.to < change.from) leaving += change.from - change.to;
      const std::uint64_t ended = at(counters, Counter::opened) + at(counters, Counter::failed);
      const std::uint64_t connected = ended - std::min(ended, at(counters, Counter::reconnects));
      const std::uint64_t done =
          std::min(connected, span.change) + std::min(at(counters, Counter::closed), leaving);
      return share(static_cast<double>(done), static_cast<double>(span.change + leaving));
    }
    case StageEnd::when_drained: {
      const std::uint64_t closed = at(counters, Counter::closed);
      return share(static_cast<double>(closed), static_cast<double>(closed + open_after(stage)));
    }
  }
  return 0;
}

Live Aggregate::live(std::int64_t now_us) const {
  const std::uint32_t stage = current_stage();
  const Counters all = counters();
  Live live;
  live.plan = plan_.name;
  for (const StageTimeline& timeline : stages_) live.stages.push_back(timeline.name);
  live.stage = stage;
  live.stage_progress = progress_of(stage, now_us);
  for (const std::uint64_t users : stages_[stage].users_at_end) live.wanted += users;
  live.open = open_after(static_cast<std::uint32_t>(stages_.size() - 1));
  const std::uint64_t ended = at(all, Counter::opened) + at(all, Counter::failed);
  live.opening = at(all, Counter::attempted) - std::min(at(all, Counter::attempted), ended);
  live.failed = at(all, Counter::failed);
  live.lost = at(all, Counter::lost);
  live.arrivals = at(all, Counter::arrivals);
  live.dropped_arrivals = at(all, Counter::dropped_arrivals);
  live.asked_rate = stages_[stage].asked_rate;
  if (const SeriesRow* row = series_.last_whole()) {
    live.connect_rate = static_cast<double>(at(row->counters, Counter::opened));
    live.receive_rate = static_cast<double>(at(row->counters, Counter::messages_received));
    live.send_rate = static_cast<double>(at(row->counters, Counter::messages_sent));
    live.lag_p99_us = row->lag_p99_us;
    live.busiest_agent = agents_[row->busiest_agent].name;
    live.busiest_worker = row->busiest_worker;
  }
  Histogram handshakes;
  Histogram round_trips;
  for (std::uint32_t s = 0; s < plan_.scenarios.size(); ++s) {
    if (const Histogram* samples = cell(stage, s).find(Time::handshake)) handshakes.add(*samples);
    if (const Histogram* samples = cell(stage, s).find(Time::round_trip)) round_trips.add(*samples);
  }
  live.handshakes = handshakes.count();
  live.handshake_p50_us = handshakes.quantile_us(0.5);
  live.handshake_p99_us = handshakes.quantile_us(0.99);
  live.handshake_max_us = handshakes.max_us();
  live.round_trips = round_trips.count();
  live.round_trip_p50_us = round_trips.quantile_us(0.5);
  live.round_trip_p99_us = round_trips.quantile_us(0.99);
  live.round_trip_max_us = round_trips.max_us();
  const DeliverySummary delivered = delivery(stage);
  live.delivered = delivered.received;
  live.expected = delivered.expected;
  fill_storm(live);
  fill_agents(live);
  fill_failures(live);
  return live;
}

void Aggregate::fill_storm(Live& live) const {
  const std::vector<Storm> all = storms(*this);
  if (all.empty()) return;
  live.cut_off = all.back().away();
  live.back = all.back().back;
  live.back_p50_us = all.back().back_us[0].value_or(0);
  live.back_p99_us = all.back().back_us[2].value_or(0);
}

void Aggregate::fill_agents(Live& live) const {
  live.agents = static_cast<std::uint32_t>(agents_.size());
  live.agents_alive = static_cast<std::uint32_t>(std::count_if(
      agents_.begin(), agents_.end(), [](const AgentRecord& a) { return a.state != AgentState::lost; }));
  live.suspect_seconds = static_cast<std::uint32_t>(suspect_seconds_.size());
  for (std::size_t i = 0; i < observed_.size(); ++i) {
    const std::vector<ObservedSample>& samples = observed_[i];
    if (samples.empty()) continue;
    const std::uint32_t passed =
        samples.size() < 2 ? 1 : samples.back().second - samples[samples.size() - 2].second;
    live.observed.push_back(
        {plan_.observe[i].name, samples.back().cpu_s / std::max(1U, passed), samples.back().memory_bytes});
  }
}

void Aggregate::fill_failures(Live& live) const {
  constexpr std::size_t kShown = 5;
  std::map<Failure, std::uint64_t> kinds;
  for (const auto& [key, failure] : failures_) kinds[failure.failure] += failure.count;
  for (const auto& [failure, count] : kinds)
    live.failures.push_back({name(failure.phase), describe(failure), count, is_ours(failure)});
  std::stable_sort(live.failures.begin(), live.failures.end(),
                   [](const LiveFailure& a, const LiveFailure& b) { return a.count > b.count; });
  if (live.failures.size() > kShown) live.failures.resize(kShown);
}

}  // namespace onrush
