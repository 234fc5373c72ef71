// What the user sees while a run is under way: one block on a terminal, one line elsewhere.
//
// Why: pure text from the state of the run, so that golden files hold it; terminal.h draws it.
// Owner: any thread. Always: no line is wider than the style's width, and nothing in it moves a cursor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/view_text.h"
#include "core/live.h"

namespace onrush {

/// The block's lines. `http` is where the metrics are, "" if nowhere.
[[nodiscard]] std::vector<Line> live_lines(const Live& live, const ViewStyle& style, std::string_view http);
/// The block as text, each line with its newline.
[[nodiscard]] std::string render_live(const Live& live, const ViewStyle& style, std::string_view http = {});

/// One line for a log, without newline, colour or cut; `unicode` false keeps it ASCII.
[[nodiscard]] std::string render_live_line(const Live& live, bool unicode = true);

}  // namespace onrush
