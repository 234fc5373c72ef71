// The section `search` of a plan, from YAML, and the plan of one of its trials.
//
// Why: a trial is an ordinary run of the same plan text, which every agent reads by itself; what differs is
// the setting `search.load`, so one reader makes the trial's stages for all of them. Owner: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plan.h"
#include "core/search.h"
#include "core/yaml_reader.h"

namespace onrush {

/// The stages of a trial: the load comes, and stays.
inline constexpr std::string_view kRaiseStage = "raise";
inline constexpr std::string_view kHoldStage = "hold";

/// `--set search.load=500` makes a plan the trial at that load. No parameter can have this name.
inline constexpr std::string_view kSearchLoad = "search.load";

[[nodiscard]] SearchPlan read_search(Reader& reader, const YamlNode& node,
                                     const std::vector<Scenario>& scenarios);

/// Takes the load out of the settings: the last one given.
[[nodiscard]] std::optional<std::string> take_search_load(
    std::vector<std::pair<std::string, std::string>>& settings);

/// Turns the plan into the trial at the load that a setting gave; a mistake in it is reported.
void set_trial(Plan& plan, Reader& reader, const std::string& load);
/// The same at a load of so many units of SearchRange.
void set_trial(Plan& plan, std::uint64_t units);

/// The stage of a trial that a promise is judged in ("" = the whole trial): the one that it names; else
/// `hold`, but the whole trial for counters, and for figures of connecting when users are raised, because
/// they connect while the load comes.
[[nodiscard]] std::string judged_in(const SearchPlan& search, const Expression& promise);
/// The promises of a trial, each with that stage.
[[nodiscard]] std::vector<Expression> judged(const SearchPlan& search);

/// Units of SearchRange: a user, or a hundredth of a session a second.
[[nodiscard]] double units_per_load(SearchPlan::Raise raise) noexcept;
[[nodiscard]] SearchRange range_of(const SearchPlan& search);
/// Users, or sessions a second.
[[nodiscard]] double load_of(const SearchPlan& search, std::uint64_t units);
/// As a plan writes it: "500", "12.5/s".
[[nodiscard]] std::string load_text(const SearchPlan& search, std::uint64_t units);

}  // namespace onrush
