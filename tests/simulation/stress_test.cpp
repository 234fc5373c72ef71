// What a target under stress does to its users, in virtual time: it stops reading, floods, ends everything at
// once. Counts stay exact, what is held stays bounded, and nothing spins.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

constexpr const char* kSenders = R"(
name: senders
target: ws://127.0.0.1:80/sink
scenarios:
  sender:
    script:
      - connect
      - repeat: {for: 10s, every: 10ms, do: [{send: {bytes: 1000}}]}
      - listen: {}
stages:
  - {name: start, users: 20, over: 1s, for: 16s}
)";

// Each paced message keeps its due time while the target does not read, but only the one that the socket took
// in part is held: the others are not made before there is room.
TEST(Stress, ATargetThatDoesNotReadMakesUsHoldOneMessageAUserAtMost) {
  constexpr std::size_t kFrame = 1000 + 8;
  Simulation run{kSenders, {.workers = 2}};
  run.world().stop_reading(run.start_ns() + 3 * kSecond_ns, run.start_ns() + 8 * kSecond_ns, 5500);
  std::uint64_t turns_before = 0;
  run.world().at(run.start_ns() + 4 * kSecond_ns, [&] { turns_before = run.turns(); });
  for (int tenth = 40; tenth < 80; ++tenth)
    run.world().at(run.start_ns() + tenth * kSecond_ns / 10, [&] {
      EXPECT_EQ(run.held().unsent, 20U);
      EXPECT_LE(run.held().unsent_bytes, 20 * kFrame);
      EXPECT_EQ(run.held().timers, 0U) << "nobody waits for the clock, all for room";
    });
  run.world().at(run.start_ns() + 79 * kSecond_ns / 10, [&] {
    // A turn a second and worker for the hand-over, and one a poll of the simulation at most.
    EXPECT_LT(run.turns() - turns_before, 2 * 4 * 60U) << "it spins while it waits for room";
  });
  run.run();
  EXPECT_EQ(run.count(Counter::messages_sent), 20 * 1000U) << "none is left out";
  EXPECT_EQ(run.world().messages_in(), run.count(Counter::messages_sent));
  EXPECT_LT(samples(run.aggregate().total(), Time::send_lag).max_us(), 1000) << "it was not our lateness";
  // From when each was due, so evenly spread: of 100 a second and user for 5 s, few of which found room.
  const Measured total = run.aggregate().total();
  const Histogram& sending = samples(total, Time::sending);
  EXPECT_EQ(sending.count(), 20 * 1000U);
  EXPECT_NEAR(static_cast<double>(sending.max_us()), 5e6, 200e3);
  for (int second = 1; second <= 4; ++second)
    EXPECT_NEAR(static_cast<double>(sending.count() - sending.count_at_or_below(second * 1'000'000)),
                (5 - second) * 2000.0, 300)
        << "later than " << second << " s";
}

TEST(Stress, ATargetThatNeverReadsAgainIsLeftInTimeAndAllIsAccountedFor) {
  Simulation run{kSenders, {}};
  run.world().stop_reading(run.start_ns() + 3 * kSecond_ns, run.start_ns() + 1000 * kSecond_ns, 5500);
  run.run();
  EXPECT_LT(run.seconds(), 20) << "a close frame that cannot leave is waited for as long as any";
  EXPECT_EQ(run.count(Counter::opened), 20U);
  EXPECT_EQ(run.count(Counter::closed), 20U);
  for (const FailureTotal& failure : run.aggregate().failures()) {
    EXPECT_EQ(failure.failure, (Failure{Phase::close, Cause::timeout, 1000}));
    EXPECT_EQ(failure.count, 20U);
  }
  EXPECT_EQ(run.aggregate().failures().size(), 1U);
}

TEST(Stress, TenThousandConnectionsThatEndAtOnceAreCountedOnceEachAndThenThereIsQuiet) {
  constexpr const char* kPlan = R"(
name: crowd
target: ws://127.0.0.1:80/echo
scenarios:
  idler: {script: [connect, {listen: {}}]}
  waiter: {script: [connect, {request: {text: never, reply: {text: other}, timeout: 60s}}]}
stages:
  - {name: setup, users: {idler: 9000, waiter: 1000}, rate: 10000/s, for: 2s}
  - {name: after, for: 10s}
)";
  const struct {
    World::End end;
    Cause cause;
    std::uint32_t detail;
  } kinds[] = {{World::End::reset, Cause::system, ECONNRESET},
               {World::End::fin, Cause::end_of_stream, 0},
               {World::End::close_frame, Cause::peer_close, 1001}};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(static_cast<int>(kind.end));
    Simulation run{kPlan, {.workers = 2}};
    run.world().at(run.start_ns() + 5 * kSecond_ns / 2, [&] { run.world().end_all(kind.end); });
    std::uint64_t turns_before = 0;
    run.world().at(run.start_ns() + 4 * kSecond_ns, [&] {
      turns_before = run.turns();
      EXPECT_EQ(run.held().sessions, 0U);
      EXPECT_EQ(run.world().open_sockets(), 0U);
    });
    run.world().at(run.start_ns() + 8 * kSecond_ns,
                   [&] { EXPECT_LT(run.turns() - turns_before, 2 * 4 * 4U) << "it spins"; });
    run.run();
    EXPECT_EQ(run.count(Counter::opened), 10'000U);
    EXPECT_EQ(run.count(Counter::lost), 10'000U);
    EXPECT_EQ(run.count(Counter::closed), 10'000U);
    EXPECT_EQ(run.count(Counter::failed_requests), 1000U);
    std::uint64_t told = 0;
    for (const FailureTotal& failure : run.aggregate().failures()) {
      EXPECT_EQ(failure.failure, (Failure{Phase::open, kind.cause, kind.detail}))
          << describe(failure.failure);
      told += failure.count;
    }
    EXPECT_EQ(told, 10'000U);
  }
}

// P083: a script that thinks while messages pile up. They are counted and dropped, so nothing grows.
TEST(Stress, P083AFloodWhileTheScriptThinksIsCountedAndDropped) {
  constexpr const char* kPlan = R"(
name: flooded
target: ws://127.0.0.1:80/echo
scenarios:
  thinker: {script: [connect, {think: 10s}, {request: {text: ping, reply: {text: ping}}}, {listen: {}}]}
stages:
  - {name: setup, users: 5, rate: 100/s, for: 12s}
)";
  Simulation run{kPlan, {.faults = {.short_writes = 0.5}}};
  for (int second = 1; second <= 8; ++second)
    run.world().at(run.start_ns() + second * kSecond_ns, [&] {
      run.world().flood("/echo", 25'000, 12);
      EXPECT_EQ(run.held().partial + run.held().unsent, 0U);
    });
  run.run();
  EXPECT_EQ(run.count(Counter::messages_received), 5 * 8 * 25'000U + 5);
  EXPECT_EQ(run.count(Counter::messages_received), run.world().messages_out());
  EXPECT_EQ(run.count(Counter::requests), 5U) << "the reply is found behind the flood";
  EXPECT_EQ(run.count(Counter::failed_requests), 0U);
}

TEST(Stress, WhoPoursOnAfterItBrokeTheProtocolIsReadForAMegabyteOnly) {
  constexpr std::uint64_t kBound = 1024 * 1024 + 4 * 64 * 1024;  // and what was under way
  for (const bool secure : {false, true}) {
    SCOPED_TRACE(secure);
    Simulation run{fmt::format(R"(
name: lied-to
target: {}://127.0.0.1:80/lies
connection: {{tls: {{verify: false}}}}
scenarios:
  user: {{script: [connect, {{send: {{text: hello}}}}, {{listen: {{}}}}]}}
stages:
  - {{name: all, users: 5, over: 1s, for: 4s}}
)",
                               secure ? "wss" : "ws"),
                   {}};
    if (secure) run.world().speak_tls();
    run.run();
    EXPECT_EQ(run.count(Counter::lost), 5U);
    EXPECT_EQ(run.count(Counter::closed), 5U);
    EXPECT_GT(run.count(Counter::bytes_received), 5U * 512 * 1024);
    EXPECT_LT(run.count(Counter::bytes_received), 5 * kBound);
    EXPECT_LT(samples(run.aggregate().total(), Time::session).max_us(), 200'000)
        << "left when the bound is reached, not when the time for closing is over";
    ASSERT_EQ(run.aggregate().failures().size(), 1U);
    EXPECT_EQ(run.aggregate().failures().front().failure.cause, Cause::reserved_bits);
  }
}

constexpr const char* kBoth = R"(
name: both
target: ws://127.0.0.1:80/echo
scenarios:
  pinger: {script: [connect, {repeat: {every: 200ms, do: [{request: {text: "${user} ${sequence}", reply: {text: "${user} ${sequence}"}}}]}}]}
  visitor: {script: [connect, {request: {bytes: 300, reply: any}}, {think: {exponential: 200ms}}, drop]}
stages:
  - {name: setup, users: {pinger: 41}, rate: 40/s, for: 1s}
  - {name: crowd, arrivals: {visitor: 150/s}, over: 2s, for: 2s}
  - {name: drain, arrivals: {visitor: 0/s}, users: {pinger: 7}, rate: 100/s}
)";

// Workers share nothing: one agent's two are two agents' one, down to each sample.
TEST(Stress, TwoWorkersOfOneAgentDoWhatTwoAgentsOfOneWorkerDo) {
  Simulation one{kBoth, {.agents = 1, .workers = 2}};
  Simulation two{kBoth, {.agents = 2, .workers = 1}};
  one.run();
  two.run();
  EXPECT_EQ(one.attempts_ns(), two.attempts_ns()) << "each share's schedule, to the nanosecond";
  EXPECT_EQ(one.aggregate().counters(), two.aggregate().counters());
  for (std::uint32_t stage = 0; stage < 3; ++stage)
    EXPECT_EQ(one.aggregate().counters_of_stage(stage), two.aggregate().counters_of_stage(stage));
  const Measured of_one = one.aggregate().total();
  const Measured of_two = two.aggregate().total();
  for (std::size_t t = 0; t < kTimes; ++t) {
    const auto time = static_cast<Time>(t);
    EXPECT_EQ(samples(of_one, time).encode(), samples(of_two, time).encode()) << describe(time).name;
  }
  EXPECT_GT(samples(of_one, Time::round_trip).count(), 1000U);
}

TEST(Stress, AShareHasTheSameScheduleHoweverManyAgentsAndWorkersThereAre) {
  const auto schedule = [](std::uint32_t agents, std::uint32_t workers) {
    Simulation run{kBoth, {.agents = agents, .workers = workers}};
    run.run();
    auto attempts = run.attempts_ns();
    // The drain begins when all have heard of it, which is the coordinator's doing.
    for (auto& share : attempts)
      share.erase(std::remove_if(share.begin(), share.end(),
                                 [&](std::int64_t at) { return at > run.start_ns() + 2 * kSecond_ns; }),
                  share.end());
    return attempts;
  };
  const auto four = schedule(1, 4);
  EXPECT_EQ(four, schedule(2, 2));
  EXPECT_EQ(four, schedule(4, 1));
  EXPECT_EQ(four.size(), 4U);
  for (const auto& share : four) EXPECT_GE(share.size(), 10U);
}

}  // namespace
}  // namespace onrush::simulation
