#include "coordinator/fleet.h"

#include <fmt/format.h>

#include <utility>

#include "core/label.h"

namespace onrush {

AgentId Fleet::attached(AgentLink link) {
  agents_.emplace(next_, Agent{std::move(link), std::nullopt});
  return next_++;
}

void Fleet::detached(AgentId id) { agents_.erase(id); }

std::optional<std::string> Fleet::introduce(AgentId id, const Hello& hello) {
  if (hello.version != ONRUSH_VERSION)
    return fmt::format(
        "this coordinator is onrush {}, agent {} is onrush-agent {}: install one version on both",
        ONRUSH_VERSION, hello.name, hello.version);
  // Who attaches is not authenticated: its name must not forge log lines, or fill every report.
  if (!is_label(hello.name, kLongestAgentName))
    return fmt::format(
        "the agent's name does not fit a log or a label; give it a --name of 1 to {} letters, digits, - _ . "
        "that begins with a letter, digit or _",
        kLongestAgentName);
  for (const auto& [other_id, other] : agents_)
    if (other_id != id && other.hello && other.hello->name == hello.name)
      return fmt::format(
          "an agent named {} is attached already (process {} on {}); give this one another --name",
          hello.name, other.hello->pid, other.hello->host);
  agents_.at(id).hello = hello;
  return std::nullopt;
}

void Fleet::told(AgentId id, const HostFacts& facts) {
  const auto found = agents_.find(id);
  if (found != agents_.end() && found->second.hello) found->second.hello->facts = facts;
}

const Hello* Fleet::hello(AgentId id) const {
  const auto found = agents_.find(id);
  return found == agents_.end() || !found->second.hello ? nullptr : &*found->second.hello;
}

std::vector<AgentId> Fleet::introduced() const {
  std::vector<AgentId> all;
  for (const auto& [id, agent] : agents_)
    if (agent.hello) all.push_back(id);
  return all;
}

const AgentLink* Fleet::link(AgentId id) const {
  const auto found = agents_.find(id);
  return found == agents_.end() ? nullptr : &found->second.link;
}

}  // namespace onrush
