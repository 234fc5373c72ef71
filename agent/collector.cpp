#include "agent/collector.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace onrush {

Collector::Collector(std::vector<Recorder*> recorders, SelfWatch* watch)
    : recorders_{std::move(recorders)}, watch_{watch}, states_(recorders_.size()) {}

std::vector<Snapshot> Collector::collect(std::uint32_t until) {
  while (!made_last_ && kept_.size() < kKept && next_second_ < until && complete(next_second_))
    make(next_second_++);
  std::vector<Snapshot> fresh(kept_.begin() + static_cast<std::ptrdiff_t>(given_), kept_.end());
  given_ = kept_.size();
  return fresh;
}

void Collector::acknowledge(std::uint64_t number) {
  while (!kept_.empty() && kept_.front().number <= number) {
    kept_.pop_front();
    if (given_ > 0) --given_;
  }
}

bool Collector::complete(std::uint32_t second) const noexcept {
  return std::all_of(recorders_.begin(), recorders_.end(), [&](const Recorder* r) { return r->has(second); });
}

void Collector::make(std::uint32_t second) {
  turn_max_ns_ = cpu_max_ns_ = wait_max_ns_ = waits_ = 0;
  bool nothing_follows = true;
  for (std::size_t w = 0; w < recorders_.size(); ++w) {
    // Asked first: whatever a finished worker has handed over is then there to be seen.
    const bool finished = recorders_[w]->finished();
    const Portion* portion = recorders_[w]->oldest();
    for (; portion != nullptr && portion->second <= second; portion = recorders_[w]->oldest()) {
      add(*portion, w);
      recorders_[w]->give_back();
    }
    nothing_follows = nothing_follows && finished && portion == nullptr;
  }
  Snapshot& snapshot = kept_.emplace_back();
  snapshot.number = next_number_++;
  snapshot.second = second;
  snapshot.last = made_last_ = nothing_follows;
  drain_cells(snapshot);
  for (auto& [key, failure] : failures_) snapshot.failures.push_back(std::move(failure));
  for (const auto& [key, broadcast] : broadcasts_) snapshot.broadcasts.push_back(broadcast);
  snapshot.log = std::exchange(log_, {});
  snapshot.trace = std::exchange(trace_, {});
  failures_.clear();
  broadcasts_.clear();
  for (const WorkerState& state : states_) {
    snapshot.gauges.opening += state.gauges.opening;
    snapshot.gauges.open += state.gauges.open;
    snapshot.gauges.closing += state.gauges.closing;
    snapshot.gauges.listening += state.gauges.listening;
    snapshot.gauges.wanted += state.gauges.wanted;
  }
  snapshot.health.lag_p99_us = lag_.quantile_us(0.99);
  snapshot.health.turn_max_us = turn_max_ns_ / 1000;
  snapshot.health.busiest_worker = std::min(static_cast<double>(cpu_max_ns_) / 1e9, 1.0);
  snapshot.health.cpu_wait = std::min(static_cast<double>(wait_max_ns_) / 1e9, 1.0);
  snapshot.health.cpu_wait_mean_us = wait_max_ns_ / std::max<std::int64_t>(waits_, 1) / 1000;
  if (watch_ != nullptr) watch_->look(snapshot.health);
  lag_.clear();
}

void Collector::add(const Portion& portion, std::size_t worker) {
  for (const RecordedCell* cell : portion.cells) {
    Merged& merged = cells_[{cell->stage, cell->scenario}];
    for (std::size_t c = 0; c < kCounters; ++c) merged.counters[c] += cell->counters[c];
    for (std::size_t t = 0; t < kTries; ++t) merged.tries[t] += cell->tries[t];
    for (std::size_t t = 0; t < kTimes; ++t)
      if (cell->times[t].count() != 0) merged.times[t].add(cell->times[t]);
  }
  for (const FailureCount& failure : portion.failures) {
    const auto [known, is_new] =
        failures_.try_emplace({failure.stage, failure.scenario, failure.failure}, failure);
    if (is_new) continue;
    known->second.count += failure.count;
    show_more(known->second.sample, failure.sample);
    known->second.first_us = std::min(known->second.first_us, failure.first_us);
    known->second.last_us = std::max(known->second.last_us, failure.last_us);
  }
  for (const BroadcastCount& broadcast : portion.broadcasts) {
    const auto [known, is_new] =
        broadcasts_.try_emplace({broadcast.stage, broadcast.scenario, broadcast.sequence}, broadcast);
    if (is_new) continue;
    BroadcastCount& sum = known->second;
    if (broadcast.received != 0) {
      sum.first_us = sum.received == 0 ? broadcast.first_us : std::min(sum.first_us, broadcast.first_us);
      sum.last_us = std::max(sum.last_us, broadcast.last_us);
    }
    sum.expected += broadcast.expected;
    sum.received += broadcast.received;
    if (sum.batch_us == 0) sum.batch_us = broadcast.batch_us;
  }
  log_.insert(log_.end(), portion.log.begin(), portion.log.end());
  trace_.append(portion.trace);
  states_[worker] = portion.state;
  turn_max_ns_ = std::max(turn_max_ns_, portion.state.turn_max_ns);
  cpu_max_ns_ = std::max(cpu_max_ns_, portion.state.cpu_ns);
  if (portion.state.wait_ns > wait_max_ns_) {
    wait_max_ns_ = portion.state.wait_ns;
    waits_ = portion.state.waits;
  }
}

// Encodes what was merged and keeps the empty cells for the next second; a stage that nothing happened in any
// more gives its memory back.
void Collector::drain_cells(Snapshot& snapshot) {
  const auto lag_of = [](const Merged& cell, Time time) -> const Histogram& {
    return cell.times[static_cast<std::size_t>(time)];
  };
  for (auto place = cells_.begin(); place != cells_.end();) {
    Merged& merged = place->second;
    Cell cell{place->first.first, place->first.second, merged.counters, {}, merged.tries};
    lag_.add(lag_of(merged, Time::start_lag));
    lag_.add(lag_of(merged, Time::send_lag));
    for (std::size_t t = 0; t < kTimes; ++t) {
      Histogram& histogram = merged.times[t];
      if (histogram.count() == 0) continue;
      cell.times.push_back({static_cast<Time>(t), histogram.encode(), histogram.exact()});
      histogram.clear();
    }
    const bool quiet = cell.times.empty() && merged.counters == Counters{};
    merged.counters = {};
    merged.tries = {};
    if (!quiet) snapshot.cells.push_back(std::move(cell));
    place = quiet ? cells_.erase(place) : std::next(place);
  }
}

}  // namespace onrush
