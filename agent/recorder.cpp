#include "agent/recorder.h"

#include <algorithm>

namespace onrush {

Recorder::Recorder(std::uint32_t scenarios) : current_(scenarios, nullptr) {
  for (Portion& portion : portions_) {
    portion.cells.reserve(scenarios * std::size_t{4});
    portion.failures.reserve(kFailureKinds + 8 * std::size_t{scenarios});
    portion.broadcasts.reserve(kBroadcasts + scenarios);
  }
  // Of each portion two stages: the one that ends in its second and the one that begins.
  const std::size_t cells = kPortions * 2 * std::size_t{scenarios};
  free_cells_.reserve(cells * 2);
  for (std::size_t i = 0; i < cells; ++i) free_cells_.push_back(&cells_.emplace_back());
}

void Recorder::enter_stage(std::uint32_t stage) noexcept {
  stage_ = stage;
  std::fill(current_.begin(), current_.end(), nullptr);
}

RecordedCell& Recorder::add_cell(std::uint32_t scenario) noexcept {
  if (free_cells_.empty()) free_cells_.push_back(&cells_.emplace_back());
  RecordedCell* cell = free_cells_.back();
  free_cells_.pop_back();
  cell->stage = stage_;
  cell->scenario = scenario;
  active().cells.push_back(cell);
  current_[scenario] = cell;
  return *cell;
}

void Recorder::failure(std::uint32_t scenario, const Failure& failure, std::int64_t at_us,
                       std::string_view sample) {
  std::vector<FailureCount>& known = active().failures;
  const auto find = [&](const Failure& wanted) {
    return std::find_if(known.begin(), known.end(), [&](const FailureCount& f) {
      return f.failure == wanted && f.stage == stage_ && f.scenario == scenario;
    });
  };
  auto found = find(failure);
  Failure kind = failure;
  if (found == known.end() && known.size() >= kFailureKinds) {
    kind = Failure{failure.phase, Cause::other, 0};
    found = find(kind);
  }
  if (found != known.end()) {
    ++found->count;
    found->last_us = at_us;
    show_more(found->sample, sample);
    return;
  }
  known.push_back({kind, stage_, scenario, 1, at_us, at_us, std::string{sample.substr(0, kSampleBytes)}});
}

void Recorder::broadcast(std::uint32_t scenario, std::uint64_t sequence, std::int64_t batch_us,
                         std::uint64_t expected, std::int64_t first_copy_us) {
  std::vector<BroadcastCount>& known = active().broadcasts;
  const auto same = [&](const BroadcastCount& b) { return b.scenario == scenario && b.stage == stage_; };
  // From the end: the copies of one broadcast come close together.
  auto found = std::find_if(known.rbegin(), known.rend(),
                            [&](const BroadcastCount& b) { return b.sequence == sequence && same(b); });
  if (found == known.rend() && known.size() >= kBroadcasts)
    found = std::find_if(known.rbegin(), known.rend(), same);
  if (found == known.rend()) {
    known.push_back({stage_, scenario, sequence, batch_us, 0, 0, 0, 0});
    found = known.rbegin();
  }
  found->expected += expected;
  if (batch_us != 0) found->batch_us = batch_us;
  if (first_copy_us == 0) return;
  if (++found->received == 1) found->first_us = found->last_us = first_copy_us;
  found->first_us = std::min(found->first_us, first_copy_us);
  found->last_us = std::max(found->last_us, first_copy_us);
}

bool Recorder::hand_over(std::uint32_t second, const WorkerState& state) noexcept {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  if (written + 1 - taken_.load(std::memory_order_acquire) >= kPortions) return false;
  Portion& full = active();
  full.second = second;
  full.state = state;
  clear(portions_[(written + 1) % kPortions]);
  std::fill(current_.begin(), current_.end(), nullptr);
  written_.store(written + 1, std::memory_order_release);
  handed_over_.store(std::int64_t{second} + 1, std::memory_order_release);
  return true;
}

// Lazily, when the worker comes round to it: only what was in use costs anything.
void Recorder::clear(Portion& portion) noexcept {
  for (RecordedCell* cell : portion.cells) {
    cell->counters = {};
    cell->tries = {};
    for (Histogram& histogram : cell->times)
      if (histogram.count() != 0) histogram.clear();
    free_cells_.push_back(cell);
  }
  portion.cells.clear();
  portion.failures.clear();
  portion.broadcasts.clear();
  portion.log.clear();
  portion.trace.clear();
}

const Portion* Recorder::oldest() const noexcept {
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  if (taken == written_.load(std::memory_order_acquire)) return nullptr;
  return &portions_[taken % kPortions];
}

void Recorder::give_back() noexcept { taken_.fetch_add(1, std::memory_order_release); }

}  // namespace onrush
