// An expression over metrics: what a plan promises (`thresholds`) and what ends it early (`abort`).
//
//   METRIC [pNN | count | mean | min | max] (< <= > >= == !=) VALUE [for DURATION] [in STAGE] [of SCENARIO]
//
// Owner: any thread; values. The parser reports mistakes by offset so that the plan's diagnostics can point
// at them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/expected.h"
#include "core/metrics.h"

namespace onrush {

/// A statistic of a time, in microseconds (count: samples). `quantile` in [0, 1].
struct TimeStatistic {
  Time time;
  enum class Kind : std::uint8_t { quantile, count, mean, min, max } kind;
  double quantile;
};

/// Figures that are not plain counters. As a share (`0.1%`) each is a fraction of what `of` says.
enum class Figure : std::uint8_t {
  failed_connections,  ///< failed; as a share of attempted
  lost_connections,    ///< lost; as a share of opened
  failed_requests,     ///< as a share of requests
  open,                ///< connections open now (at the end of the stage)
  reach,               ///< delivered / expected, always a share
  connect_rate,        ///< opened a second
  connect_pace,        ///< opened a second / rate asked for, always a share
  send_rate,           ///< messages sent a second
  receive_rate,        ///< messages received a second
};

using Subject = std::variant<TimeStatistic, Counter, Figure>;

enum class Comparison : std::uint8_t { less, less_equal, greater, greater_equal, equal, not_equal };

struct Expression {
  std::string text;  ///< as written
  Subject subject;
  Comparison comparison;
  double value;        ///< times in us; shares as fractions; rates a second; counts
  bool share = false;  ///< the value was written with %
  std::int64_t for_ns =
      0;                 ///< abort: must hold this long without a break; threshold: may be broken less long
  std::string stage;     ///< "" = the whole run
  std::string scenario;  ///< "" = all of them
};

struct ExpressionError {
  std::size_t offset;  ///< bytes from the beginning of the text
  std::string message;
};

/// Parses one expression. `stages` are the names it may use after `in`, `scenarios` those after `of`.
Expected<Expression, ExpressionError> parse_expression(std::string_view text,
                                                       const std::vector<std::string>& stages,
                                                       const std::vector<std::string>& scenarios = {});

[[nodiscard]] bool compare(double left, Comparison comparison, double right) noexcept;

}  // namespace onrush
