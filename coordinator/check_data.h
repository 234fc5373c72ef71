// What `onrush check` says of a plan's data feeds: those that nobody uses, and those that will not last.
//
// Owner: one check. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/plan.h"

namespace onrush {

void note_data(const Plan& plan, std::vector<std::string>& notes);

}  // namespace onrush
