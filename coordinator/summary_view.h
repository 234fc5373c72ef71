// What the user sees when a run has ended: one screen made from summary.json, now or later (`onrush show`).
//
// Why: the file is the contract; what it does not hold is not shown, so an old or foreign file still reads
// well. Owner: any thread; pure. Always: absent figures are `-` or left out, never 0; whatever the target
// said is printable.
//
// Keys beyond the contract of the design that are shown when they are there:
//   "target" text, "hosts" count of machines the agents ran on, "clock_error_us" bound of one-way times (0:
//   one clock) "counts": "requests", "failed_requests" "delivery": "broadcasts" "stages"[]: "connect_rate"
//   opened a second while the change lasted, "asked_rate" "times".*: "above_range" samples over an hour
//   "failures"[]: "first_s", "last_s", "remedy"
//   "thresholds"[]: "value_text" the value as it is to be shown
//   "agents"[]: "lost_s"
//   "generator": "valid_seconds", "suspect_seconds", "invalid_seconds", "bytes_per_user", "cpu_peak_cores"
//   "observed"[]: "pid", "cpu_peak_cores", "cpu_idle_cores", "bytes_per_connection"
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "coordinator/view_text.h"

namespace onrush {

/// The screen, each line with its newline. `folder` is where the run's files are, "" if nowhere.
[[nodiscard]] std::string render_summary(const nlohmann::json& summary, const ViewStyle& style,
                                         std::string_view folder = {});

}  // namespace onrush
