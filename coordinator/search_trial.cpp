#include "coordinator/search_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "core/metrics.h"
#include "core/plan_search.h"

namespace onrush {
namespace {

using Json = nlohmann::json;

constexpr double kBeside_s = 0.1;

const Json& member(const Json& of, std::string_view name) {
  static const Json kNothing;
  const auto found = of.is_object() ? of.find(name) : of.end();
  return found == of.end() ? kNothing : *found;
}

double number(const Json& of, std::string_view name) {
  const Json& found = member(of, name);
  return found.is_number() ? found.get<double>() : 0;
}

std::uint64_t count(const Json& of, std::string_view name) {
  return static_cast<std::uint64_t>(std::max(number(of, name), 0.0));
}

std::string text(const Json& of, std::string_view name) {
  const Json& found = member(of, name);
  return found.is_string() ? found.get<std::string>() : "";
}

const Json& stage_of(const Json& summary, std::string_view name) {
  static const Json kNothing;
  for (const Json& stage : member(summary, "stages"))
    if (text(stage, "name") == name) return stage;
  return kNothing;
}

std::string first_reason(const Json& summary) {
  const Json& reasons = member(summary, "reasons");
  return reasons.is_array() && !reasons.empty() && reasons[0].is_string() ? reasons[0].get<std::string>()
                                                                          : "";
}

std::string broken_promise(const Json& summary) {
  for (const Json& threshold : member(summary, "thresholds"))
    if (const Json& held = member(threshold, "held"); held.is_boolean() && !held.get<bool>())
      return fmt::format("{}: {}", text(threshold, "expression"), text(threshold, "value_text"));
  return first_reason(summary);
}

/// A promise about the whole trial, or its first stage, is spoilt by a bad second there too.
double judged_from_s(const SearchPlan& search, const Json& summary) {
  for (const Expression& promise : judged(search))
    if (promise.stage != kHoldStage) return 0;
  return number(stage_of(summary, kHoldStage), "start_s");
}

/// What the generator says against itself in the seconds that are judged; "" if nothing.
std::string own_fault(const SearchPlan& search, const Json& summary) {
  const double from_s = judged_from_s(search, summary);
  const Json& hold = stage_of(summary, kHoldStage);
  const double to_s =
      member(hold, "end_s").is_number() ? number(hold, "end_s") : number(summary, "duration_s");
  for (const Json& second : member(summary, "suspect_seconds")) {
    const double at_s = number(second, "second");
    if (at_s + 1 > from_s && at_s < to_s)
      return fmt::format("{} second {}: {} {}", text(second, "grade"), static_cast<std::int64_t>(at_s),
                         text(second, "agent"), text(second, "cause"));
  }
  return "";
}

void put_time(const SearchPlan& search, const Json& summary, SearchTrial& trial) {
  std::vector<std::string> wanted;
  for (const Expression& promise : search.keep)
    if (const auto* time = std::get_if<TimeStatistic>(&promise.subject))
      wanted.emplace_back(describe(time->time).name);
  for (const char* name : {"response_time", "round_trip_time", "delivery_time", "handshake_time"})
    wanted.emplace_back(name);
  for (const std::string& name : wanted) {
    for (const Json* of : {&stage_of(summary, kHoldStage), &summary}) {
      const Json& time = member(member(*of, "times"), name);
      if (!time.is_object()) continue;
      trial.time = name;
      trial.p50_us = static_cast<std::int64_t>(number(time, "p50_us"));
      trial.p99_us = static_cast<std::int64_t>(number(time, "p99_us"));
      return;
    }
  }
}

std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return taken;
}

double cell(std::string_view row, std::size_t column) {
  for (; column > 0; --column) take_until(row, ',');
  const std::string_view text = take_until(row, ',');
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// A column of series.csv, in the whole seconds between two times. The stage's own count would do as well if
/// it did not hold what was answered after its end: a target that is behind answers on while users leave.
double mean_of(std::string_view series, std::string_view column, double from_s, double to_s) {
  std::string_view names = take_until(series, '\n');
  std::size_t index = 0;
  while (!names.empty() && take_until(names, ',') != column) ++index;
  double sum = 0;
  int seconds = 0;
  while (!series.empty()) {
    const std::string_view row = take_until(series, '\n');
    const double second = cell(row, 0);
    // Stages begin and end by the coordinator's word, some milliseconds beside the second.
    if (second + kBeside_s < from_s || second + 1 > to_s + kBeside_s) continue;
    sum += cell(row, index);
    ++seconds;
  }
  return seconds == 0 ? 0 : sum / seconds;
}

}  // namespace

SearchTrial judge_trial(const SearchPlan& search, const Json& summary, std::string_view series) {
  SearchTrial trial;
  put_time(search, summary, trial);
  const Json& hold = stage_of(summary, kHoldStage);
  const bool arrivals = search.raise == SearchPlan::Raise::arrivals;
  trial.reached_per_s = mean_of(series, arrivals ? "opened" : "messages_received", number(hold, "start_s"),
                                number(hold, "end_s"));
  const Json& counts = member(summary, "counts");
  trial.failed = count(counts, "failed") + count(counts, "lost") + count(counts, "failed_requests");

  const std::string verdict = text(summary, "verdict");
  if (verdict == "refused") {
    trial.outcome = TrialOutcome::refused;
    trial.why = first_reason(summary);
    return trial;
  }
  const bool counts_for_target = verdict == "passed" || verdict == "failed" || verdict == "aborted";
  trial.why = counts_for_target ? own_fault(search, summary) : first_reason(summary);
  if (!counts_for_target || !trial.why.empty()) {
    trial.outcome = TrialOutcome::spoilt;
    return trial;
  }
  trial.outcome = verdict == "passed" ? TrialOutcome::kept : TrialOutcome::broken;
  if (trial.outcome == TrialOutcome::broken) trial.why = broken_promise(summary);
  return trial;
}

}  // namespace onrush
