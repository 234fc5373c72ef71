// What a follower of a run gets to see, as plain values: the service turns them into messages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "core/control.h"
#include "core/live.h"

namespace onrush {

struct RunAccepted {
  std::string run;
  std::string http;  ///< where metrics are, "" = nowhere
};
struct RunRejected {
  std::string why;  ///< complete lines for a person
  int exit_code;
};
struct RunLog {
  std::string line;
};
struct RunFile {
  std::string name;
  std::string content;
};
struct RunFinished {
  int exit_code;
};

/// RunRejected or RunFinished is the last.
using RunEvent = std::variant<RunAccepted, RunRejected, Live, RunLog, RunFile, RunFinished>;

/// What somebody wants to have run.
struct Submission {
  std::string version;
  PlanText plan;
  std::uint32_t agents = 0;  ///< 0 = all that are attached
};

using Follower = std::function<void(const RunEvent&)>;

}  // namespace onrush
