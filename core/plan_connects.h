// What the `connect` steps of a script leave out: the scenario's `connection:` says it, or the plan's.
//
// Owner: one reading of one plan.
#pragma once

#include <cstdint>

#include "core/plan.h"
#include "core/yaml_reader.h"

namespace onrush {

/// `connection:` of a scenario: how its users' requests differ from those of the plan.
struct ScenarioConnection {
  UpgradeFields upgrade;
  std::int64_t timeout_ns = 0;  ///< 0 = the plan's
};

/// `owner` names the scenario. `graphql`: subprotocols are offered by `protocol` alone.
[[nodiscard]] ScenarioConnection read_scenario_connection(Reader& reader, const YamlNode& node,
                                                          const std::string& owner, bool graphql);

/// Gives it to the steps, which keep what they state themselves.
void give_connection(Steps& steps, const ScenarioConnection& connection);

}  // namespace onrush
