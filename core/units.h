// Counts, durations, rates and decimals as a plan writes them.
//
// Why: YAML's own numbers differ by version (010 is 8, 1:30 is 90, 1_000 is text), so every figure is read as
// text by one rule: plain decimal digits, `_` between digits, and a unit where one belongs. Owner: pure
// functions. The error is a whole clause: the value, what is wrong, what to write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/expected.h"

namespace onrush {

inline constexpr std::int64_t kLongestDuration_ns = 8'760LL * 3'600 * 1'000'000'000;  ///< a year
inline constexpr double kHighestRate_per_s = 1e9;

/// `500`, `50_000`, `50k`, `1m`, `2.5k`.
[[nodiscard]] Expected<std::uint64_t, std::string> parse_count(std::string_view text);

/// `10s`, `250ms`, `500us`, `2m`, `1h`, `1m30s`, `1.5s`, in nanoseconds; 0 is allowed here.
[[nodiscard]] Expected<std::int64_t, std::string> parse_duration(std::string_view text);

/// `500/s`, `0.1/s`, `60/min`, `90/h`, `1 per 7s`, a second; 0 is allowed here.
[[nodiscard]] Expected<double, std::string> parse_rate(std::string_view text);

/// `3`, `0.5`, `1_000`.
[[nodiscard]] Expected<double, std::string> parse_decimal(std::string_view text);

}  // namespace onrush
