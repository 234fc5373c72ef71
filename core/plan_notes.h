// Remarks on a plan that is right but may not do what its author meant.
//
// Why: a check that reads a plan as its author would, and says what will not be measured, saves a wasted run.
// Owner: pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "core/diagnostic.h"
#include "core/plan.h"

namespace onrush {

/// What `onrush check` adds to a good plan, sorted by position. `yaml` is the plan's file, for the positions.
[[nodiscard]] std::vector<Diagnostic> notes(const Plan& plan, std::string_view yaml);

}  // namespace onrush
