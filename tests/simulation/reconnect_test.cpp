// Users who were cut off and come back, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

std::string members(const std::string& reconnect, const std::string& users, const std::string& length) {
  return "name: storm\ntarget: ws://127.0.0.1:80/echo\nscenarios:\n  member:\n    on_close: {reconnect: " +
         reconnect + "}\n    script: [connect, listen]\nstages:\n  - {name: hold, users: " + users +
         ", over: 1s, for: " + length + "}\n";
}

const Histogram& recoveries(const Aggregate& aggregate) {
  static Measured total;
  total = aggregate.total();
  return samples(total, Time::recovery);
}

// P007: 429, then 101. The user comes back by itself, and its socket was freed between.
TEST(Simulation, P007AFailedAttemptIsTriedAgainUntilItOpens) {
  Simulation run{members("{backoff: 2s, jitter: none}", "20", "10s"), {.agents = 2}};
  run.world().refuse_upgrades(20);
  run.run();
  EXPECT_EQ(run.count(Counter::attempted), 40U);
  EXPECT_EQ(run.count(Counter::failed), 20U);
  EXPECT_EQ(run.count(Counter::opened), 20U);
  EXPECT_EQ(run.count(Counter::reconnects), 20U);
  EXPECT_EQ(run.count(Counter::reconnected), 20U);
  EXPECT_EQ(run.count(Counter::lost), 0U);
  EXPECT_EQ(recoveries(run.aggregate()).count(), 0U) << "nobody had a connection to lose";
  std::uint64_t refused = 0;
  for (const FailureTotal& failure : run.aggregate().failures()) {
    EXPECT_EQ(describe(failure.failure), "429 Too Many Requests");
    refused += failure.count;
  }
  EXPECT_EQ(refused, 20U);
}

// P007: a server that accepts and closes at once is not hammered: the row of pauses goes on over the
// openings, and ends with the attempts.
TEST(Simulation, P007AServerThatAcceptsAndClosesAtOnceSeesTheBackoffTable) {
  Simulation run{members("{backoff: 100ms..3s, jitter: none, attempts: 8}", "1", "59s"), {}};
  run.world().close_at_once("\x03\xf0");
  run.run();
  const auto attempts = run.attempts_ns().front();
  ASSERT_EQ(attempts.size(), 9U);
  const std::int64_t pauses_ms[] = {100, 200, 400, 800, 1600, 3000, 3000, 3000};
  for (std::size_t i = 0; i < 8; ++i) {
    const std::int64_t passed_ms = (attempts[i + 1] - attempts[i]) / 1'000'000;
    EXPECT_GE(passed_ms, pauses_ms[i]);
    EXPECT_LE(passed_ms, pauses_ms[i] + 3);
  }
  EXPECT_EQ(run.count(Counter::opened), 9U);
  EXPECT_EQ(run.count(Counter::lost), 9U);
  EXPECT_EQ(run.count(Counter::reconnected), 8U);
  EXPECT_EQ(run.count(Counter::gave_up), 1U);
  EXPECT_EQ(recoveries(run.aggregate()).count(), 8U);
}

TEST(Simulation, P007TheRowEndsWithAConnectionThatHeld) {
  Simulation run{members("{backoff: 1s..8s, jitter: none, reset_after: 4s}", "1", "40s"), {}};
  // Lost after 1, 2 and 6 s: the first two belong to one row, and the third began a new one.
  const auto end = [&run] { run.world().end_all(World::End::reset); };
  run.world().at(run.start_ns() + 1'000'000'000, end);
  run.world().at(run.start_ns() + 4'000'000'000, end);   // open again since 2 s
  run.world().at(run.start_ns() + 12'000'000'000, end);  // open again since 6 s
  run.run();
  const auto attempts = run.attempts_ns().front();
  ASSERT_EQ(attempts.size(), 4U);
  const auto at_ms = [&](std::size_t i) { return static_cast<double>(attempts[i] - run.start_ns()) / 1e6; };
  EXPECT_NEAR(at_ms(1), 2000, 2);
  EXPECT_NEAR(at_ms(2), 6000, 2);
  EXPECT_NEAR(at_ms(3), 13000, 2);
  EXPECT_EQ(run.count(Counter::lost), 3U);
  const Histogram& recovered = recoveries(run.aggregate());
  ASSERT_EQ(recovered.count(), 3U);
  EXPECT_NEAR(static_cast<double>(recovered.max_us()), 2e6, 2e3);
}

// Everything at once, and whoever comes back is attempted, opened and closed like any other.
TEST(Simulation, WhoeverComesBackIsCountedExactly) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const std::string plan = R"(
name: everything
target: ws://127.0.0.1:80/echo
scenarios:
  member:
    on_close: {reconnect: {backoff: 50ms..1s, attempts: 30}}
    script: [{connect: {timeout: 2s}}, listen]
  worker:
    on_close: {reconnect: {backoff: 20ms, jitter: equal, attempts: 2}}
    script: [{connect: {timeout: 2s}}, {repeat: {every: 100ms, do: [{request: {text: a, timeout: 1s}}]}}]
  visitor:
    on_close: {reconnect: {backoff: 10ms..200ms}}
    script: [{connect: {timeout: 2s}}, {think: 500ms}, close]
stages:
  - {name: setup, users: {member: 60, worker: 40}, rate: 100/s}
  - {name: hold, arrivals: {visitor: 20/s}, for: 8s}
  - {name: fewer, users: {member: 20}, over: 1s, for: 2s}
  - {name: drain, arrivals: {visitor: 0/s}}
)";
    Simulation run{plan, {.seed = seed, .agents = 2, .workers = 2, .faults = kEveryFault}};
    for (const double s : {2.5, 4.0, 4.1, 7.0})
      run.world().at(run.start_ns() + static_cast<std::int64_t>(s * 1e9), [&run, s] {
        run.world().end_all(s < 3 ? World::End::reset : s < 5 ? World::End::fin : World::End::close_frame);
      });
    run.run(seed % 3 == 0 ? std::optional{6.0} : std::nullopt);
    expect_all_accounted_for(run);
    EXPECT_GT(run.count(Counter::lost), 100U);
    EXPECT_GT(run.count(Counter::reconnected), 100U);
    EXPECT_GE(run.count(Counter::reconnects), run.count(Counter::reconnected));
    EXPECT_LE(recoveries(run.aggregate()).count(), run.count(Counter::lost));
    EXPECT_LE(recoveries(run.aggregate()).count(), run.count(Counter::reconnected));
    std::uint64_t cancelled = 0;
    for (const FailureTotal& failure : run.aggregate().failures())
      if (failure.failure.cause == Cause::cancelled) cancelled += failure.count;
    EXPECT_EQ(cancelled, run.count(Counter::cancelled));
  }
}

// P053: fast attempts at a port that is down connect to themselves now and then. Such a one is closed, counts
// as refused, and is tried again like any other.
TEST(Simulation, P053WhoeverReachesItsOwnPortIsRefusedAndTriesAgain) {
  Faults faults;
  faults.refuse = 0.8;
  faults.connect_to_self = 0.5;
  Simulation run{members("{backoff: 10ms, attempts: 1000}", "50", "10s"), {.agents = 2, .faults = faults}};
  run.run();
  EXPECT_EQ(run.count(Counter::opened), 50U);
  EXPECT_EQ(run.world().handshakes(), 50U);
  EXPECT_EQ(run.count(Counter::gave_up), 0U);
  std::uint64_t to_self = 0, all = 0;
  for (const FailureTotal& failure : run.aggregate().failures()) {
    EXPECT_FALSE(is_ours(failure.failure));
    all += failure.count;
    if (failure.failure.cause != Cause::self_connect) continue;
    EXPECT_EQ(describe(failure.failure), "refused (connected to its own port)");
    to_self += failure.count;
  }
  EXPECT_EQ(all, run.count(Counter::failed));
  EXPECT_GT(to_self, all / 3);
}

TEST(Simulation, NobodyComesBackWithoutOnClose) {
  constexpr const char* kPlan = R"(
name: plain
target: ws://127.0.0.1:80/echo
scenarios:
  member: {script: [connect, listen]}
stages:
  - {name: hold, users: 50, over: 1s, for: 10s}
)";
  Simulation run{kPlan, {.agents = 2}};
  run.world().at(run.start_ns() + 3'000'000'000, [&run] { run.world().end_all(World::End::reset); });
  run.run();
  EXPECT_EQ(run.count(Counter::attempted), 50U);
  EXPECT_EQ(run.count(Counter::lost), 50U);
  EXPECT_EQ(run.count(Counter::reconnects) + run.count(Counter::gave_up), 0U);
}

}  // namespace
}  // namespace onrush::simulation
