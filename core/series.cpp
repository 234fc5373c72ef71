#include "core/series.h"

#include <algorithm>

namespace onrush {

SeriesRow& Series::row(std::uint32_t second) {
  SeriesRow& row = rows_[second];
  row.second = second;
  return row;
}

bool Series::count(std::uint32_t second, std::uint32_t stage, std::uint32_t scenario,
                   const Counters& counters) {
  SeriesRow& into = row(second);
  into.stage = std::max(into.stage, stage);
  add(into.counters, counters);
  if (second < given_up_) return false;
  add(open_[second][{stage, scenario}].counters, counters);
  return true;
}

void Series::sample(std::uint32_t second, std::uint32_t stage, std::uint32_t scenario, Time time,
                    const Histogram& samples) {
  open_[second][{stage, scenario}].of(time).add(samples);
  if (second < next_) summarise(second);
}

void Series::close_until(std::uint32_t second,
                         const std::function<void(const SeriesRow&, const ByCell&)>& closed) {
  if (second < next_) return;
  for (auto row = rows_.lower_bound(next_); row != rows_.end() && row->first <= second; ++row) {
    summarise(row->first);
    closed(row->second, open_[row->first]);
  }
  next_ = second + 1;
  given_up_ = std::max(given_up_, next_ > kSamplesKept ? next_ - kSamplesKept : 0);
  open_.erase(open_.begin(), open_.lower_bound(given_up_));
}

const SeriesRow* Series::last_whole() const noexcept {
  const auto after = rows_.lower_bound(next_);
  return after == rows_.begin() ? nullptr : &std::prev(after)->second;
}

void Series::summarise(std::uint32_t second) {
  Measured all;
  for (const auto& [cell, measured] : open_[second]) all.add(measured);
  std::vector<SecondTime>& times = rows_[second].times;
  times.clear();
  for (std::size_t i = 0; i < kTimes; ++i) {
    const auto time = static_cast<Time>(i);
    const Histogram* samples = all.find(time);
    if (samples == nullptr) continue;
    times.push_back(
        {time, samples->count(), samples->quantile_us(0.5), samples->quantile_us(0.99), samples->max_us()});
  }
}

}  // namespace onrush
