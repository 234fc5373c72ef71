// What a search has found: the curve as a table with bars, and as JSON.
//
// Owner: any thread; pure. Always: a trial that decided nothing is shown and counted apart.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/search_trial.h"
#include "coordinator/view_text.h"

namespace onrush {

/// A search so far, or at its end.
struct SearchResult {
  std::string plan;    ///< its name
  std::string target;  ///< as written
  SearchPlan search;
  std::vector<std::string> scenarios;  ///< names
  std::vector<SearchTrial> trials;     ///< in the order in which they ran
  std::uint64_t kept = 0;              ///< as Search::kept()
  std::uint32_t times_kept = 0;
  std::optional<std::uint64_t> beyond;
  std::optional<SearchEnd> end;  ///< nothing: it was interrupted
  double duration_s = 0;
  int exit_code = 0;
};

/// "trial 3    400 users    kept     402/s   response_time p50 310 us  p99 2.10 ms   0 failed", without
/// newline.
[[nodiscard]] std::string trial_line(const SearchPlan& search, std::size_t number, const SearchTrial& trial);

/// The screen, each line with its newline. `folder` is where the files are.
[[nodiscard]] std::string render_search(const SearchResult& result, const ViewStyle& style,
                                        const std::string& folder);

/// search.json: docs/plan-reference.md has its members.
[[nodiscard]] nlohmann::json search_json(const SearchResult& result);

/// 0 found or kept throughout, 99 not even the smallest load is kept, 6 a limit of our own, 4 out of time,
/// 130 interrupted.
[[nodiscard]] int exit_code(std::optional<SearchEnd> end) noexcept;

}  // namespace onrush
