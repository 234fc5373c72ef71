// One snapshot a second out of what all workers of the agent have recorded, kept until it has arrived.
//
// Why: the coordinator wants one answer an agent, and an answer that was lost on the way must be given again.
// Owner: the control link's thread. Always: snapshots are numbered 1, 2, ... without gaps, and each is in the
// list until it is acknowledged. The list is bounded: while kKept snapshots wait, no more are made, and the
// workers put what they measure meanwhile into later seconds; nothing is lost.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "agent/recorder.h"
#include "agent/self_watch.h"
#include "core/snapshot.h"

namespace onrush {

class Collector {
 public:
  /// Snapshots that may wait for their acknowledgement: two minutes.
  static constexpr std::size_t kKept = 120;

  /// `watch`: where host and process are observed; nullptr if they are not.
  Collector(std::vector<Recorder*> recorders, SelfWatch* watch);

  /// The snapshots not given out before, oldest first: of every second before `until` that all workers have
  /// handed over.
  [[nodiscard]] std::vector<Snapshot> collect(std::uint32_t until = UINT32_MAX);
  void acknowledge(std::uint64_t number);
  /// Gives out everything again that was not acknowledged.
  void resend() noexcept { given_ = 0; }

  /// The last snapshot was made and acknowledged.
  [[nodiscard]] bool finished() const noexcept { return made_last_ && kept_.empty(); }

 private:
  struct Merged {
    Counters counters{};
    std::array<Histogram, kTimes> times;
    Tries tries{};
  };
  using CellKey = std::pair<std::uint32_t, std::uint32_t>;

  [[nodiscard]] bool complete(std::uint32_t second) const noexcept;
  void make(std::uint32_t second);
  void add(const Portion& portion, std::size_t worker);
  void drain_cells(Snapshot& snapshot);

  std::vector<Recorder*> recorders_;
  SelfWatch* watch_;
  std::vector<WorkerState> states_;  ///< the latest of each worker
  std::map<CellKey, Merged> cells_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, Failure>, FailureCount> failures_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, BroadcastCount> broadcasts_;
  std::vector<LogLine> log_;
  std::string trace_;
  Histogram lag_;
  std::int64_t turn_max_ns_ = 0;
  std::int64_t cpu_max_ns_ = 0;
  std::int64_t wait_max_ns_ = 0;
  std::int64_t waits_ = 0;  ///< of the worker that waited longest
  std::uint64_t next_number_ = 1;
  std::uint32_t next_second_ = 0;
  bool made_last_ = false;
  std::deque<Snapshot> kept_;
  std::size_t given_ = 0;  ///< of kept_
};

}  // namespace onrush
