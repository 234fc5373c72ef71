#include "core/search.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace onrush {

Search::Search(const SearchRange& range) : range_{range} {
  ONRUSH_CHECK(range.from >= 1 && range.from <= range.to);
  ONRUSH_CHECK(range.factor > 1 && range.step >= 1);
}

std::optional<std::uint64_t> Search::next(std::int64_t elapsed_ns) {
  if (end_) return std::nullopt;
  if (!trying_) trying_ = choose();
  if (trying_ && elapsed_ns > range_.at_most_ns - range_.trial_ns) {
    end_ = SearchEnd::out_of_time;
    trying_.reset();
  }
  return trying_;
}

void Search::took(TrialOutcome outcome) {
  ONRUSH_CHECK(trying_.has_value());
  const std::uint64_t load = *trying_;
  if (outcome == TrialOutcome::spoilt && ++spoilt_ < kMostSpoilt) return;  // the same again
  spoilt_ = 0;
  if (outcome == TrialOutcome::broken && ++broken_[load] < kBreaks) return;  // may be chance: once more
  trying_.reset();
  switch (outcome) {
    case TrialOutcome::kept: ++kept_[load]; return;
    case TrialOutcome::broken: return limit(load, false);
    case TrialOutcome::spoilt:
    case TrialOutcome::refused: return limit(load, true);
  }
}

// A load that was kept and is broken now was luck, and so was every higher one.
void Search::limit(std::uint64_t load, bool ours) {
  beyond_ = load;
  beyond_is_ours_ = ours;
  kept_.erase(kept_.lower_bound(load), kept_.end());
}

std::optional<std::uint64_t> Search::choose() {
  const std::uint64_t low = kept();
  if (!beyond_) {
    phase_ = SearchPhase::growing;
    if (low == 0) return range_.from;
    if (low >= range_.to) return confirm(SearchEnd::kept_throughout);
    const double grown = std::floor(static_cast<double>(low) * range_.factor);
    if (!(grown < static_cast<double>(range_.to))) return range_.to;
    return std::max(static_cast<std::uint64_t>(grown), low + 1);
  }
  if (*beyond_ - low > step_at(low)) {
    phase_ = SearchPhase::bisecting;
    return low + (*beyond_ - low) / 2;  // strictly between: the gap is 2 or more
  }
  if (low == 0) {
    end_ = beyond_is_ours_ ? SearchEnd::own_limit : SearchEnd::broken_throughout;
    return std::nullopt;
  }
  return confirm(beyond_is_ours_ ? SearchEnd::own_limit : SearchEnd::found);
}

std::optional<std::uint64_t> Search::confirm(SearchEnd then) {
  phase_ = SearchPhase::confirming;
  if (times_kept() <= kConfirmations) return kept();
  end_ = then;
  return std::nullopt;
}

std::uint64_t Search::step_at(std::uint64_t load) const {
  const double share = std::floor(static_cast<double>(load) * range_.step_share);
  return std::max(range_.step, static_cast<std::uint64_t>(share));
}

const char* name(SearchEnd end) noexcept {
  switch (end) {
    case SearchEnd::found: return "found";
    case SearchEnd::kept_throughout: return "kept throughout";
    case SearchEnd::broken_throughout: return "broken throughout";
    case SearchEnd::own_limit: return "own limit";
    case SearchEnd::out_of_time: return "out of time";
  }
  return "unknown";
}

const char* name(TrialOutcome outcome) noexcept {
  switch (outcome) {
    case TrialOutcome::kept: return "kept";
    case TrialOutcome::broken: return "broken";
    case TrialOutcome::spoilt: return "spoilt";
    case TrialOutcome::refused: return "refused";
  }
  return "unknown";
}

}  // namespace onrush
