// A scenario's script, from YAML to steps.
//
// Owner: one reading of one plan. A PlacedStep remembers where its step stands until plan_flow has judged the
// script.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan.h"
#include "core/plan_waiting_steps.h"
#include "core/yaml_reader.h"

namespace onrush {

inline constexpr std::size_t kMostSteps = 1'000;  ///< of one script, repeats counted with their bodies
inline constexpr std::size_t kMostBranches = 64;  ///< of one `choose`
inline constexpr double kHeaviestWeight = 1'000'000;

struct PlacedStep {
  Step step;  ///< a repeat's body is still empty
  const YamlNode* node;
  std::vector<PlacedStep> body;                   ///< of a repeat
  std::vector<std::vector<PlacedStep>> branches;  ///< of a choose, whose own are still empty
};

struct PlacedScript {
  std::vector<PlacedStep> steps;
  bool whole = true;  ///< false: a step could not be read, so nothing can be said of the script as a whole
};

/// The steps of a list. `graphql`: the connection speaks it.
[[nodiscard]] PlacedScript read_script(const StepContext& context, const YamlNode& list, bool graphql);

}  // namespace onrush
