// Scenarios and their scripts, from YAML to steps.
//
// Owner: one reading of one plan. A PlacedStep remembers where its step stands until plan_flow has judged the
// script.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/plan.h"
#include "core/yaml_reader.h"

namespace onrush {

inline constexpr std::size_t kMostScenarios = 64;
inline constexpr std::size_t kMostSteps = 1'000;  ///< of one script, repeats counted with their bodies
inline constexpr std::size_t kMostBranches = 64;  ///< of one `choose`
inline constexpr double kHeaviestWeight = 1'000'000;

struct PlacedStep {
  Step step;  ///< a repeat's body is still empty
  const YamlNode* node;
  std::vector<PlacedStep> body;                   ///< of a repeat
  std::vector<std::vector<PlacedStep>> branches;  ///< of a choose, whose own are still empty
};

/// All scenarios in the order of the file, each with the feeds that it names beside everybody's. `graphql`:
/// their connections speak it. What has mistakes comes incomplete.
[[nodiscard]] std::vector<Scenario> read_scenarios(Reader& reader, const YamlNode& node,
                                                   const std::set<std::uint32_t>& everybodys_feeds,
                                                   bool graphql);

}  // namespace onrush
