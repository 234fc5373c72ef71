// The follower's side of Runs.Submit: hands a plan to a coordinator and passes on what it tells.
//
// Owner: the command; follow() blocks its thread, stop() may be called from another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordinator/run_event.h"
#include "core/expected.h"

namespace onrush {

class RunClient {
 public:
  explicit RunClient(const std::string& coordinator);
  ~RunClient();

  /// Submits and passes on every event until the run is over. Returns its exit code, that of an interrupted
  /// run if stop() came before anything was submitted; error: the coordinator cannot be reached, or went
  /// away.
  Expected<int, std::string> follow(const Submission& submission, const Follower& follower);

  /// Who is attached. Error: the coordinator cannot be reached, or is of another version.
  Expected<std::vector<Hello>, std::string> survey();

  /// Asks for the end: in order, or at once. Before the run is submitted it never will be.
  void stop(const std::string& why, bool at_once);

 private:
  struct Stream;  // gRPC stays in the .cpp
  std::unique_ptr<Stream> stream_;
};

}  // namespace onrush
