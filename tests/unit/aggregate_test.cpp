#include "core/aggregate.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "tests/measured_run.h"

namespace onrush {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kPlan = R"(
name: two-kinds
target: ws://127.0.0.1:8088/broadcast
scenarios:
  subscriber:
    script: [connect, {listen: {sequence: /seq}}]
  talker:
    script: [connect, {repeat: {every: 1s, do: [{request: {text: hello, reply: any}}]}}]
stages:
  - {name: setup, users: {subscriber: 100, talker: 10}, rate: 10/s}
  - {name: hold, for: 10s}
)";

constexpr std::uint32_t kSetup = 0;
constexpr std::uint32_t kHold = 1;
constexpr std::uint32_t kSubscriber = 0;
constexpr std::uint32_t kTalker = 1;

std::string with(const std::string& more) { return kPlan + more; }

TEST(Aggregate, SumsOverStagesScenariosAndAgentsAreTheTotal) {
  TestRun run{kPlan, {"a1", "a2"}};
  run.stages({0, 2});
  run.send(0, Second{0}.opened(kSetup, kSubscriber, 5, 100).open(5));
  run.send(1, Second{0}.opened(kSetup, kTalker, 3, 900).open(3));
  run.send(0, Second{1}.opened(kHold, kSubscriber, 2, 200).open(7));
  const Aggregate& aggregate = run.aggregate;
  EXPECT_EQ(at(aggregate.counters(), Counter::opened), 10u);
  EXPECT_EQ(at(aggregate.counters_of_stage(kSetup), Counter::opened), 8u);
  EXPECT_EQ(at(aggregate.counters_of_scenario(kSubscriber), Counter::opened), 7u);
  EXPECT_EQ(at(aggregate.agents()[1].counters, Counter::opened), 3u);
  const Measured total = aggregate.total();
  EXPECT_EQ(total.samples(Time::handshake), 10u);
  EXPECT_EQ(total.find(Time::handshake)->min_us(), 100);
  EXPECT_EQ(total.find(Time::handshake)->max_us(), 900);
  EXPECT_EQ(aggregate.of_stage(kSetup).samples(Time::handshake), 8u);
  EXPECT_THAT(aggregate.broken_identities(), IsEmpty());
}

// P062: repeated intervals are not added twice.
TEST(Aggregate, ARepeatedSnapshotChangesNothing) {
  TestRun run{kPlan, {"a1"}};
  const Snapshot first = Second{0}.opened(kSetup, kSubscriber, 5).open(5).numbered(1);
  ASSERT_TRUE(*run.aggregate.apply(0, first));
  EXPECT_FALSE(*run.aggregate.apply(0, first));
  EXPECT_EQ(at(run.aggregate.counters(), Counter::opened), 5u);
}

TEST(Aggregate, RefusesASnapshotThatCannotBeRightAndAppliesNothingOfIt) {
  TestRun run{kPlan, {"a1"}};
  const auto why = [&](const Snapshot& snapshot, const char* expected) {
    const auto applied = run.aggregate.apply(0, snapshot);
    ASSERT_FALSE(applied);
    EXPECT_THAT(applied.error(), HasSubstr(expected));
    EXPECT_EQ(run.aggregate.counters(), Counters{});
  };
  Second good{0};
  good.opened(kSetup, kSubscriber, 5);
  why(good.numbered(2), "snapshot 2 came where 1 was due");
  Snapshot bad = good.numbered(1);
  bad.cells[0].stage = 2;
  why(bad, "a cell of a stage or scenario");
  bad = good.numbered(1);
  bad.cells.push_back(bad.cells[0]);
  bad.cells[1].times[0].v2.pop_back();
  why(bad, "its length is not what the header says of handshake_time");
  bad = good.numbered(1);
  bad.cells[0].times.push_back(bad.cells[0].times[0]);
  why(bad, "handshake_time twice");
  bad = good.numbered(1);
  bad.cells[0].times[0].time = static_cast<Time>(99);
  why(bad, "a time that does not exist");
  bad = good.numbered(1);
  bad.second = 4'000'000'000;
  why(bad, "second 4000000000");
  bad = good.numbered(1);
  bad.failures.push_back({{Phase::open, static_cast<Cause>(200), 0}, 0, 0, 1, 0, 0, ""});
  why(bad, "a failure of a stage, scenario or kind");
  bad = good.numbered(1);
  bad.broadcasts.push_back({0, 7, 1, 0, 1, 1, 0, 0});
  why(bad, "a broadcast in a stage or scenario");
  EXPECT_FALSE(run.aggregate.apply(1, good.numbered(1)));
  EXPECT_TRUE(*run.aggregate.apply(0, good.numbered(1)));
}

TEST(Aggregate, ALostAgentsUsersAreClosedAndLostAndItsAttemptsFailed) {
  TestRun run{kPlan, {"a1", "a2"}};
  run.stages({0});
  run.send(0, Second{0}.opened(kSetup, kSubscriber, 5).open(5));
  run.send(1, Second{0}
                  .opened(kSetup, kSubscriber, 6)
                  .count(kSetup, kSubscriber, Counter::attempted, 2)
                  .opened(kSetup, kTalker, 1)
                  .count(kSetup, kTalker, Counter::requests, 2)
                  .sample(kSetup, kTalker, Time::round_trip, 500, 2)
                  .open(7)
                  .opening(2));
  EXPECT_THAT(run.aggregate.broken_identities(), IsEmpty());
  run.aggregate.agent_lost(1, 3'200'000);
  run.aggregate.agent_lost(1, 4'000'000);
  EXPECT_FALSE(*run.aggregate.apply(1, Second{1}.numbered(2))) << "a lost agent does not count again";

  const Counters counters = run.aggregate.counters();
  EXPECT_EQ(at(counters, Counter::lost), 7u);
  EXPECT_EQ(at(counters, Counter::closed), 7u);
  EXPECT_EQ(at(counters, Counter::failed), 2u);
  EXPECT_EQ(at(counters, Counter::failed_requests), 0u);
  const AgentRecord& lost = run.aggregate.agents()[1];
  EXPECT_EQ(lost.state, AgentState::lost);
  EXPECT_EQ(lost.lost_us, 3'200'000);
  EXPECT_EQ(lost.gap_seconds, 3u);  // 1, 2 and 3; second 0 was measured
  std::uint64_t as_lost = 0;
  for (const FailureTotal& failure : run.aggregate.failures()) {
    EXPECT_EQ(failure.failure.cause, Cause::agent_lost);
    as_lost += failure.count;
  }
  EXPECT_EQ(as_lost, 9u);
  run.send(0, Second{1}.closed(kSetup, kSubscriber, 5).last());
  EXPECT_THAT(run.aggregate.broken_identities(), IsEmpty());
}

TEST(Aggregate, NamesTheIdentityThatIsBroken) {
  TestRun run{kPlan, {"a1"}};
  run.send(0, Second{0}.opened(kSetup, kSubscriber, 5).count(kSetup, kSubscriber, Counter::opened, 1).last());
  EXPECT_THAT(run.aggregate.broken_identities(),
              ElementsAre("attempted (5) is not opened + failed + opening (6)",
                          "opened (6) is not closed + open + closing (0)",
                          "opened (6) is not samples of handshake_time (5)"));
}

TEST(Aggregate, ASecondIsWholeWhenEveryRunningAgentHasReportedIt) {
  TestRun run{kPlan, {"a1", "a2", "a3"}};
  run.stages({0});
  const auto whole = [&] { return run.aggregate.series().last_whole(); };
  run.send(0, Second{0}.opened(kSetup, kSubscriber, 1).open(1));
  run.send(1, Second{0}.opened(kSetup, kSubscriber, 2, 700).open(2));
  EXPECT_EQ(whole(), nullptr);
  run.send(2, Second{0}.last());
  ASSERT_NE(whole(), nullptr);
  EXPECT_EQ(whole()->second, 0u);
  EXPECT_EQ(whole()->gauges.open, 3u);
  ASSERT_EQ(whole()->times.size(), 1u);
  EXPECT_EQ(whole()->times[0].count, 3u);
  EXPECT_EQ(whole()->times[0].max_us, 700);
  run.send(0, Second{1}.open(1));
  EXPECT_EQ(whole()->second, 0u);
  run.aggregate.agent_lost(1, 1'500'000);
  EXPECT_EQ(whole()->second, 1u);
}

TEST(Aggregate, WhatIsLeftOfASecondInASecondSnapshotCountsToItOnce) {
  TestRun run{kPlan, {"a1"}};
  run.send(0, Second{0}.opened(kSetup, kSubscriber, 4, 100).open(4));
  run.send(0, Second{0}.closed(kSetup, kSubscriber, 4).sample(kSetup, kSubscriber, Time::delivery, 9).last());
  const SeriesRow& row = run.aggregate.series().rows().at(0);
  EXPECT_EQ(row.gauges.open, 0u);
  EXPECT_EQ(row.agents, 1u);
  EXPECT_EQ(row.times.size(), 3u);
  EXPECT_EQ(run.aggregate.agents()[0].valid_seconds, 1u);
  EXPECT_THAT(run.aggregate.broken_identities(), IsEmpty());
}

TEST(Aggregate, RemembersOnlyAFewSecondsSamplesHoweverLongTheRun) {
  TestRun run{kPlan, {"a1"}};
  for (std::uint32_t second = 0; second < 2'000; ++second)
    run.send(0, Second{second}.sample(kSetup, kTalker, Time::round_trip, 100 + second));
  EXPECT_EQ(run.aggregate.series().rows().size(), 2'000u);
  EXPECT_EQ(run.aggregate.series().rows().at(7).times[0].max_us, 107);
  EXPECT_EQ(run.aggregate.total().samples(Time::round_trip), 2'000u);
}

TEST(Aggregate, GradesEachAgentsSecondsAndNamesTheCause) {
  TestRun run{kPlan, {"a1", "a2"}};
  run.send(0, Second{0}.health({.lag_p99_us = 12'000, .busiest_worker = 0.97}));
  run.send(1, Second{0});
  run.send(0, Second{4}.health({.lag_p99_us = 2'000'000}));
  const AgentRecord& agent = run.aggregate.agents()[0];
  EXPECT_EQ(agent.suspect_seconds, 1u);
  EXPECT_EQ(agent.invalid_seconds, 4u);  // three in which it stood still, and the one in which it was late
  EXPECT_EQ(run.aggregate.agents()[1].valid_seconds, 1u);
  ASSERT_EQ(run.aggregate.suspects().size(), 5u);
  EXPECT_EQ(run.aggregate.suspects()[0].judgement.cause,
            "late by 12.0 ms (p99), a worker at 97 % of its core");
  EXPECT_EQ(run.aggregate.live(5'000'000).suspect_seconds, 5u);
}

TEST(Aggregate, AnInvalidSecondHasItsCauseHoweverManySuspectOnesThereAre) {
  TestRun run{kPlan, {"a1"}};
  const auto kept = [&] { return run.aggregate.suspects(); };
  std::uint32_t second = 0;
  for (; second < 11'000; ++second) run.send(0, Second{second}.health({.lag_p99_us = 12'000}));
  ASSERT_EQ(kept().size(), 10'000u);
  for (; second < 22'000; ++second) run.send(0, Second{second}.health({.lag_p99_us = 2'000'000}));
  ASSERT_EQ(kept().size(), 10'000u);
  EXPECT_EQ(kept().back().second, 11'000u) << "the first of them took the place of the last suspect one";
  for (const SuspectSecond& s : kept()) EXPECT_EQ(s.judgement.grade, Grade::invalid);
}

TEST(Delivery, AnAgentThatSawNothingCountsItsListenersAsExpected) {
  TestRun run{kPlan, {"a1", "a2"}};
  for (const std::uint32_t agent : {0u, 1u}) run.send(agent, Second{0}.listening(10));
  run.send(0, Second{1}.broadcast(kHold, kSubscriber, 1, 10, 10).listening(10));
  run.send(1, Second{1}.listening(10));
  const DeliverySummary summary = run.aggregate.delivery();
  EXPECT_EQ(summary.broadcasts, 1u);
  EXPECT_EQ(summary.expected, 20u);
  EXPECT_EQ(summary.received, 10u);
  EXPECT_EQ(summary.reach(), 0.5);
  EXPECT_EQ(run.aggregate.delivery(kSetup).expected, 0u);
  EXPECT_EQ(run.aggregate.delivery(kSetup).reach(), std::nullopt);
}

TEST(Delivery, ListenersWhoCameInTheSameSecondAreNotHeldToHaveBeenEntitled) {
  TestRun run{kPlan, {"a1", "a2"}};
  run.send(0, Second{0}.listening(10));
  run.send(1, Second{0}.listening(0));
  run.send(0, Second{1}.broadcast(kHold, kSubscriber, 1, 10, 10).listening(10));
  run.send(1, Second{1}.listening(10));
  EXPECT_EQ(run.aggregate.delivery().reach(), 1.0);
}

TEST(Delivery, ANumberMissingBetweenSeenOnesIsExpectedOfAllWhoListenedThroughout) {
  TestRun run{kPlan, {"a1"}};
  run.send(0, Second{0}.listening(10));
  run.send(0, Second{1}.broadcast(kHold, kSubscriber, 5, 10, 10).listening(10));
  run.send(0, Second{2}.broadcast(kHold, kSubscriber, 8, 10, 10).listening(12));
  EXPECT_EQ(run.aggregate.delivery().expected, 40u);
  EXPECT_EQ(run.aggregate.delivery().received, 20u);
}

TEST(Delivery, SpreadIsFromTheFirstToTheLastCopyOverAllAgents) {
  TestRun run{kPlan, {"a1", "a2"}};
  run.send(0, Second{0}.broadcast(kHold, kSubscriber, 1, 2, 2, 1'000, 50));
  run.send(1, Second{0}.broadcast(kHold, kSubscriber, 1, 2, 2, 1'200, 100));
  run.send(0, Second{1}.broadcast(kHold, kSubscriber, 2, 2, 2, 5'000, 10));
  EXPECT_EQ(run.aggregate.delivery().spread_p50_us, 10);
  EXPECT_EQ(run.aggregate.delivery().spread_max_us, 300);
}

TEST(Delivery, FoldingOldBroadcastsChangesNoSum) {
  TestRun run{kPlan, {"a1"}};
  constexpr std::uint64_t kMany = Deliveries::kKept + 5'000;
  for (std::uint64_t sequence = 1; sequence <= kMany;) {
    Second second{static_cast<std::uint32_t>(sequence / 1'000)};
    second.listening(3);
    for (int i = 0; i < 1'000; ++i, ++sequence)
      second.broadcast(kHold, kSubscriber, sequence, 3, 2, 1'000, 7);
    run.send(0, second);
  }
  EXPECT_EQ(run.aggregate.delivery().broadcasts, kMany);
  EXPECT_EQ(run.aggregate.delivery().expected, 3 * kMany);
  EXPECT_EQ(run.aggregate.delivery().received, 2 * kMany);
  run.send(0, Second{300}.broadcast(kHold, kSubscriber, 1, 0, 1));  // a late copy of one that is folded
  EXPECT_EQ(run.aggregate.delivery().received, 2 * kMany + 1);
  EXPECT_EQ(run.aggregate.delivery().spread_max_us, 7);
}

// P070: a latency or a share without data does not hold; a counter without events is 0.
TEST(Thresholds, WithoutSamplesTimesAndSharesDoNotHoldAndCountersAreZero) {
  TestRun run{with("thresholds:\n"
                   "  - round_trip_time p99 < 250ms\n"
                   "  - failed_connections < 1%\n"
                   "  - reach > 99.9%\n"
                   "  - failed_connections < 5\n"
                   "  - dropped_arrivals == 0\n"
                   "  - messages_sent > 500\n"
                   "  - round_trip_time count > 0\n"),
              {"a1"}};
  std::vector<bool> held;
  std::vector<bool> has_value;
  for (const ThresholdResult& result : run.aggregate.thresholds()) {
    held.push_back(result.held);
    has_value.push_back(result.value.has_value());
  }
  EXPECT_THAT(held, ElementsAre(false, false, false, true, true, false, false));
  EXPECT_THAT(has_value, ElementsAre(false, false, false, true, true, true, true));
  EXPECT_EQ(run.aggregate.thresholds()[0].value_text, "no samples");
}

TEST(Thresholds, AreTakenFromTheirStageOrFromTheWholeRun) {
  TestRun run{with("thresholds:\n"
                   "  - round_trip_time p50 < 1ms in setup\n"
                   "  - round_trip_time max < 1ms\n"
                   "  - failed_connections < 30% in setup\n"
                   "  - connect_rate > 3/s in setup\n"
                   "  - open == 6 in setup\n"
                   "  - open == 0\n"),
              {"a1"}};
  run.stages({0, 2, 4});
  run.send(0, Second{0}.opened(kSetup, kTalker, 6).sample(kSetup, kTalker, Time::round_trip, 500).open(6));
  run.send(0, Second{1}.failed(kSetup, kTalker, {Phase::connect, Cause::system, ECONNREFUSED}, 2).open(6));
  run.send(0, Second{2}.sample(kHold, kTalker, Time::round_trip, 5'000).closed(kHold, kTalker, 6).last());
  const std::vector<ThresholdResult> results = run.aggregate.thresholds();
  std::vector<bool> held;
  for (const ThresholdResult& result : results) held.push_back(result.held);
  EXPECT_THAT(held, ElementsAre(true, false, true, false, true, true));
  EXPECT_EQ(results[1].value, 5'000);
  EXPECT_EQ(results[1].value_text, "5.00 ms");
  EXPECT_EQ(results[2].value, 0.25);
  EXPECT_EQ(results[3].value, 3);
}

TEST(Aborts, ConnectPaceIsJudgedOnlyWhileUsersAreLeftToConnect) {
  TestRun run{with("abort:\n  - connect_pace < 20% for 3s in setup\n"), {"a1"}};
  run.stages({0});
  std::uint64_t open = 0;
  for (std::uint32_t second = 0; second < 11; ++second)
    run.send(0, Second{second}.opened(kSetup, kSubscriber, 10).open(open += 10));
  for (std::uint32_t second = 11; second < 30; ++second) run.send(0, Second{second}.open(open));
  EXPECT_EQ(run.aggregate.abort_reason(), std::nullopt);
}

TEST(Aborts, FireWhenTheyHaveHeldForTheirTimeWithoutABreak) {
  TestRun run{with("abort:\n  - connect_pace < 20% for 3s in setup\n"), {"a1", "a2"}};
  run.stages({0});
  const std::vector<std::uint64_t> opened{10, 1, 1, 9, 1, 1, 1};
  std::uint64_t open = 0;
  for (std::uint32_t second = 0; second < opened.size(); ++second) {
    EXPECT_EQ(run.aggregate.abort_reason(), std::nullopt) << second;
    run.send(0, Second{second}.opened(kSetup, kSubscriber, opened[second]).open(open += opened[second]));
    if (second < 6) run.send(1, Second{second});
  }
  EXPECT_EQ(run.aggregate.abort_reason(), std::nullopt) << "not every agent has reported second 6";
  run.send(1, Second{6});
  ASSERT_TRUE(run.aggregate.abort_reason());
  EXPECT_EQ(*run.aggregate.abort_reason(), "connect_pace < 20% for 3s in setup (10.00 % in second 6)");
}

TEST(Aborts, ATargetThatConnectsNobodyAtAllFiresToo) {
  TestRun run{with("abort:\n  - connect_pace < 20% for 3s in setup\n"), {"a1"}};
  run.stages({0});
  for (std::uint32_t second = 0; second < 3; ++second) run.send(0, Second{second}.opening(30));
  EXPECT_NE(run.aggregate.abort_reason(), std::nullopt);
}

TEST(Aborts, WithoutATimeEverythingSoFarIsJudged) {
  TestRun run{with("abort:\n  - failed_connections > 50%\n  - round_trip_time p99 > 1s for 2s\n"), {"a1"}};
  run.stages({0});
  run.send(0,
           Second{0}.opened(kSetup, kTalker, 9).sample(kSetup, kTalker, Time::round_trip, 2'000'000).open(9));
  run.send(0, Second{1}
                  .failed(kSetup, kTalker, {Phase::upgrade, Cause::refused_status, 503}, 5)
                  .sample(kSetup, kTalker, Time::round_trip, 100)
                  .open(9));
  EXPECT_EQ(run.aggregate.abort_reason(), std::nullopt) << "5 of 14 failed; the slow second stands alone";
  run.send(0, Second{2}.failed(kSetup, kTalker, {Phase::upgrade, Cause::refused_status, 503}, 5).open(9));
  ASSERT_TRUE(run.aggregate.abort_reason());
  EXPECT_THAT(*run.aggregate.abort_reason(), HasSubstr("failed_connections > 50%"));
}

TEST(Live, ShowsTheStageUnderWay) {
  TestRun run{kPlan, {"a1", "a2"}};
  run.stages({0});
  run.send(0, Second{0}
                  .opened(kSetup, kSubscriber, 30, 400)
                  .open(30)
                  .health({.lag_p99_us = 90, .busiest_worker = 0.5}));
  run.send(1, Second{0}
                  .opened(kSetup, kSubscriber, 20, 800)
                  .failed(kSetup, kSubscriber, {Phase::connect, Cause::system, ECONNREFUSED}, 5)
                  .open(20)
                  .health({.lag_p99_us = 40, .busiest_worker = 0.2}));
  const Live live = run.aggregate.live(1'000'000);
  EXPECT_EQ(live.plan, "two-kinds");
  EXPECT_THAT(live.stages, ElementsAre("setup", "hold"));
  EXPECT_EQ(live.stage, kSetup);
  EXPECT_EQ(live.wanted, 110u);
  EXPECT_EQ(live.open, 50u);
  EXPECT_EQ(live.failed, 5u);
  EXPECT_EQ(live.connect_rate, 50);
  EXPECT_EQ(live.asked_rate, 10);
  EXPECT_EQ(live.stage_progress, 0.5);
  EXPECT_EQ(live.handshakes, 50u);
  EXPECT_EQ(live.handshake_max_us, 800);
  EXPECT_EQ(live.busiest_agent, "a1");
  EXPECT_EQ(live.lag_p99_us, 90);
  ASSERT_EQ(live.failures.size(), 1u);
  EXPECT_EQ(live.failures[0].cause, "refused (ECONNREFUSED)");
}

// P064: what a target invents does not grow without bound.
TEST(Aggregate, KindsOfFailureBeyondTheTableAreCountedAsOther) {
  TestRun run{kPlan, {"a1"}};
  constexpr std::uint32_t kKinds = Aggregate::kFailureKindsKept + 500;
  Second second{0};
  for (std::uint32_t code = 0; code < kKinds; ++code)
    second.failed(kSetup, kTalker, {Phase::upgrade, Cause::refused_status, code}, 1);
  run.send(0, second);
  const std::vector<FailureTotal> failures = run.aggregate.failures();
  EXPECT_LE(failures.size(), Aggregate::kFailureKindsKept + 1);
  std::uint64_t count = 0;
  for (const FailureTotal& failure : failures) count += failure.count;
  EXPECT_EQ(count, kKinds);
  EXPECT_EQ(failures.back().failure.cause, Cause::other);
  EXPECT_EQ(failures.back().count, 500u);
}

}  // namespace
}  // namespace onrush
