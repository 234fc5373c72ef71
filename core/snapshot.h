// What one agent measured in one second: plain values, ready to send, to merge, or to compare.
//
// Why: the agent, the wire, the coordinator and the simulation pass on the same thing. Counters are what was
// added in this snapshot, never running totals, so a snapshot applied once is exact and a repeated one is
// recognised by number. Owner: whoever holds it. Times of day are microseconds on the wall clock, corrected
// to the coordinator's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/failure.h"
#include "core/histogram.h"
#include "core/log_line.h"
#include "core/metrics.h"

namespace onrush {

/// Samples of one time, encoded (Histogram::encode).
struct TimeSamples {
  Time time;
  std::string v2;
  Histogram::Exact exact;
};

/// Everything that happened in one stage to users of one scenario.
struct Cell {
  std::uint32_t stage;
  std::uint32_t scenario;
  Counters counters{};
  std::vector<TimeSamples> times;  ///< only those with samples
  Tries tries{};                   ///< of the users who came back
};

struct FailureCount {
  Failure failure;
  std::uint32_t stage;
  std::uint32_t scenario;
  std::uint64_t count;
  std::int64_t first_us;  ///< since the run began
  std::int64_t last_us;   ///< since the run began
  std::string
      sample;  ///< at most kSampleBytes that show one case: a status line, a close reason; may be empty
};

/// What listening users got of one broadcast, in this snapshot.
struct BroadcastCount {
  std::uint32_t stage;
  std::uint32_t scenario;
  std::uint64_t sequence;
  std::int64_t batch_us;  ///< when its fan-out began, by the target's clock; 0 if the target does not say
  std::uint64_t
      expected;  ///< listeners entitled to it: counted when this agent first saw it, later ones added
  std::uint64_t received;  ///< first copies
  std::int64_t first_us;   ///< wall clock of the first and last first-copy here
  std::int64_t last_us;
};

/// State at the end of the second.
struct Gauges {
  std::uint64_t opening = 0;  ///< attempts under way
  std::uint64_t open = 0;
  std::uint64_t closing = 0;
  std::uint64_t listening = 0;  ///< open and in a listen step that numbers broadcasts
  std::uint64_t wanted = 0;     ///< users that the stage wants now, by its ramp
};

/// How well the generator itself did in this second.
struct Health {
  std::int64_t lag_p99_us = 0;   ///< of start_lag and send_lag
  std::int64_t turn_max_us = 0;  ///< longest turn of a worker's loop, from when it should have begun
  double busiest_worker = 0;     ///< CPU share of the busiest worker thread, 0 to 1
  double cpu_wait = 0;           ///< share of the second that a worker was ready and had no core, at most
  std::int64_t cpu_wait_mean_us = 0;    ///< of that worker, each time that it was ready
  double cpu_steal = 0;                 ///< of this host, 0 to 1
  std::uint64_t segments_out = 0;       ///< TCP, this host, retransmitted ones left out
  std::uint64_t retransmits = 0;        ///< TCP segments, this host
  std::uint64_t packets_in = 0;         ///< this host, loopback included
  std::uint64_t softnet_drops = 0;      ///< packets, this host
  std::uint64_t connects = 0;           ///< TCP connections begun on this host
  std::uint64_t listen_overflows = 0;   ///< this host, so the target's if it runs here
  std::uint64_t memory_pressures = 0;   ///< times that TCP of this host came close to its limit of memory
  std::uint64_t memory_bytes = 0;       ///< private bytes of the agent's process
  std::uint64_t memory_left_bytes = 0;  ///< of its host (core/memory_left); means nothing without a reserve
  std::uint64_t memory_reserve_bytes = 0;  ///< below which it must not sink; 0: not watched
};

struct Snapshot {
  std::uint64_t number = 0;  ///< 1, 2, ... in the run, without gaps
  std::uint32_t second = 0;  ///< of the run; samples taken in [second, second + 1)
  std::vector<Cell> cells;
  std::vector<FailureCount> failures;
  std::vector<BroadcastCount> broadcasts;
  std::vector<LogLine> log;
  std::string trace = {};  ///< lines of the users who are followed (core/trace), by worker
  Gauges gauges;
  Health health;
  bool last = false;  ///< nothing follows: every connection is closed
};

}  // namespace onrush
