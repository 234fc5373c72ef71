// The timeline of a plan as a chart: users and arrivals over time, stage by stage, for `onrush check
// --explain`.
//
// Owner: any thread; pure. Always: no line is wider than the style allows (from 40 columns on), and of what
// lies within one column the highest is drawn, so that no spike is lost.
#pragma once

#include <string>

#include "coordinator/view_text.h"
#include "core/plan.h"

namespace onrush {

/// Ends with a newline.
[[nodiscard]] std::string explain_timeline(const Plan& plan, const ViewStyle& style);

}  // namespace onrush
