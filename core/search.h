// Which load to try next: the search for the load at which a target saturates.
//
// Why: whoever raises a load by hand stops at the first bad trial, his own machine's hiccup included. Here
// the load grows by a factor until the promise breaks, is bisected until the place is known within a step,
// and what was found must hold twice more; one break of a load may be chance, so it is tried once more and
// only a second one counts; a trial that the generator itself spoilt decides nothing and is run again.
// Owner: one search; pure, its clock is an argument. Loads are whole numbers of `Units` (a user, a
// hundredth of an arrival a second), so that no rounding can make a search go on for ever. Always: every load
// tried lies between the highest that was kept and the lowest that was not, from one trial to the next that
// gap never grows upwards, and the trials together never take longer than `at_most` if none takes longer than
// `trial`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace onrush {

/// What a search goes by, in units of load. 1 <= from <= to.
struct SearchRange {
  std::uint64_t from;         ///< the first load
  std::uint64_t to;           ///< the highest load that may be tried
  double factor = 2;          ///< the load grows by this until the promise breaks; > 1
  std::uint64_t step = 1;     ///< how closely the place must be known; >= 1 ...
  double step_share = 0;      ///< ... and as a share of the load that was kept, whichever is more
  std::int64_t trial_ns = 0;  ///< a trial takes this long, as far as is known beforehand
  std::int64_t at_most_ns = INT64_MAX;
};

enum class TrialOutcome : std::uint8_t {
  kept,     ///< the promise held
  broken,   ///< it did not, and the target is to blame
  spoilt,   ///< the generator cannot vouch for it: SUSPECT, INVALID, an agent lost
  refused,  ///< the generator's machines cannot bring this load at all
};

enum class SearchEnd : std::uint8_t {
  found,              ///< kept three times at kept(), broken twice at beyond(), no more than a step above
  kept_throughout,    ///< kept three times at `to`
  broken_throughout,  ///< not even the smallest load is kept
  own_limit,          ///< as found, but what lies beyond is a limit of the generator's, not the target's
  out_of_time,        ///< the next trial would not end in time; kept() and beyond() are what is known
};

/// What the next trial is for.
enum class SearchPhase : std::uint8_t { growing, bisecting, confirming };

class Search {
 public:
  /// A load that was kept must be kept this often more.
  static constexpr std::uint32_t kConfirmations = 2;
  /// A load is broken once this many of its trials have been.
  static constexpr std::uint32_t kBreaks = 2;
  /// A load whose trials were spoilt this often in a row is beyond what the generator can do.
  static constexpr std::uint32_t kMostSpoilt = 4;

  explicit Search(const SearchRange& range);

  /// The load of the next trial, if the search has taken `elapsed_ns` so far; nothing once it has ended.
  [[nodiscard]] std::optional<std::uint64_t> next(std::int64_t elapsed_ns);
  /// The trial at the load that next() named is over.
  void took(TrialOutcome outcome);

  [[nodiscard]] SearchPhase phase() const noexcept { return phase_; }
  /// Nothing while it goes on.
  [[nodiscard]] std::optional<SearchEnd> end() const noexcept { return end_; }
  /// The highest load that was kept and does not count as broken; 0 if none.
  [[nodiscard]] std::uint64_t kept() const noexcept { return kept_.empty() ? 0 : kept_.rbegin()->first; }
  /// How often it was kept.
  [[nodiscard]] std::uint32_t times_kept() const noexcept {
    return kept_.empty() ? 0 : kept_.rbegin()->second;
  }
  /// The lowest load that counts as broken or could not be brought.
  [[nodiscard]] std::optional<std::uint64_t> beyond() const noexcept { return beyond_; }

 private:
  [[nodiscard]] std::optional<std::uint64_t> choose();
  [[nodiscard]] std::optional<std::uint64_t> confirm(SearchEnd then);
  [[nodiscard]] std::uint64_t step_at(std::uint64_t load) const;
  void limit(std::uint64_t load, bool ours);

  SearchRange range_;
  std::map<std::uint64_t, std::uint32_t> kept_;    ///< load -> times
  std::map<std::uint64_t, std::uint32_t> broken_;  ///< load -> times
  std::optional<std::uint64_t> beyond_;
  bool beyond_is_ours_ = false;
  std::optional<std::uint64_t> trying_;
  std::uint32_t spoilt_ = 0;  ///< in a row, at trying_
  SearchPhase phase_ = SearchPhase::growing;
  std::optional<SearchEnd> end_;
};

/// One word: "found", "kept throughout", ...
[[nodiscard]] const char* name(SearchEnd end) noexcept;
/// "kept", "broken", "spoilt", "refused".
[[nodiscard]] const char* name(TrialOutcome outcome) noexcept;

}  // namespace onrush
