// What one worker has measured, second by second, and how it leaves the worker without a lock.
//
// Why: a counter shared between threads costs more than the message it counts. Each worker writes into a
// portion of its own; at the end of a second it hands the portion over and goes on with another of its three.
// Owner: the worker, except take() and give_back(), which the collector's thread calls.
// Always: nothing is lost: if the collector has not given a portion back in time, the worker goes on with the
// one it has and its samples carry a later second. After construction nothing is allocated unless more than
// two stages pass within three seconds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/snapshot.h"

namespace onrush {

/// One stage and scenario of a portion.
struct RecordedCell {
  std::uint32_t stage = 0;
  std::uint32_t scenario = 0;
  Counters counters{};
  std::array<Histogram, kTimes> times;
  Tries tries{};
};

/// What the worker says of itself when it hands over.
struct WorkerState {
  Gauges gauges;
  std::int64_t turn_max_ns = 0;
  std::int64_t cpu_ns = 0;   ///< of its thread since the portion before
  std::int64_t wait_ns = 0;  ///< for a core, since the portion before
  std::int64_t waits = 0;    ///< that it consists of
};

/// A second of one worker.
struct Portion {
  std::uint32_t second = 0;
  std::vector<RecordedCell*> cells;
  std::vector<FailureCount> failures;
  std::vector<BroadcastCount> broadcasts;
  std::vector<LogLine> log;
  std::string trace;  ///< lines of the users who are followed
  WorkerState state;
};

class Recorder {
 public:
  /// Kinds of failure told apart in one portion; what exceeds them is counted as Cause::other.
  static constexpr std::size_t kFailureKinds = 200;
  /// Broadcasts told apart in one portion; what exceeds them is added to the last one of the same scenario.
  static constexpr std::size_t kBroadcasts = 2048;

  explicit Recorder(std::uint32_t scenarios);

  /// Everything counts to this stage from now on.
  void enter_stage(std::uint32_t stage) noexcept;

  void count(std::uint32_t scenario, Counter counter, std::uint64_t add = 1) noexcept {
    at(cell(scenario).counters, counter) += add;
  }
  void time(std::uint32_t scenario, Time time, std::int64_t ns) noexcept {
    cell(scenario).times[static_cast<std::size_t>(time)].record(ns / 1000);
  }
  /// A user came back with its `tries`-th attempt, from 1.
  void came_back(std::uint32_t scenario, std::uint32_t tries) noexcept {
    ++cell(scenario).tries[(tries < kTries ? tries : kTries) - 1];
  }
  /// `at_us` since the run began.
  void failure(std::uint32_t scenario, const Failure& failure, std::int64_t at_us, std::string_view sample);
  void log(LogLine line) { active().log.push_back(std::move(line)); }
  /// Adds to what this portion holds of the broadcast. `first_copy_us`: wall clock, 0 if none came.
  void broadcast(std::uint32_t scenario, std::uint64_t sequence, std::int64_t batch_us,
                 std::uint64_t expected, std::int64_t first_copy_us);

  /// What the users who are followed did in this portion (core/trace).
  [[nodiscard]] std::string& trace() noexcept { return active().trace; }

  /// Hands over everything up to the end of `second`. False: there is no free portion, and it goes on with
  /// this one.
  bool hand_over(std::uint32_t second, const WorkerState& state) noexcept;
  /// After the last hand-over: nothing follows.
  void finish() noexcept { handed_over_.store(kFinished, std::memory_order_release); }

  // The collector's side.

  /// Everything up to and including `second` has been handed over.
  [[nodiscard]] bool has(std::uint32_t second) const noexcept {
    return handed_over_.load(std::memory_order_acquire) > std::int64_t{second};
  }
  [[nodiscard]] bool finished() const noexcept {
    return handed_over_.load(std::memory_order_acquire) == kFinished;
  }
  /// The oldest portion handed over and not taken; nullptr if there is none.
  [[nodiscard]] const Portion* oldest() const noexcept;
  /// The collector is done with the oldest portion.
  void give_back() noexcept;

 private:
  static constexpr std::size_t kPortions = 3;
  static constexpr std::int64_t kFinished = std::int64_t{1} << 62;

  [[nodiscard]] RecordedCell& cell(std::uint32_t scenario) noexcept {
    RecordedCell* known = current_[scenario];
    return known != nullptr ? *known : add_cell(scenario);
  }
  RecordedCell& add_cell(std::uint32_t scenario) noexcept;
  void clear(Portion& portion) noexcept;
  [[nodiscard]] Portion& active() noexcept { return portions_[written_ % kPortions]; }

  std::array<Portion, kPortions> portions_;
  std::deque<RecordedCell> cells_;  ///< owns them all; addresses stay
  std::vector<RecordedCell*> free_cells_;
  std::vector<RecordedCell*>
      current_;  ///< of the stage under way, by scenario; nullptr until something happens
  std::uint32_t stage_ = 0;

  // A ring of one writer and one reader: portions [taken_, written_) are the collector's, written_ is the
  // worker's.
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::int64_t> handed_over_{0};  ///< seconds handed over: all less than this
};

}  // namespace onrush
