// The lifecycle of a run, driven by hand: every message and instant is the test's.
#include "core/run.h"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <set>

#include "core/plan_yaml.h"

namespace onrush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

constexpr const char* kPlan = R"(
name: story
target: ws://127.0.0.1:9/echo
scenarios:
  user: {script: [connect, listen]}
stages:
  - {name: setup, users: 4, rate: 4/s}
  - {name: hold, for: 10s}
)";

class RunTest : public testing::Test {
 protected:
  void begin(std::size_t agents, const std::string& extra = "") {
    const std::string yaml = kPlan + extra;
    auto plan = read_plan({.file = "story.yaml", .yaml = yaml, .settings = {}, .target = ""});
    ASSERT_TRUE(plan) << render("story.yaml", plan.error());
    std::vector<RunAgent> names;
    for (std::size_t i = 0; i < agents; ++i) names.push_back({"agent-" + std::to_string(i + 1), {}});
    run.emplace("id", *plan, PlanText{}, names);
    numbers.assign(agents, 0);
    run->begin(now);
    collect();
  }

  void start(std::size_t agents, const std::string& extra = "") {
    begin(agents, extra);
    for (std::uint32_t i = 0; i < agents; ++i) say(i, Ready{10, {}});
  }

  void say(std::uint32_t agent, const FromAgent& message) {
    run->received(agent, message, now);
    collect();
  }

  void snapshot(std::uint32_t agent, std::uint64_t opened = 0, bool last = false, std::uint64_t closed = 0) {
    Snapshot s;
    s.number = ++numbers[agent];
    s.second = static_cast<std::uint32_t>(s.number - 1);
    Cell cell{.stage = 0, .scenario = 0, .counters = {}, .times = {}};
    at(cell.counters, Counter::attempted) = at(cell.counters, Counter::opened) = opened;
    at(cell.counters, Counter::closed) = closed;
    open[agent] += opened - closed;
    if (opened > 0) cell.times.push_back(samples(Time::handshake, opened));
    if (closed > 0) cell.times.push_back(samples(Time::session, closed));
    s.cells.push_back(cell);
    s.gauges.open = open[agent];
    s.last = last;
    say(agent, s);
  }

  static TimeSamples samples(Time time, std::uint64_t count) {
    Histogram histogram;
    histogram.record_many(1000, count);
    return {time, histogram.encode(), histogram.exact()};
  }

  // Everybody alive reports each second, as real agents do.
  void pass(std::int64_t seconds, const std::vector<std::uint32_t>& speakers) {
    for (std::int64_t i = 0; i < seconds * 10; ++i) {
      now += kSecond / 10;
      if (i % 10 == 9)
        for (const std::uint32_t agent : speakers) say(agent, Probe{});
      run->tick(now);
      collect();
    }
  }

  void collect() {
    for (onrush::Run::Outgoing& outgoing : run->take_outgoing()) sent.push_back(std::move(outgoing));
    for (const std::uint32_t agent : run->take_given_up()) given_up.push_back(agent);
  }

  template <class Message>
  [[nodiscard]] std::vector<std::uint32_t> who_got() const {
    std::vector<std::uint32_t> agents;
    for (const onrush::Run::Outgoing& outgoing : sent)
      if (std::holds_alternative<Message>(outgoing.message)) agents.push_back(outgoing.agent);
    return agents;
  }

  void memory(std::uint32_t agent, std::uint64_t left, std::uint64_t reserve) {
    Snapshot s;
    s.number = ++numbers[agent];
    s.second = static_cast<std::uint32_t>(s.number - 1);
    s.gauges.open = open[agent];
    s.health.memory_left_bytes = left;
    s.health.memory_reserve_bytes = reserve;
    say(agent, s);
  }

  std::int64_t now = 100 * kSecond;
  std::optional<onrush::Run> run;
  std::vector<onrush::Run::Outgoing> sent;
  std::vector<std::uint32_t> given_up;
  std::vector<std::uint64_t> numbers;
  std::map<std::uint32_t, std::uint64_t> open;
};

TEST_F(RunTest, AProcessThatIsNotFoundIsToldWhileTheRunIsYoung) {
  start(1, "observe: [{name: server, port: 9999}, {name: proxy, port: 9}]\n");
  now += kSecond;
  run->observed(1, 0.5, 1'000, now);
  pass(6, {0});
  const std::vector<std::string> log = run->take_log();
  const std::string told =
      "warning: observe: no process was found that listens on port 9999 of the coordinator's host, so "
      "'server' was not observed";
  EXPECT_THAT(log, testing::Contains(told).Times(1));
  EXPECT_THAT(log, testing::Contains(HasSubstr("observe")).Times(1));
}

TEST_F(RunTest, NobodyStartsBeforeAllAreReadyAndThenAllAtOneInstant) {
  begin(3);
  EXPECT_THAT(who_got<Prepare>(), ElementsAre(0, 1, 2));
  say(0, Ready{10, {}});
  say(2, Ready{10, {}});
  EXPECT_THAT(who_got<Start>(), IsEmpty());
  say(1, Ready{10, {}});
  EXPECT_THAT(who_got<Start>(), ElementsAre(0, 1, 2));
  std::set<std::int64_t> instants;
  for (const onrush::Run::Outgoing& outgoing : sent)
    if (const auto* start = std::get_if<Start>(&outgoing.message)) instants.insert(start->at_ns);
  EXPECT_EQ(instants.size(), 1U);
  EXPECT_GT(*instants.begin(), now);
}

TEST_F(RunTest, AWarningThatAllAgentsOfAHostGiveIsKeptOnce) {
  begin(2);
  say(0, Ready{10, {"load-1, backlog: 10 of 20", "load-1, cores: few"}});
  say(1, Ready{10, {"load-1, backlog: 11 of 20", "load-2, backlog: 10 of 20"}});
  EXPECT_EQ(run->state(), RunState::running);
  EXPECT_THAT(run->events().warnings,
              ElementsAre("load-1, backlog: 10 of 20", "load-1, cores: few", "load-2, backlog: 10 of 20"));
  EXPECT_THAT(run->take_log(), SizeIs(3));
}

TEST_F(RunTest, MemoryBelowTheReserveStopsAllAgentsAndWhatWasNotWatchedDoesNot) {
  start(2);
  now += kSecond;
  memory(0, 1'000, 1'000);
  memory(1, 0, 0);
  EXPECT_EQ(run->state(), RunState::running);
  memory(1, 999, 1'000);
  EXPECT_EQ(run->state(), RunState::stopping);
  EXPECT_THAT(who_got<Stop>(), ElementsAre(0, 1));
  memory(0, 5, 1'000);
  EXPECT_THAT(who_got<Stop>(), ElementsAre(0, 1)) << "it is stopping already";
  ASSERT_TRUE(run->events().out_of_memory);
  EXPECT_THAT(*run->events().out_of_memory, HasSubstr("agent-2's host had 999 B left and keeps 1.0 KB free"));
}

TEST_F(RunTest, SharesAreThePlacesInTheList) {
  begin(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const auto& prepare = std::get<Prepare>(sent[i].message);
    EXPECT_EQ(prepare.share.index, i);
    EXPECT_EQ(prepare.share.count, 2U);
  }
}

TEST_F(RunTest, P059_ARefusalEndsTheRunWithItsReasonsAndNothingStarted) {
  begin(2);
  say(0, Ready{10, {}});
  say(1, Refused{{"agent-2 needs more"}});
  EXPECT_EQ(run->state(), RunState::finished);
  EXPECT_THAT(run->events().refused, ElementsAre("agent-2 needs more"));
  EXPECT_THAT(who_got<Start>(), IsEmpty());
  EXPECT_THAT(who_got<Stop>(), ElementsAre(0, 1));
}

TEST_F(RunTest, P059_AnAgentThatDoesNotGetReadyIsNamed) {
  begin(2);
  say(0, Ready{10, {}});
  pass(31, {0, 1});
  EXPECT_EQ(run->state(), RunState::finished);
  ASSERT_EQ(run->events().refused.size(), 1U);
  EXPECT_THAT(run->events().refused[0], HasSubstr("agent-2 did not get ready"));
}

TEST_F(RunTest, P059_AnAgentThatDiesBetweenReadyAndStartRefusesTheRun) {
  begin(2);
  say(0, Ready{10, {}});
  run->disconnected(0, now);
  EXPECT_EQ(run->state(), RunState::finished);
  EXPECT_THAT(run->events().refused[0], HasSubstr("agent-1 was lost before the start"));
}

TEST_F(RunTest, AStageThatEndsOnAConditionEndsForAllAtOneInstantOnceAllHaveSettled) {
  start(2);
  pass(2, {0, 1});
  say(0, StageSettled{0});
  pass(1, {0, 1});
  EXPECT_THAT(who_got<EndStage>(), IsEmpty());
  say(1, StageSettled{0});
  pass(1, {0, 1});
  EXPECT_THAT(who_got<EndStage>(), ElementsAre(0, 1));
  EXPECT_EQ(run->live(now).stage, 1U);
}

TEST_F(RunTest, ASettledWordOfAnotherStageDoesNotEndThisOne) {
  start(1);
  pass(1, {0});
  say(0, StageSettled{1});
  pass(2, {0});
  EXPECT_THAT(who_got<EndStage>(), IsEmpty());
}

TEST_F(RunTest, ASettledWordThatIsAheadOfTheCoordinatorsOwnClockCounts) {
  start(2, "  - {name: down, users: 0, rate: 4/s}\n");
  pass(1, {0, 1});
  say(0, StageSettled{0});
  say(1, StageSettled{0});
  pass(1, {0, 1});
  ASSERT_EQ(run->live(now).stage, 1U);
  say(1, StageSettled{2});  // it has no user to end, and its clock is there already
  pass(11, {0, 1});
  ASSERT_EQ(run->live(now).stage, 2U);
  say(0, StageSettled{2});
  pass(1, {0, 1});
  EXPECT_THAT(who_got<EndStage>(), ElementsAre(0, 1, 0, 1));
}

TEST_F(RunTest, TheRunEndsWhenAllHaveSentTheirLastSnapshot) {
  start(2);
  pass(1, {0, 1});
  snapshot(0, 2);
  snapshot(1, 2);
  say(0, StageSettled{0});
  say(1, StageSettled{0});
  pass(11, {0, 1});
  EXPECT_EQ(run->state(), RunState::stopping);
  snapshot(0, 0, true, 2);
  EXPECT_EQ(run->state(), RunState::stopping);
  snapshot(1, 0, true, 2);
  EXPECT_EQ(run->state(), RunState::finished);
  EXPECT_THAT(run->events().lost_agents, IsEmpty());
  EXPECT_THAT(who_got<Acknowledge>(), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(run->aggregate().broken_identities(), IsEmpty());
}

TEST_F(RunTest, ABrokenStreamIsALossWithItsConnectionsAndTheOthersGoOn) {
  start(2);
  pass(1, {0, 1});
  snapshot(0, 2);
  snapshot(1, 2);
  run->disconnected(1, now);
  collect();
  EXPECT_EQ(run->state(), RunState::running);
  EXPECT_THAT(run->events().lost_agents, ElementsAre("agent-2"));
  EXPECT_THAT(given_up, ElementsAre(1));
  EXPECT_EQ(run->live(now).lost, 2U);
  EXPECT_EQ(run->live(now).open, 2U);
  say(0, StageSettled{0});
  pass(1, {0});
  EXPECT_THAT(who_got<EndStage>(), ElementsAre(0)) << "the stage does not wait for the lost one";
}

TEST_F(RunTest, P056_SilenceForTenSecondsIsALossAndLateWordsChangeNothing) {
  start(2);
  pass(1, {0, 1});
  snapshot(1, 2);
  pass(11, {0});
  EXPECT_THAT(run->events().lost_agents, ElementsAre("agent-2"));
  snapshot(1, 2);
  EXPECT_EQ(run->live(now).lost, 2U);
  EXPECT_EQ(run->live(now).open, 0U);
}

TEST_F(RunTest, P056_SilenceIsToldAfterThreeSecondsAndWhenItEndsNothingIsLost) {
  start(2);
  pass(1, {0, 1});
  EXPECT_THAT(run->take_log(), IsEmpty());
  pass(2, {0});
  EXPECT_THAT(run->take_log(), IsEmpty());
  pass(6, {0});
  EXPECT_THAT(run->take_log(), ElementsAre("nothing heard for 3 s of agent-2; given up after 10 s"));
  pass(1, {0, 1});
  EXPECT_THAT(run->take_log(), ElementsAre("heard again of agent-2"));
  EXPECT_THAT(run->events().lost_agents, IsEmpty());
}

TEST_F(RunTest, P056_AHostThatStarvesItsManyAgentsIsOneLine) {
  start(9);
  pass(1, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(run->take_log(), IsEmpty());
  pass(4, {});
  EXPECT_THAT(run->take_log(),
              ElementsAre("nothing heard for 3 s of agent-1, agent-2, agent-3, agent-4, agent-5 "
                          "and 4 more; given up after 10 s"));
}

TEST_F(RunTest, ACoordinatorThatWasStoppedItselfDoesNotBlameItsAgents) {
  start(2);
  pass(1, {0, 1});
  now += 60 * kSecond;
  run->tick(now);
  EXPECT_THAT(run->events().lost_agents, IsEmpty());
}

TEST_F(RunTest, OnAgentLossAbortStopsTheOthers) {
  start(2, "on_agent_loss: abort\n");
  pass(1, {0, 1});
  run->disconnected(0, now);
  collect();
  EXPECT_EQ(run->state(), RunState::stopping);
  ASSERT_TRUE(run->events().aborted);
  EXPECT_THAT(*run->events().aborted, HasSubstr("agent-1"));
  EXPECT_THAT(who_got<Stop>(), ElementsAre(1));
}

TEST_F(RunTest, AnInterruptStopsInOrderAndASecondOneAtOnce) {
  start(2);
  pass(1, {0, 1});
  run->interrupt("ctrl-c", false, now);
  collect();
  EXPECT_EQ(run->state(), RunState::stopping);
  EXPECT_THAT(who_got<Stop>(), ElementsAre(0, 1));
  run->interrupt("ctrl-c", true, now);
  collect();
  EXPECT_EQ(run->state(), RunState::finished);
  EXPECT_THAT(given_up, ElementsAre(0, 1));
  EXPECT_EQ(*run->events().interrupted, "ctrl-c");
}

TEST_F(RunTest, AnAgentThatDoesNotCloseInTimeDoesNotHoldTheRun) {
  start(1);
  pass(1, {0});
  snapshot(0, 2);
  run->interrupt("ctrl-c", false, now);
  pass(20, {0});
  EXPECT_EQ(run->state(), RunState::finished);
  EXPECT_THAT(run->events().lost_agents, ElementsAre("agent-1"));
}

TEST_F(RunTest, TheLossOfTheLastAgentEndsTheRun) {
  start(1);
  pass(1, {0});
  run->disconnected(0, now);
  EXPECT_EQ(run->state(), RunState::finished);
}

TEST_F(RunTest, ASnapshotThatCannotBeRightLosesItsAgent) {
  start(2);
  pass(1, {0, 1});
  Snapshot wrong;
  wrong.number = 1;
  wrong.cells.push_back({.stage = 7, .scenario = 0, .counters = {}, .times = {}});
  say(0, wrong);
  EXPECT_THAT(run->events().lost_agents, ElementsAre("agent-1"));
}

}  // namespace
}  // namespace onrush
