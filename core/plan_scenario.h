// Scenarios, from YAML to values.
//
// Owner: one reading of one plan.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/plan.h"
#include "core/yaml_reader.h"

namespace onrush {

inline constexpr std::size_t kMostScenarios = 64;

/// All scenarios in the order of the file, each with the feeds that it names beside everybody's. `graphql`:
/// their connections speak it. What has mistakes comes incomplete.
[[nodiscard]] std::vector<Scenario> read_scenarios(Reader& reader, const YamlNode& node,
                                                   const std::set<std::uint32_t>& everybodys_feeds,
                                                   bool graphql);

}  // namespace onrush
