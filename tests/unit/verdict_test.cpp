#include "core/verdict.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <set>

#include "tests/measured_run.h"

namespace onrush {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kPlan = R"(
name: small
target: ws://127.0.0.1:8088/echo
scenarios: {user: {script: [connect]}}
stages: [{name: setup, users: 10, rate: 10/s}]
thresholds: [failed_connections < 50%]
)";

/// A run of ten users, of whom `failed` did not connect.
TestRun ten_users(std::uint64_t failed, const Failure& failure, const Health& health = {}) {
  TestRun run{kPlan, {"a1"}};
  run.stages({0, 1});
  Second second{0};
  second.opened(0, 0, 10 - failed).health(health);
  if (failed > 0) second.failed(0, 0, failure, failed);
  run.send(0, second.closed(0, 0, 10 - failed).last());
  return run;
}
constexpr Failure kRefusedByTarget{Phase::connect, Cause::system, ECONNREFUSED};

TEST(Verdict, ARunInWhichAllHoldsPassesWithoutReasons) {
  const Decision decision = decide({}, ten_users(0, {}).aggregate);
  EXPECT_EQ(decision.verdict, Verdict::passed);
  EXPECT_THAT(decision.reasons, IsEmpty());
}

TEST(Verdict, EachHasItsOwnWordAndExitCodeAndOnlyPassedIsZero) {
  std::set<int> codes;
  std::set<std::string> words;
  for (int v = 0; v <= static_cast<int>(Verdict::passed); ++v) {
    const auto verdict = static_cast<Verdict>(v);
    EXPECT_TRUE(codes.insert(exit_code(verdict)).second);
    EXPECT_TRUE(words.insert(name(verdict)).second);
    EXPECT_EQ(exit_code(verdict) == 0, verdict == Verdict::passed);
  }
  EXPECT_THAT(codes, ElementsAre(0, 3, 4, 5, 6, 70, 99, 130));
}

TEST(Verdict, StampsInTheFutureAreTold) {
  TestRun run{R"(
name: small
target: ws://127.0.0.1:8088/echo
scenarios: {user: {script: [connect, {listen: {sent: /at, unit: ms}}]}}
stages: [{name: setup, users: 10, rate: 10/s}]
)",
              {"a1"}};
  run.stages({0, 1});
  run.send(0, Second{0}.opened(0, 0, 10).count(0, 0, Counter::early_stamps, 1'090).closed(0, 0, 10).last());
  EXPECT_THAT(decide({}, run.aggregate).warnings,
              ElementsAre("broadcasts: 1,090 time stamps lie in the future, and no delivery time is taken of "
                          "them: is 'unit: ms' of 'listen' right, and do the clocks of the hosts agree?"));
}

TEST(Verdict, AMissedThresholdFails) {
  const Decision decision = decide({}, ten_users(6, kRefusedByTarget).aggregate);
  EXPECT_EQ(decision.verdict, Verdict::failed);
  EXPECT_THAT(decision.reasons, ElementsAre("threshold missed: failed_connections < 50% (60.00 %)"));
}

TEST(Verdict, AProcessThatWasNotFoundIsTold) {
  TestRun run{kPlan + "observe: [{name: server, port: 9999}, {name: proxy, port: 8088}]\n", {"a1"}};
  run.stages({0, 2});
  run.send(0, Second{0}.opened(0, 0, 10).open(10));
  run.aggregate.observed(1, 0, 0.5, 1'000);
  EXPECT_THAT(decide({}, run.aggregate).warnings, IsEmpty()) << "too early to say";
  run.send(0, Second{1}.closed(0, 0, 10).last());
  EXPECT_THAT(
      decide({}, run.aggregate).warnings,
      ElementsAre("observe: no process was found that listens on port 9999 of the coordinator's host, "
                  "so 'server' was not observed"));
}

constexpr const char* kTimed = R"(
name: timed
target: ws://127.0.0.1:8088/echo
scenarios: {user: {script: [connect]}}
stages: [{name: setup, users: 1, rate: 10/s}, {name: hold, for: 2s}]
thresholds: [round_trip_time p99 < 250ms in hold, requests < 1]
)";

TEST(Verdict, AMissedTimeSaysThatTheGeneratorItselfWasLate) {
  TestRun run{kTimed, {"a1"}};
  run.stages({0, 1, 3});
  const Health late{.lag_p99_us = 614'000};
  run.send(0, Second{0}.opened(0, 0, 1).open(1).health(late));
  run.send(0, Second{1}.count(1, 0, Counter::requests, 1).sample(1, 0, Time::round_trip, 400).open(1));
  run.send(0, Second{2}
                  .count(1, 0, Counter::requests, 1)
                  .sample(1, 0, Time::round_trip, 614'400)
                  .closed(1, 0, 1)
                  .health(late)
                  .last());
  const Decision decision = decide({}, run.aggregate);
  EXPECT_EQ(exit_code(decision.verdict), 99) << "a SUSPECT second changes no exit code";
  EXPECT_THAT(decision.reasons,
              ElementsAre("threshold missed: round_trip_time p99 < 250ms in hold (614 ms, first in second "
                          "2); 1 SUSPECT second "
                          "of the generator within (second 2: a1 late by 614.0 ms (p99)), whose own lateness "
                          "may be in it",
                          "threshold missed: requests < 1 (2)"))
      << "second 0 is of another stage, and a count has no lateness in it";
}

TEST(Verdict, AMissedTimeOfAPunctualGeneratorIsTheTargets) {
  TestRun run{kTimed, {"a1"}};
  run.stages({0, 1, 3});
  run.send(0, Second{0}.opened(0, 0, 1).open(1).health({.lag_p99_us = 614'000}));
  run.send(0, Second{1}
                  .count(1, 0, Counter::requests, 1)
                  .sample(1, 0, Time::round_trip, 614'400)
                  .closed(1, 0, 1)
                  .last());
  EXPECT_THAT(decide({}, run.aggregate).reasons,
              Contains("threshold missed: round_trip_time p99 < 250ms in hold (614 ms)"));
}

// P071
TEST(Verdict, ARunInWhichNothingConnectedNeverPasses) {
  TestRun run{R"(
name: bare
target: ws://127.0.0.1:8088/echo
scenarios: {user: {script: [connect]}}
stages: [{name: setup, users: 3, rate: 10/s}]
)",
              {"a1"}};
  run.send(0, Second{0}.failed(0, 0, kRefusedByTarget, 3).last());
  const Decision decision = decide({}, run.aggregate);
  EXPECT_EQ(exit_code(decision.verdict), 99);
  EXPECT_THAT(decision.reasons, ElementsAre("none of 3 connections opened"));
}

// P052, P055
TEST(Verdict, ALimitOfOurOwnIsNoFailureOfTheTargetAndMakesTheRunInvalid) {
  TestRun run{kPlan, {"a1", "a2"}};
  run.stages({0, 1});
  const Failure no_descriptor{Phase::connect, Cause::system, EMFILE};
  run.send(0, Second{0}.opened(0, 0, 1).failed(0, 0, no_descriptor, 6).closed(0, 0, 1).last());
  run.send(1, Second{0}.failed(0, 0, no_descriptor, 3).last());
  const Decision decision = decide({}, run.aggregate);
  EXPECT_EQ(exit_code(decision.verdict), 6);
  EXPECT_THAT(
      decision.reasons,
      ElementsAre("a limit of our own machine was hit 9 times by a1, a2: no descriptor left (EMFILE); "
                  "raise ulimit -n, see: onrush doctor"))
      << "the threshold of 50 % is about the target, which failed nobody";
}

TEST(Verdict, AnAbortThatALimitOfOurOwnMayHaveCausedIsInvalid) {
  RunEvents events;
  events.aborted = "connect_pace < 20%";
  EXPECT_EQ(decide(events, ten_users(1, kRefusedByTarget).aggregate).verdict, Verdict::aborted);
  const Decision ours = decide(events, ten_users(1, {Phase::connect, Cause::system, EMFILE}).aggregate);
  EXPECT_EQ(exit_code(ours.verdict), 6);
  EXPECT_THAT(ours.reasons, ElementsAre("aborted by the plan: connect_pace < 20%", HasSubstr("EMFILE")));
}

TEST(Verdict, WhatNeverLeftOurMachineIsNotCalledATargetThatOpensNothing) {
  TestRun run{kPlan, {"a1"}};
  run.stages({0, 1});
  run.send(0, Second{0}.failed(0, 0, {Phase::connect, Cause::no_port, 0}, 10).last());
  const Decision decision = decide({}, run.aggregate);
  EXPECT_EQ(exit_code(decision.verdict), 6);
  EXPECT_THAT(decision.reasons, Not(Contains(HasSubstr("connections opened"))));
}

TEST(Verdict, ARunThatWasStoppedForWantOfMemoryIsInvalidAndWarningsChangeNothing) {
  RunEvents events;
  events.warnings = {"small backlog"};
  const Decision warned = decide(events, ten_users(0, {}).aggregate);
  EXPECT_EQ(warned.verdict, Verdict::passed);
  EXPECT_THAT(warned.warnings, ElementsAre("small backlog"));
  events.out_of_memory = "stopped before the memory ran out";
  const Decision stopped = decide(events, ten_users(0, {}).aggregate);
  EXPECT_EQ(exit_code(stopped.verdict), 6);
  EXPECT_THAT(stopped.reasons, ElementsAre("stopped before the memory ran out"));
}

// P071: the target died under all of them.
TEST(Verdict, ARunThatLostEveryConnectionNeverPasses) {
  const auto lost = [](std::uint64_t count) {
    TestRun run{kPlan, {"a1"}};
    run.stages({0, 1});
    run.send(0, Second{0}.opened(0, 0, 10).closed(0, 0, 10).count(0, 0, Counter::lost, count).last());
    return decide({}, run.aggregate);
  };
  EXPECT_THAT(lost(10).reasons, ElementsAre("all 10 connections were lost"));
  EXPECT_EQ(exit_code(lost(10).verdict), 99);
  EXPECT_EQ(lost(9).verdict, Verdict::passed) << "how many may be lost is for the plan's thresholds to say";
}

// P071: of what scripts wait for nothing ever comes.
TEST(Verdict, ARunInWhichNothingThatWasWaitedForCameNeverPasses) {
  const auto waited = [](Counter all, Counter failed, Time time, std::uint64_t came) {
    TestRun run{kPlan, {"a1"}};
    run.stages({0, 1});
    run.send(0, Second{0}
                    .opened(0, 0, 10)
                    .closed(0, 0, 10)
                    .count(0, 0, all, 20)
                    .count(0, 0, failed, 20 - came)
                    .sample(0, 0, time, 100, came)
                    .last());
    return decide({}, run.aggregate);
  };
  EXPECT_THAT(waited(Counter::expectations, Counter::failed_expectations, Time::expect, 0).reasons,
              ElementsAre("none of 20 expectations was met"));
  EXPECT_THAT(waited(Counter::pings, Counter::failed_pings, Time::ping, 0).reasons,
              ElementsAre("none of 20 pings was answered"));
  EXPECT_EQ(waited(Counter::pings, Counter::failed_pings, Time::ping, 1).verdict, Verdict::passed);
}

// P071: a GraphQL server that answers everything with errors.
TEST(Verdict, ARunInWhichGraphqlGaveOnlyErrorsNeverPasses) {
  const auto answered = [](Failure failure, Counter counter, std::uint64_t errors) {
    TestRun run{kPlan, {"a1"}};
    run.stages({0, 1});
    Second second{0};
    second.opened(0, 0, 10).closed(0, 0, 10).count(0, 0, counter, 20).failure(0, 0, failure, errors);
    if (counter == Counter::requests) second.sample(0, 0, Time::round_trip, 100, 20);
    run.send(0, second.last());
    return decide({}, run.aggregate);
  };
  constexpr Failure kAnswer{Phase::request, Cause::result_errors, 0};
  EXPECT_THAT(answered(kAnswer, Counter::requests, 20).reasons,
              ElementsAre("none of 20 requests was answered without errors"));
  EXPECT_EQ(answered(kAnswer, Counter::requests, 19).verdict, Verdict::passed);
  EXPECT_THAT(answered({Phase::open, Cause::operation_refused, 0}, Counter::subscriptions, 20).reasons,
              ElementsAre("none of 20 subscriptions was accepted"));
  EXPECT_THAT(answered({Phase::open, Cause::result_errors, 0}, Counter::events, 20).reasons,
              ElementsAre("none of 20 events came without errors"));
}

// P095: attempts are opened, failed or cut short by the plan; the target answers for none of the last.
TEST(Verdict, AnAttemptThatThePlanEndedIsNoFailureOfTheTarget) {
  const auto share = [](const char* threshold, Cause cause) {
    TestRun run{kPlan.substr(0, kPlan.find("thresholds:")) + "thresholds: ['" + threshold + "']\n", {"a1"}};
    run.stages({0, 1});
    run.send(0, Second{0}.opened(0, 0, 8).closed(0, 0, 8).failed(0, 0, {Phase::upgrade, cause, 0}, 2).last());
    return run.aggregate.thresholds().at(0);
  };
  EXPECT_TRUE(share("failed_connections == 0", Cause::cancelled).held);
  EXPECT_TRUE(share("failed_connections < 0.1%", Cause::cancelled).held);
  EXPECT_TRUE(share("cancelled == 2", Cause::cancelled).held);
  EXPECT_FALSE(share("failed_connections == 0", Cause::timeout).held);
  EXPECT_EQ(share("failed_connections < 0.1%", Cause::timeout).value_text, "20.00 %");
}

// P071: it answers the handshake and nothing else.
TEST(Verdict, ARunInWhichNoRequestWasAnsweredNeverPasses) {
  const auto unanswered = [](std::uint64_t count) {
    TestRun run{kPlan, {"a1"}};
    run.stages({0, 1});
    run.send(0, Second{0}
                    .opened(0, 0, 10)
                    .closed(0, 0, 10)
                    .count(0, 0, Counter::requests, 20)
                    .count(0, 0, Counter::failed_requests, count)
                    .sample(0, 0, Time::round_trip, 100, 20 - count)
                    .last());
    return decide({}, run.aggregate);
  };
  EXPECT_THAT(unanswered(20).reasons, ElementsAre("none of 20 requests was answered"));
  EXPECT_EQ(exit_code(unanswered(20).verdict), 99);
  EXPECT_EQ(unanswered(19).verdict, Verdict::passed);
}

TEST(Verdict, P071_ASilentTargetIsNoPassEvenIfTheRunEndsBeforeItsRequestsTimeOut) {
  const std::string plan = R"(
name: asking
target: ws://127.0.0.1:8088/echo
scenarios: {user: {script: [connect, {request: {text: hello}}]}}
stages: [{name: setup, users: 10, rate: 10/s}, {name: hold, for: 3s}]
)";
  const auto silent = [&](std::uint64_t received) {
    TestRun run{plan, {"a1"}};
    run.stages({0, 1});
    run.send(0, Second{0}
                    .opened(0, 0, 10)
                    .closed(0, 0, 10)
                    .count(0, 0, Counter::messages_sent, 150)
                    .count(0, 0, Counter::messages_received, received)
                    .last());
    return decide({}, run.aggregate);
  };
  EXPECT_THAT(silent(0).reasons, ElementsAre("150 messages were sent and none came back"));
  EXPECT_EQ(silent(1).verdict, Verdict::passed);
}

// P052: running out of our own ports says nothing about the target.
TEST(Verdict, ALimitOfOurOwnMachineMakesTheRunInvalid) {
  const Decision decision =
      decide({}, ten_users(1, {Phase::connect, Cause::system, EADDRNOTAVAIL}).aggregate);
  EXPECT_EQ(decision.verdict, Verdict::invalid);
  EXPECT_THAT(decision.reasons, ElementsAre(HasSubstr("1 times by a1: no port left (EADDRNOTAVAIL)")));
}

TEST(Verdict, AnInvalidSecondMakesTheRunInvalidAndASuspectOneDoesNot) {
  EXPECT_EQ(decide({}, ten_users(0, {}, {.lag_p99_us = 50'000}).aggregate).verdict, Verdict::passed);
  const Decision late = decide({}, ten_users(0, {}, {.lag_p99_us = 1'500'000}).aggregate);
  EXPECT_EQ(late.verdict, Verdict::invalid);
  EXPECT_THAT(late.reasons, ElementsAre("1 INVALID seconds of a1; second 0: late by 1500.0 ms (p99)"));
}

TEST(Verdict, BooksThatDoNotBalanceAreAnInternalErrorWhateverElseHappened) {
  TestRun run{kPlan, {"a1"}};
  run.send(0, Second{0}.opened(0, 0, 10).last());  // never closed
  RunEvents events;
  events.aborted = "an abort";
  events.interrupted = "ctrl-c";
  const Decision decision = decide(events, run.aggregate);
  EXPECT_EQ(exit_code(decision.verdict), 70);
}

TEST(Verdict, TheWorstReasonWinsAndAllAreListedFromTheWorst) {
  const TestRun run = ten_users(6, kRefusedByTarget, {.lag_p99_us = 1'500'000});
  RunEvents events;
  std::vector<std::string> reasons = decide(events, run.aggregate).reasons;
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_THAT(reasons[0], HasSubstr("INVALID"));

  events.lost_agents = {"a2"};
  EXPECT_EQ(decide(events, run.aggregate).verdict, Verdict::invalid) << "invalid is worse than degraded";
  events.aborted = "connect_pace < 20%";
  EXPECT_EQ(decide(events, run.aggregate).verdict, Verdict::aborted);
  events.interrupted = "ctrl-c";
  const Decision all = decide(events, run.aggregate);
  EXPECT_EQ(all.verdict, Verdict::interrupted);
  EXPECT_EQ(all.reasons.size(), 5u);
  EXPECT_THAT(all.reasons, Contains("agent a2 was lost"));
  EXPECT_THAT(all.reasons.back(), HasSubstr("threshold missed"));
}

TEST(Verdict, ALostAgentAloneDegrades) {
  RunEvents events;
  events.lost_agents = {"a2"};
  EXPECT_EQ(decide(events, ten_users(0, {}).aggregate).verdict, Verdict::degraded);
}

TEST(Verdict, ARunThatVerifiedNoCertificateWarnsAndPasses) {
  std::string yaml = kPlan;
  yaml.replace(yaml.find("ws://"), 5, "wss://");
  for (const bool verify : {true, false}) {
    TestRun run{yaml + "connection: {tls: {verify: " + (verify ? "true" : "false") + "}}\n", {"a1"}};
    run.stages({0, 1});
    run.send(0, Second{0}.opened(0, 0, 10).closed(0, 0, 10).last());
    const Decision decision = decide({}, run.aggregate);
    EXPECT_EQ(decision.verdict, Verdict::passed);
    if (verify)
      EXPECT_THAT(decision.warnings, IsEmpty());
    else
      EXPECT_THAT(decision.warnings, ElementsAre(HasSubstr("TLS: no certificate was verified")));
  }
}

TEST(Verdict, OfARunThatWasRefusedNothingElseIsJudged) {
  RunEvents events;
  events.refused = {"a1 needs 50,000 sockets but may open 20,000 files"};
  const TestRun run{kPlan, {"a1"}};
  const Decision decision = decide(events, run.aggregate);
  EXPECT_EQ(decision.verdict, Verdict::refused);
  EXPECT_EQ(decision.reasons, events.refused);
}

}  // namespace
}  // namespace onrush
