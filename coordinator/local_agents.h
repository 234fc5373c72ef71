// The agent processes that `onrush run` starts on its own machine, and ends with itself.
//
// Why: the embedded default runs the same agents as a cluster, over the same gRPC. They get a process group
// of their own, so that a Ctrl-C on the terminal reaches only the command, which then stops them in order.
// Owner: the command. Always: every process started here is ended here, by its pid.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/expected.h"

namespace onrush {

class LocalAgents {
 public:
  /// Starts `count` agents named agent-1, agent-2, ... that attach to `coordinator` (HOST:PORT).
  /// Error: onrush-agent is not beside this program, or cannot be started.
  static Expected<LocalAgents, std::string> start(std::uint32_t count, std::uint32_t workers,
                                                  const std::string& coordinator);
  LocalAgents(LocalAgents&& other) noexcept;
  LocalAgents& operator=(LocalAgents&&) = delete;
  /// Ends what still runs: SIGTERM, and SIGKILL after three seconds.
  ~LocalAgents();

 private:
  LocalAgents() = default;
  std::vector<pid_t> pids_;
};

}  // namespace onrush
