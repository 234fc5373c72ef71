// What an expression of a plan comes to, over the figures of a stage, a second or the whole run.
//
// Why: thresholds at the end and aborts while it runs must read an expression alike. Owner: any thread; pure.
// Always: a time, a share or a rate without anything to take it from has no value and therefore does not
// hold; a counter without events is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/histogram.h"
#include "core/metrics.h"
#include "core/threshold.h"

namespace onrush {

/// The figures that an expression is taken from.
struct Evidence {
  Counters counters{};
  Histogram samples;                  ///< of the time that the expression names
  double seconds = 0;                 ///< that the counters cover
  std::uint64_t open = 0;             ///< connections at its end
  double asked = 0;                   ///< connections that the plan asked for ...
  std::uint64_t opened_of_asked = 0;  ///< ... and those that opened, in the seconds in which it asked for any
  std::uint64_t expected = 0;         ///< copies of broadcasts
  std::uint64_t received = 0;
};

/// The time whose samples `expression` needs; nothing if it is of another kind.
[[nodiscard]] std::optional<Time> time_of(const Expression& expression) noexcept;

/// In the expression's own unit: times in us, shares as fractions, rates a second, counts.
[[nodiscard]] std::optional<double> value_of(const Expression& expression, const Evidence& evidence);

/// False without a value.
[[nodiscard]] bool holds(const Expression& expression, std::optional<double> value) noexcept;

/// "12.50 %", "250 ms", "4,812/s", "17", or "no samples".
[[nodiscard]] std::string describe_value(const Expression& expression, std::optional<double> value);

}  // namespace onrush
