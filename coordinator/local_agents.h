// The agent processes that `onrush run` starts on its own machine, and ends with itself.
//
// Why: the embedded default runs the same agents as a cluster, over the same gRPC. They get a process group
// of their own, so that a Ctrl-C on the terminal reaches only the command, which then stops them in order.
// Owner: the command. Always: every process started here is ended here, by its pid; one whose command was
// killed ends by itself, in order if it was attached and at once if it was not yet.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/expected.h"
#include "core/plan.h"

namespace onrush {

inline constexpr std::uint32_t kMostLocalAgents = 1000;

/// Enough for the plan's peak by the limit that agents started here have. If no number would do (a tiny
/// ulimit), one: it is the one that refuses, with the remedy.
[[nodiscard]] std::uint32_t agents_for(const Plan& plan);

class LocalAgents {
 public:
  struct Options {
    std::uint32_t count = 1;
    std::uint32_t workers = 1;
    std::uint64_t memory_reserve = 0;  ///< bytes; 0: the agents' own rule
  };
  /// Starts agents named agent-1, agent-2, ... that attach to `coordinator` (HOST:PORT).
  /// Error: onrush-agent is not beside this program, or cannot be started.
  static Expected<LocalAgents, std::string> start(const Options& options, const std::string& coordinator);
  LocalAgents(LocalAgents&& other) noexcept;
  LocalAgents& operator=(LocalAgents&&) = delete;
  /// Ends what still runs: SIGTERM, and SIGKILL after three seconds.
  ~LocalAgents();

 private:
  LocalAgents() = default;
  std::vector<pid_t> pids_;
};

}  // namespace onrush
