// What a run leaves: summary.json, series.csv and histograms.json, as text.
//
// Why: summary.json is a contract (docs/summary.schema.json) that scripts and `onrush show` read; the names
// in all three are those of core/metrics. Owner: any thread; pure. Always: a time without samples is absent,
// never 0; text from strangers becomes valid UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/aggregate.h"
#include "core/verdict.h"

namespace onrush {

/// What the aggregate does not know of its run.
struct RunFacts {
  std::string run;
  std::string started;  ///< ISO 8601, UTC
  std::int64_t duration_us = 0;
  std::uint32_t hosts = 1;                     ///< machines that the agents ran on
  std::optional<std::int64_t> clock_error_us;  ///< bound of one-way times; 0: one clock
  Decision decision;
};

[[nodiscard]] std::string summary_json(const RunFacts& facts, const Aggregate& aggregate);

/// One row a second, with a header line.
[[nodiscard]] std::string series_csv(const Aggregate& aggregate);

/// Every time of the run and of its stages as an HdrHistogram (V2, compressed, base64), with its exact
/// figures.
[[nodiscard]] std::string histograms_json(const std::string& run, const Aggregate& aggregate);

}  // namespace onrush
