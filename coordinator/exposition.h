// A run as Prometheus sees it: the text of /metrics, made anew at each scrape.
//
// Why: a scrape must agree with the summary, so both read the same aggregate and the same table of names.
// Owner: the run control's thread. Always: one family a name; counters never fall within a run; the number of
// series is bounded whatever plan and target do.
#pragma once

#include <cstddef>
#include <string>

#include "core/aggregate.h"
#include "core/live.h"

namespace onrush {

/// What keeps the number of series bounded.
struct ExpositionLimits {
  // A cell costs some 250 series. Plans have a few dozen cells; beyond this many, further ones are one cell
  // "(other)".
  static constexpr std::size_t kCells = 64;
  // Kinds of failure, in the order in which they came; a target may invent any number of close codes.
  static constexpr std::size_t kFailureKinds = 100;
  static constexpr std::size_t kAgents = 500;
};

/// Prometheus text (0.0.4) of a run. `verdict` is empty until it has one.
[[nodiscard]] std::string exposition_text(const Aggregate& aggregate, const Live& live,
                                          const std::string& verdict);
/// The same before there has been a run: who we are.
[[nodiscard]] std::string exposition_text_idle();

}  // namespace onrush
