#include "core/storm.h"

#include <algorithm>
#include <cmath>

namespace onrush {
namespace {

bool anybody_returns(const Plan& plan) {
  return std::any_of(plan.scenarios.begin(), plan.scenarios.end(),
                     [](const Scenario& s) { return s.reconnect.has_value(); });
}

std::vector<std::uint32_t> beginnings(const Aggregate& aggregate) {
  std::vector<std::uint32_t> stages;
  for (std::uint32_t i = 0; i < aggregate.stages().size(); ++i)
    if (!aggregate.stages()[i].cuts.empty() &&
        (aggregate.spans()[i].began_us || at(aggregate.counters_of_stage(i), Counter::disconnected) > 0))
      stages.push_back(i);
  if (!stages.empty() || !anybody_returns(aggregate.plan())) return stages;
  for (std::uint32_t i = 0; i < aggregate.stages().size() && stages.empty(); ++i)
    if (at(aggregate.counters_of_stage(i), Counter::lost) > 0) stages.push_back(i);
  return stages;
}

void count_tries(Storm& storm, const Tries& tries) {
  storm.tries = tries;
  double sum = 0;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    sum += static_cast<double>(tries[i]) * (i + 1);
    if (tries[i] > 0) storm.tries_most = i + 1;
  }
  if (storm.back > 0) storm.tries_mean = sum / static_cast<double>(storm.back);
}

/// Of all the figures only those that a storm needs: the live view asks four times a second.
Measured measured_in(const Aggregate& aggregate, std::uint32_t from, std::uint32_t to) {
  Measured sum;
  for (std::uint32_t stage = from; stage < to; ++stage)
    for (std::uint32_t s = 0; s < aggregate.plan().scenarios.size(); ++s) {
      const Measured& cell = aggregate.cell(stage, s);
      add(sum.counters, cell.counters);
      for (std::size_t i = 0; i < kTries; ++i) sum.tries[i] += cell.tries[i];
      if (const Histogram* samples = cell.find(Time::recovery)) sum.of(Time::recovery).add(*samples);
    }
  return sum;
}

Storm storm_of(const Aggregate& aggregate, std::uint32_t from, std::uint32_t to) {
  const Measured measured = measured_in(aggregate, from, to);
  Storm storm;
  storm.stage = from;
  for (const UserCut& cut : aggregate.stages()[from].cuts) storm.asked += cut.count;
  storm.disconnected = at(measured.counters, Counter::disconnected);
  storm.lost = at(measured.counters, Counter::lost);
  storm.gave_up = at(measured.counters, Counter::gave_up);
  storm.back = measured.samples(Time::recovery);
  count_tries(storm, measured.tries);
  const Histogram* recovered = measured.find(Time::recovery);
  for (std::size_t i = 0; i < kStormShares.size() && recovered != nullptr; ++i) {
    // The rank of the last who has to be back; half a place below it is safe from rounding.
    const double rank = std::max(1.0, std::ceil(kStormShares[i] * static_cast<double>(storm.away()) - 1e-6));
    if (rank <= static_cast<double>(storm.back))
      storm.back_us[i] = recovered->quantile_us((rank - 0.5) / static_cast<double>(storm.back));
  }
  if (recovered != nullptr && storm.back_us.back() && storm.back == storm.away())
    storm.back_us.back() = recovered->max_us();
  return storm;
}

}  // namespace

std::vector<Storm> storms(const Aggregate& aggregate) {
  const std::vector<std::uint32_t> begins = beginnings(aggregate);
  std::vector<Storm> all;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto to =
        i + 1 < begins.size() ? begins[i + 1] : static_cast<std::uint32_t>(aggregate.stages().size());
    all.push_back(storm_of(aggregate, begins[i], to));
  }
  return all;
}

}  // namespace onrush
