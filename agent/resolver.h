// The addresses of a plan's targets: looked up once by each agent, before the run.
//
// Why: a look-up for each connection would test the resolver and not the target, and one in mid-run would
// hold up a worker. Owner: the control link's thread, in prepare. Always: what is returned can be reached
// from the agent's source addresses; each target has at least one address, each address comes once a target.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/endpoint.h"
#include "core/control.h"
#include "core/expected.h"
#include "core/target.h"

namespace onrush {

/// The addresses of a name, without ports; or why there are none.
using Lookup = std::function<Expected<std::vector<Endpoint>, std::string>(const std::string& host)>;

/// Asks the machine's resolver, in a thread of its own, and gives it up after five seconds.
[[nodiscard]] Expected<std::vector<Endpoint>, std::string> look_up(const std::string& host);

/// Endpoints of each target, in order: those that it names, or those that its host's name has. Of several,
/// those are left out that this machine has no route to, or that `source` cannot reach. Errors: one for each
/// target that has none.
[[nodiscard]] Expected<std::vector<std::vector<Endpoint>>, std::vector<std::string>> resolve(
    const std::vector<Target>& targets, const SourceBlock& source, const Lookup& look_up);

}  // namespace onrush
