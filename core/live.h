// The state of a run at one moment, as the terminal view, the HTTP interface and the exposition show it.
//
// Owner: a value; made by the coordinator's aggregate, sent to whoever follows the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/failure.h"

namespace onrush {

struct LiveObserved {
  std::string name;
  double cpu_cores = 0;
  std::uint64_t memory_bytes = 0;
};

struct LiveFailure {
  std::string phase;
  std::string cause;
  std::uint64_t count = 0;
  bool ours = false;
};

struct Live {
  std::string run;
  std::string plan;
  std::string state;  ///< of the lifecycle (core/run): "preparing", "running", "stopping", "finished"
  std::vector<std::string> stages;
  std::uint32_t stage = 0;              ///< index of the stage under way
  std::int64_t elapsed_us = 0;          ///< since the run began
  std::optional<std::int64_t> left_us;  ///< of the run, as far as it is known
  double stage_progress = 0;            ///< 0 to 1: users of its change done, or time of its length passed

  std::uint64_t wanted = 0;  ///< users that the running stage wants when its change is done
  std::uint64_t open = 0;
  std::uint64_t opening = 0;
  std::uint64_t failed = 0;
  std::uint64_t lost = 0;
  std::uint64_t arrivals = 0;
  std::uint64_t dropped_arrivals = 0;
  double connect_rate = 0;  ///< opened in the last whole second
  double asked_rate = 0;    ///< 0 = none asked
  double receive_rate = 0;  ///< messages in the last whole second
  double send_rate = 0;

  std::uint64_t handshakes = 0;  ///< of the running stage, like the three times below
  std::int64_t handshake_p50_us = 0;
  std::int64_t handshake_p99_us = 0;
  std::int64_t handshake_max_us = 0;
  std::uint64_t round_trips = 0;  ///< of the running stage, like the three times below
  std::int64_t round_trip_p50_us = 0;
  std::int64_t round_trip_p99_us = 0;
  std::int64_t round_trip_max_us = 0;
  std::uint64_t delivered = 0;  ///< of the running stage
  std::uint64_t expected = 0;

  std::uint64_t cut_off = 0;     ///< by the storm under way or the last one, lost ones included
  std::uint64_t back = 0;        ///< of them
  std::int64_t back_p50_us = 0;  ///< time until so many of all who were cut off were back; 0: not yet
  std::int64_t back_p99_us = 0;

  std::uint32_t agents_alive = 0;
  std::uint32_t agents = 0;
  std::int64_t lag_p99_us = 0;  ///< worst agent, last whole second
  std::string busiest_agent;
  double busiest_worker = 0;          ///< 0 to 1
  std::uint32_t suspect_seconds = 0;  ///< SUSPECT or INVALID

  std::vector<LiveObserved> observed;
  std::vector<LiveFailure> failures;  ///< most frequent first, at most 5
};

}  // namespace onrush
