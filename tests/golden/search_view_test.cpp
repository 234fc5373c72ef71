// What `onrush search` prints and writes, and how it judges a trial by the summary of its run.
#include "coordinator/search_view.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/plan_search.h"
#include "core/plan_yaml.h"
#include "golden_text.h"

namespace onrush {
namespace {

using nlohmann::json;

SearchPlan search_of(const std::string& section) {
  const auto plan = read_plan({"plan.yaml",
                               R"(
name: searched
target: ws://127.0.0.1:1/
scenarios:
  visitor: {script: [connect, {think: 1s}, close]}
  watcher: {script: [connect, listen]}
search: )" + section,
                               {},
                               ""});
  EXPECT_TRUE(plan) << (plan ? "" : render("plan.yaml", plan.error()));
  return plan ? *plan->search : SearchPlan{};
}

SearchPlan users() {
  return search_of(
      "{raise: users, from: 100, to: 10k, keep: [response_time p99 < 100ms, failed_connections < 1%]}");
}
SearchPlan arrivals() {
  return search_of(
      "{raise: {arrivals: visitor}, from: 1/s, to: 100/s, keep: [handshake_time p99 < 1s in hold]}");
}

SearchTrial trial(std::uint64_t load, TrialOutcome outcome, double reached_per_s, std::int64_t p99_us,
                  std::string why = "") {
  static int number = 0;
  SearchTrial made;
  made.load = load;
  made.outcome = outcome;
  made.why = std::move(why);
  made.reached_per_s = reached_per_s;
  made.time = p99_us > 0 ? "response_time" : "";
  made.p50_us = p99_us / 7;
  made.p99_us = p99_us;
  made.failed = outcome == TrialOutcome::broken ? load / 100 : 0;
  made.folder = "trial-" + std::to_string(++number);
  return made;
}

SearchResult found() {
  SearchResult result;
  result.plan = "searched";
  result.target = "ws://127.0.0.1:8088/echo";
  result.search = users();
  result.scenarios = {"visitor", "watcher"};
  result.trials = {
      trial(100, TrialOutcome::kept, 99.8, 1'200),
      trial(200, TrialOutcome::spoilt, 180, 90'000, "SUSPECT second 3: agent-1 late by 80.0 ms (p99)"),
      trial(200, TrialOutcome::kept, 200, 1'300),
      trial(400, TrialOutcome::broken, 291, 1'410'000, "response_time p99 < 100ms: 1.41 s"),
      trial(300, TrialOutcome::broken, 290.4, 160'000, "response_time p99 < 100ms: 160 ms"),
      trial(250, TrialOutcome::kept, 250, 2'000),
      trial(250, TrialOutcome::kept, 250, 2'100),
      trial(250, TrialOutcome::kept, 249.9, 1'950)};
  result.kept = 250;
  result.times_kept = 3;
  result.beyond = 300;
  result.end = SearchEnd::found;
  result.duration_s = 75.25;
  result.exit_code = 0;
  return result;
}

void expect_width(const std::string& text, int width) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
}

TEST(SearchView, ShowsTheCurveByLoadAndWhatWasFound) {
  const std::string text = render_search(found(), {false, 120, true}, "onrush-results/x-search");
  expect_golden("search/found_120.txt", text);
  expect_width(text, 120);
}

TEST(SearchView, FitsANarrowTerminalWithoutUnicode) {
  const std::string text = render_search(found(), {false, 60, false}, "");
  expect_golden("search/found_ascii_60.txt", text);
  expect_width(text, 60);
  for (const char c : text) EXPECT_GE(c, 0) << "a byte beyond ASCII";
}

TEST(SearchView, SaysHowASearchEndedOtherwise) {
  std::string all;
  const auto show = [&](SearchResult result) {
    result.exit_code = exit_code(result.end);
    const std::string text = render_search(result, {false, 100, true}, "");
    all += text.substr(text.find("\n\n", text.find("\n\n") + 1) + 2) + "exit code " +
           std::to_string(result.exit_code) + "\n\n";
  };
  SearchResult result = found();
  result.end = SearchEnd::kept_throughout;
  result.kept = 10'000;
  show(result);
  result.end = SearchEnd::broken_throughout;
  result.kept = 0;
  result.beyond = 1;
  show(result);
  result = found();
  result.end = SearchEnd::own_limit;
  result.beyond = 200;
  show(result);
  result.end = SearchEnd::out_of_time;
  result.beyond = 300;
  show(result);
  result.beyond.reset();
  show(result);
  result.end.reset();
  show(result);
  expect_golden("search/endings.txt", all);
}

TEST(SearchView, AnArrivalRateIsARate) {
  SearchResult result = found();
  result.search = arrivals();
  result.trials = {trial(100, TrialOutcome::kept, 1, 0),
                   trial(1250, TrialOutcome::broken, 12.1, 900, "no samples")};
  result.kept = 100;
  result.times_kept = 1;
  result.beyond = 1250;
  result.end = SearchEnd::out_of_time;
  expect_golden("search/arrivals_100.txt", render_search(result, {false, 100, true}, ""));
  const json written = search_json(result);
  EXPECT_EQ(written["raise"], "arrivals");
  EXPECT_EQ(written["scenario"], "visitor");
  EXPECT_EQ(written["kept"], 1.0);
  EXPECT_EQ(written["beyond"], 12.5);
  EXPECT_FALSE(written["trials"][0].contains("p99_us")) << "a time without samples is absent, never 0";
}

TEST(SearchView, WritesWhatItHasFound) {
  SearchResult result = found();
  for (std::size_t i = 0; i < result.trials.size(); ++i)
    result.trials[i].folder = "trial-0" + std::to_string(i + 1);
  expect_golden("search/search.json", search_json(result).dump(2) + "\n");
}

TEST(SearchView, ATrialIsOneLineWhateverATargetSays) {
  SearchTrial made =
      trial(1'400, TrialOutcome::broken, 1'399.6, 160'000, "none of 9 connections opened\n\x1b[2J");
  EXPECT_EQ(trial_line(users(), 7, made),
            "trial 7    1,400 users  broken    1,400/s  response_time p50 22.9 ms  p99 160 ms  14 failed  "
            "(none of 9 connections opened\\n\\x1b[2J)");
}

json summary(const std::string& verdict) {
  return {{"verdict", verdict},
          {"duration_s", 8.0},
          {"counts", {{"failed", 2}, {"lost", 1}, {"failed_requests", 4}}},
          {"reasons", verdict == "passed" ? json::array() : json::array({"the first reason"})},
          {"thresholds",
           json::array({{{"expression", "a < 1"}, {"held", true}, {"value_text", "0"}},
                        {{"expression", "b < 1"}, {"held", verdict == "passed"}, {"value_text", "7"}}})},
          {"times", {{"handshake_time", {{"p50_us", 5}, {"p99_us", 9}}}}},
          {"stages",
           json::array({{{"name", "raise"}, {"start_s", 0.0}, {"end_s", 2.0}, {"times", json::object()}},
                        {{"name", "hold"},
                         {"start_s", 2.001},
                         {"end_s", 7.999},
                         {"times", {{"response_time", {{"p50_us", 300}, {"p99_us", 2100}}}}}}})},
          {"suspect_seconds", json::array()}};
}

constexpr const char* kSeries =
    "second,stage,opened,messages_received\n0,raise,9,9\n1,raise,9,9\n2,hold,8,400\n3,hold,12,600\n7,hold,10,"
    "500\n"
    "8,hold,0,999\n";

SearchTrial judge(const SearchPlan& search, const json& summary) {
  return judge_trial(search, summary, kSeries);
}

TEST(SearchTrial, IsKeptIfItsRunPassed) {
  const SearchTrial judged = judge(users(), summary("passed"));
  EXPECT_EQ(judged.outcome, TrialOutcome::kept);
  EXPECT_EQ(judged.why, "");
  EXPECT_EQ(judged.reached_per_s, 500) << "messages received a second in hold";
  EXPECT_EQ(judged.time, "response_time");
  EXPECT_EQ(judged.p50_us, 300);
  EXPECT_EQ(judged.p99_us, 2100);
  EXPECT_EQ(judged.failed, 7u);
  EXPECT_EQ(judge(arrivals(), summary("passed")).reached_per_s, 10) << "connections opened a second";
  EXPECT_EQ(judge(arrivals(), summary("passed")).time, "handshake_time") << "of the promise";
}

TEST(SearchTrial, IsBrokenIfAPromiseWasOrTheRunWasAborted) {
  EXPECT_EQ(judge(users(), summary("failed")).outcome, TrialOutcome::broken);
  EXPECT_EQ(judge(users(), summary("failed")).why, "b < 1: 7");
  json aborted = summary("aborted");
  aborted["thresholds"] = json::array();
  EXPECT_EQ(judge(users(), aborted).outcome, TrialOutcome::broken);
  EXPECT_EQ(judge(users(), aborted).why, "the first reason");
}

TEST(SearchTrial, IsSpoiltIfTheGeneratorWasNotFit) {
  for (const char* verdict : {"invalid", "degraded", "internal error"}) {
    EXPECT_EQ(judge(users(), summary(verdict)).outcome, TrialOutcome::spoilt);
    EXPECT_EQ(judge(users(), summary(verdict)).why, "the first reason");
  }
  EXPECT_EQ(judge(users(), summary("refused")).outcome, TrialOutcome::refused);
  for (const char* verdict : {"passed", "failed"}) {
    json suspect = summary(verdict);
    suspect["suspect_seconds"].push_back(
        {{"second", 5}, {"agent", "agent-1"}, {"grade", "SUSPECT"}, {"cause", "late by 80 ms (p99)"}});
    EXPECT_EQ(judge(users(), suspect).outcome, TrialOutcome::spoilt) << verdict;
    EXPECT_EQ(judge(users(), suspect).why, "SUSPECT second 5: agent-1 late by 80 ms (p99)");
  }
}

TEST(SearchTrial, IsNotSpoiltByASecondInWhichNothingWasJudged) {
  json suspect = summary("passed");
  suspect["suspect_seconds"].push_back(
      {{"second", 1}, {"agent", "a"}, {"grade", "SUSPECT"}, {"cause", "late"}});
  EXPECT_EQ(judge(arrivals(), suspect).outcome, TrialOutcome::kept) << "judged in hold, which begins at 2 s";
  EXPECT_EQ(judge(users(), suspect).outcome, TrialOutcome::spoilt) << "users connect before";
  suspect["suspect_seconds"][0]["second"] = 8;
  EXPECT_EQ(judge(users(), suspect).outcome, TrialOutcome::kept) << "hold ends at 8 s";
}

TEST(SearchTrial, ASummaryWithoutFiguresIsNoCrash) {
  EXPECT_EQ(judge(users(), json::object()).outcome, TrialOutcome::spoilt);
  EXPECT_EQ(judge_trial(users(), summary("passed"), "").reached_per_s, 0);
  EXPECT_EQ(judge_trial(users(), summary("passed"), "second\n\n,\nx,y").reached_per_s, 0);
  EXPECT_EQ(judge(users(), {{"stages", 5}, {"thresholds", "x"}, {"suspect_seconds", {{"a", 1}}}}).outcome,
            TrialOutcome::spoilt);
}

}  // namespace
}  // namespace onrush
