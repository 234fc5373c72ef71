// A line that a `log` step shows to who watches the run, and how few of them there are.
//
// Why: a million users who each log a line would drown the terminal and cost more than what they test; so all
// workers together show at most kLogLinesPerSecond, and each line says how many were left out before it.
// Owner: any thread; values. Always: the text is valid UTF-8 without control characters, whatever a target
// has sent into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace onrush {

/// Shown a second, over the whole run.
inline constexpr std::uint32_t kLogLinesPerSecond = 10;
inline constexpr std::size_t kLongestLogLine = 500;  ///< bytes

struct LogLine {
  std::uint32_t scenario = 0;
  std::uint64_t user = 0;
  std::int64_t at_us = 0;     ///< since the run began
  std::uint64_t unshown = 0;  ///< lines of the same worker that were left out since the one before
  std::string text;
};

/// `text` fit to be shown on one line of a terminal: what is a control character or no UTF-8 becomes '?', and
/// it is cut to kLongestLogLine.
[[nodiscard]] std::string fit_to_show(std::string_view text);

/// "12.040 s  visitor 17: hello (and 20 not shown)".
[[nodiscard]] std::string describe(const LogLine& line, std::string_view scenario);

}  // namespace onrush
