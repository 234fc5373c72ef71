// The agents that are attached, each with its way back; who of them is free for a run.
//
// Owner: the coordinator's loop. Always: attached names are unique, so a name means one process at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/control.h"

namespace onrush {

using AgentId = std::uint64_t;

/// The way to one agent; each function may be called on the loop at any time until the agent is gone.
struct AgentLink {
  std::function<void(const FromCoordinator&)> send;
  std::function<void(const std::string& why)> refuse;  ///< ends the stream with a reason the agent prints
  std::function<void()> cut;                           ///< breaks the stream
};

class Fleet {
 public:
  AgentId attached(AgentLink link);
  void detached(AgentId id);

  /// Takes an agent's first words. Error: why it is not let in (version, a name that is taken).
  std::optional<std::string> introduce(AgentId id, const Hello& hello);

  /// What its machine allows has been read anew.
  void told(AgentId id, const HostFacts& facts);

  [[nodiscard]] const Hello* hello(AgentId id) const;     ///< null if it is gone or has not said who it is
  [[nodiscard]] std::vector<AgentId> introduced() const;  ///< in the order of attachment
  [[nodiscard]] const AgentLink* link(AgentId id) const;

 private:
  struct Agent {
    AgentLink link;
    std::optional<Hello> hello;
  };
  std::map<AgentId, Agent> agents_;
  AgentId next_ = 1;
};

}  // namespace onrush
