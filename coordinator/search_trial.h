// What one trial of a search came to, from the summary of its run.
//
// Why: a trial is judged by what its run has told (verdict, promises, SUSPECT seconds), not by figures of its
// own, so that `onrush show` of a trial tells the same. Owner: any thread; pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/plan.h"
#include "core/search.h"

namespace onrush {

struct SearchTrial {
  std::uint64_t load = 0;  ///< in units of SearchRange
  SearchPhase phase = SearchPhase::growing;
  TrialOutcome outcome = TrialOutcome::spoilt;
  std::string why;           ///< the promise that broke, or what spoilt it; "" if kept
  double reached_per_s = 0;  ///< while it held: connections opened (arrivals), or messages received (users)
  std::string time;          ///< the time that p50 and p99 are of; "" = none has samples
  std::int64_t p50_us = 0;
  std::int64_t p99_us = 0;
  std::uint64_t failed = 0;  ///< connections that failed or were lost, and requests without a reply
  std::string folder;        ///< where the run's files are, within the search's folder
};

/// From summary.json and series.csv of its run. The percentiles are of the first time that the promise names,
/// else of the first that there is.
[[nodiscard]] SearchTrial judge_trial(const SearchPlan& search, const nlohmann::json& summary,
                                      std::string_view series);

}  // namespace onrush
