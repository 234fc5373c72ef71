// What `onrush check` prints, for the closed and the open model, and each of its notes.
#include "coordinator/check.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "coordinator/check_script.h"
#include "core/plan_yaml.h"
#include "golden_text.h"

namespace onrush {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kSecond_ns = 1'000'000'000;

CheckFacts facts() { return {20'000, 64'510, 16'000'000'000, true}; }

Scenario scenario(std::string name, double weight, Steps script) {
  return {std::move(name), weight, std::move(script)};
}

Step every(std::int64_t every_ns, std::optional<std::int64_t> for_ns, Steps body) {
  return {RepeatStep{{}, for_ns, every_ns, std::move(body)}};
}

Step think(std::int64_t ns) { return {ThinkStep{{Duration::Kind::exponential, ns, 0}}}; }

Step listen() { return {ListenStep{"/seq", "/batch_us", "/sent_us", TimeUnit::us, {}, {}}}; }

Stage users(std::string name, std::map<std::uint32_t, std::uint64_t> wanted, std::optional<double> rate) {
  Stage stage;
  stage.name = std::move(name);
  stage.users = std::move(wanted);
  stage.rate = rate;
  return stage;
}

Stage arrivals(std::string name, double rate) {
  Stage stage;
  stage.name = std::move(name);
  stage.arrivals = rate;
  return stage;
}

Stage lasting(Stage stage, std::optional<std::int64_t> over_s, std::optional<std::int64_t> for_s) {
  if (over_s) stage.over_ns = *over_s * kSecond_ns;
  if (for_s) stage.for_ns = *for_s * kSecond_ns;
  return stage;
}

Stage idle(std::string name, std::int64_t for_s) {
  return lasting(users(std::move(name), {}, {}), {}, for_s);
}

Expression expression(std::string text, Subject subject, std::string stage) {
  Expression e{};
  e.text = std::move(text);
  e.subject = subject;
  e.comparison = Comparison::less;
  e.stage = std::move(stage);
  return e;
}

/// plans/c1000k.yaml at 10,000 users and 1,000/s.
Plan c1000k() {
  Plan plan;
  plan.name = "c1000k";
  plan.scenarios = {scenario("subscriber", 1, {{ConnectStep{}}, listen()}),
                    scenario("publisher", 1, {{ConnectStep{}}, every(10 * kSecond_ns, {}, {{SendStep{}}})})};
  plan.stages = {users("setup", {{0, 10'000}}, 1000), idle("idle", 30),
                 lasting(users("broadcast", {{1, 1}}, {}), {}, 60),
                 users("teardown", {{0, 0}, {1, 0}}, 20'000)};
  Expression abort = expression("connect_pace < 20% for 10s in setup", Figure::connect_pace, "setup");
  abort.value = 0.2;
  abort.share = true;
  abort.for_ns = 10 * kSecond_ns;
  plan.abort = {abort};
  Expression failed = expression("failed_connections < 0.01%", Figure::failed_connections, "");
  failed.share = true;
  plan.thresholds = {failed, expression("reach > 99.9% in broadcast", Figure::reach, "broadcast")};
  return plan;
}

/// plans/open-arrivals.yaml.
Plan open_arrivals() {
  Plan plan;
  plan.name = "open-arrivals";
  plan.scenarios = {
      scenario(
          "visitor", 3,
          {{ConnectStep{}}, {RepeatStep{5u, {}, {}, {{RequestStep{}}, think(400'000'000)}}}, {CloseStep{}}}),
      scenario("heavy", 1,
               {{ConnectStep{}}, every(100'000'000, 10 * kSecond_ns, {{RequestStep{}}}), {DropStep{}}})};
  plan.stages = {lasting(arrivals("warm", 200), 10, {}), idle("steady", 20),
                 lasting(arrivals("spike", 1000), 2, 10), lasting(arrivals("calm", 200), {}, 10),
                 arrivals("drain", 0)};
  plan.thresholds = {expression("response_time p99 < 250ms",
                                TimeStatistic{Time::response, TimeStatistic::Kind::quantile, 0.99}, ""),
                     expression("dropped_arrivals == 0", Counter::dropped_arrivals, "")};
  return plan;
}

void expect_columns(const std::string& text) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }), 100)
        << line;
}

TEST(Check, ShowsTheTimelineOfTheClosedModel) {
  const std::string text = render_check(c1000k(), facts());
  expect_golden("check/c1000k.txt", text);
  expect_columns(text);
}

TEST(Check, ShowsTheTimelineOfTheOpenModel) {
  const std::string text = render_check(open_arrivals(), facts());
  expect_golden("check/open-arrivals.txt", text);
  expect_columns(text);
}

std::string checked(const std::string& file, std::vector<std::pair<std::string, std::string>> settings) {
  std::ifstream stream{std::string{ONRUSH_SOURCE_DIR} + "/plans/" + file, std::ios::binary};
  const std::string yaml{std::istreambuf_iterator<char>{stream}, {}};
  const auto plan = read_plan({file, yaml, std::move(settings), ""});
  return plan ? render_check(*plan, facts()) : "not a plan";
}

TEST(Check, ShowsTheSameOfThePlansAsTheyAreShipped) {
  expect_golden("check/c1000k.txt", checked("c1000k.yaml", {{"users", "10000"}, {"rate", "1000/s"}}));
  expect_golden("check/open-arrivals.txt", checked("open-arrivals.yaml", {}));
}

TEST(Check, ShowsWhatASearchWouldRaise) {
  const std::string text = checked("capacity.yaml", {});
  expect_golden("check/capacity.txt", text);
  expect_columns(text);
}

TEST(Check, ShowsWhatAMillionNeed) {
  Plan plan = c1000k();
  plan.stages[0] = users("setup", {{0, 1'000'000}}, 10'000);
  const std::string text = render_check(plan, {20'000, 64'510, 4'000'000'000, true});
  expect_golden("check/million.txt", text);
  expect_columns(text);
}

TEST(Check, ShowsBothModelsInOnePlanAndEveryPace) {
  Plan plan = open_arrivals();
  plan.scenarios.push_back(
      scenario("chatter", 1, {{ConnectStep{}}, every(2 * kSecond_ns, {}, {{SendStep{}}})}));
  plan.stages.insert(plan.stages.begin() + 1, lasting(users("join", {{2, 900}}, {}), 60, 30));
  plan.stages.insert(plan.stages.begin() + 2, lasting(users("more", {{2, 1000}}, 7), {}, 15));
  const std::string text = render_check(plan, facts());
  expect_golden("check/mixed.txt", text);
  expect_columns(text);
}

TEST(CheckScript, LooksIntoTheBranchesOfAChoose) {
  ChooseStep choose;
  choose.branches = {{3, {{RequestStep{}}, {SendStep{}}, {PingStep{}}}}, {1, {{ExpectStep{}}, {SendStep{}}}}};
  const ScriptFacts facts = facts_of(scenario("a", 1, {{ConnectStep{}}, every(kSecond_ns, {}, {{choose}})}));
  EXPECT_TRUE(facts.pings && facts.expects && facts.paced_requests && facts.paced_sends);
  ASSERT_TRUE(facts.pace);
  EXPECT_EQ(facts.pace->messages, 1U) << "at least, whichever branch is taken";
  EXPECT_FALSE(facts_of(scenario("b", 1, {{ConnectStep{}}, {ReconnectStep{}}})).sends);
}

TEST(CheckNotes, ATrialOfASearchHasItsOwn) {
  const auto plan = read_plan({"plan.yaml",
                               R"(
name: searched
target: ws://127.0.0.1:1/
scenarios: {visitor: {script: [connect, listen]}}
stages: [{name: setup, users: 5, over: 1s}]
search: {raise: users, from: 10, to: 20, keep: [response_time p99 < 1s, failed_connections == 0]}
)",
                               {},
                               ""});
  ASSERT_TRUE(plan);
  const std::string text = render_check(*plan, facts());
  EXPECT_THAT(text, HasSubstr("in a trial, 'response_time p99 < 1s' will have no samples"));
  EXPECT_EQ(text.find("failed_connections == 0' will have"), std::string::npos);
}

TEST(CheckNotes, APlanThatMeansWhatItSaysHasNone) {
  Plan plan = c1000k();
  plan.thresholds.pop_back();
  EXPECT_THAT(check_notes(plan, facts()), IsEmpty());
  EXPECT_THAT(check_notes(open_arrivals(), facts()), IsEmpty());
}

TEST(CheckNotes, AThresholdWithoutSamplesIsNamed) {  // P070
  Plan plan = c1000k();
  plan.thresholds = {expression("handshake_time p99 < 1s in idle",
                                TimeStatistic{Time::handshake, TimeStatistic::Kind::quantile, 0.99}, "idle"),
                     expression("handshake_time p99 < 1s",
                                TimeStatistic{Time::handshake, TimeStatistic::Kind::quantile, 0.99}, ""),
                     expression("round_trip_time p99 < 1s",
                                TimeStatistic{Time::round_trip, TimeStatistic::Kind::quantile, 0.99}, "")};
  plan.abort = {expression("connect_pace < 20% in teardown", Figure::connect_pace, "teardown")};
  EXPECT_THAT(
      check_notes(plan, facts()),
      ElementsAre(
          "'handshake_time p99 < 1s in idle' will have no samples: nobody connects in stage 'idle'",
          "'round_trip_time p99 < 1s' will have no samples: nobody requests anything",
          "'connect_pace < 20% in teardown' will have no samples: no connection is asked for in stage "
          "'teardown'"));
}

TEST(CheckNotes, SessionsThatOutliveTheirStageStillGiveSamples) {
  Plan plan = open_arrivals();
  plan.thresholds = {expression("response_time p99 < 250ms in drain",
                                TimeStatistic{Time::response, TimeStatistic::Kind::quantile, 0.99}, "drain")};
  EXPECT_THAT(check_notes(plan, facts()), IsEmpty());
}

TEST(CheckNotes, UsersWhoseScriptEndsConnectAgainInAnIdleStage) {
  Plan plan = c1000k();
  plan.scenarios[0].script = {{ConnectStep{}}, think(kSecond_ns)};
  plan.thresholds = {expression("handshake_time p99 < 1s in idle",
                                TimeStatistic{Time::handshake, TimeStatistic::Kind::quantile, 0.99}, "idle")};
  EXPECT_THAT(check_notes(plan, facts()), Not(Contains(HasSubstr("no samples"))));
}

TEST(CheckNotes, AFewBroadcastsAreCounted) {
  EXPECT_THAT(
      check_notes(c1000k(), facts()),
      ElementsAre("'reach > 99.9% in broadcast' judges 6 broadcasts: 'publisher' sends every 10s for 60 s"));
}

TEST(CheckNotes, ARepeatSlowerThanItsStageIsNamed) {
  Plan plan = c1000k();
  plan.stages[2].for_ns = 5 * kSecond_ns;
  EXPECT_THAT(
      check_notes(plan, facts()),
      Contains(
          "'publisher' repeats every 10s, but stage 'broadcast' in which it starts lasts 5 s: its second "
          "turn comes later or never"));
}

TEST(CheckNotes, AScenarioWithoutUsersIsNamed) {
  Plan plan = c1000k();
  plan.stages[2].users.clear();
  EXPECT_THAT(check_notes(plan, facts()), Contains("no stage has users or arrivals of scenario 'publisher'"));
}

TEST(CheckNotes, AScriptWithoutAPauseIsNamed) {
  Plan plan = c1000k();
  plan.scenarios[0].script = {{ConnectStep{}}, {SendStep{}}, {CloseStep{}}};
  const auto named = Contains(
      "'subscriber' has no pause, and its users begin anew as soon as they are done: they connect again and "
      "again, as fast as the target lets them; end with 'listen', or put a 'think' into it");
  EXPECT_THAT(check_notes(plan, facts()), named);
  plan.scenarios[0].script.insert(plan.scenarios[0].script.begin() + 1, think(kSecond_ns));
  EXPECT_THAT(check_notes(plan, facts()), Not(named));
}

TEST(CheckNotes, ATextThatLooksLikeAPointerIsNamed) {
  const auto plan = read_plan({"t.yaml",
                               R"(
name: t
target: ws://127.0.0.1/
stages: [{name: s, users: {a: 1, b: 1}, for: 9s}]
scenarios:
  a:
    script:
      - connect
      - {repeat: {every: 1s, do: [{request: {text: hi, set: {token: $.a.token, id: {json: /id}, path: /b/c}}}]}}
  b: {script: [connect, {expect: {set: {c: "/path of ours", d: text, e: $.e}}}, listen]}
)",
                               {},
                               ""});
  ASSERT_TRUE(plan) << render("t.yaml", plan.error());
  EXPECT_THAT(
      check_notes(*plan, facts()),
      ElementsAre("'set' of 'request' in scenario 'a' keeps the text '$.a.token' as 'token'; for a "
                  "member of the reply write {json: /a/token}",
                  "'set' of 'request' in scenario 'a' keeps the text '/b/c' as 'path'; for a member of "
                  "the reply write {json: /b/c}",
                  "'set' of 'expect' in scenario 'b' keeps the text '$.e' as 'e'; for a member of the "
                  "reply write {json: /e}"));
}

TEST(CheckNotes, AnEstimateNearTheCapacityIsNamed) {
  CheckFacts tight = facts();
  tight.descriptor_limit = 4300;  // holds 4,100; about 4,000 are expected
  EXPECT_THAT(
      check_notes(open_arrivals(), tight),
      ElementsAre(
          "about 4,000 sockets are 97.56 % of what 1 agent can hold, and sessions last longer when the "
          "target is slow: --agents 2 leaves room, or arrivals are dropped"));
}

}  // namespace
}  // namespace onrush
