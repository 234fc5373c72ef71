// The files of a plan as they are dealt to its agents: every feed in shares, everything else whole.
//
// Why: an agent needs the rows of its own users only, and of a feed whose rows are taken once it must not
// have others. Owner: the coordinator, before a run. Always: a share is CSV with the feed's header, whatever
// form the feed has; shares of a feed that is taken once are disjoint.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan.h"
#include "core/plan_files.h"

namespace onrush {

/// For each of `agents`, what it gets. The files are those with which the plan was read.
[[nodiscard]] std::vector<PlanFiles> deal_files(const Plan& plan, const PlanFiles& files,
                                                std::uint32_t agents);

}  // namespace onrush
