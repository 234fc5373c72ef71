// Whether a script makes sense as a whole: connected when it must be, every step reachable, no turn without a
// wait.
//
// Why: each of these would show only at run time, as a failure blamed on the target or as a worker at 100 %.
// Owner: pure functions.
#pragma once

#include <vector>

#include "core/plan_steps.h"

namespace onrush {

/// Reports what is wrong with `script`, which belongs to `owner` ("scenario 'visitor'").
void check_flow(Reader& reader, const std::vector<PlacedStep>& script, const std::string& owner);

/// True if a session with this script goes on until its stage ends it.
[[nodiscard]] bool never_ends(const Steps& script);

}  // namespace onrush
