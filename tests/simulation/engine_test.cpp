// Stories of whole runs in virtual time. A failure prints its seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "tests/sanitized.h"
#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

std::string plan_file(const std::string& name) {
  std::ifstream in{std::string{ONRUSH_SOURCE_DIR} + "/plans/" + name};
  return {std::istreambuf_iterator<char>{in}, {}};
}

constexpr const char* kPaced = R"(
name: stall
target: ws://127.0.0.1:80/echo
scenarios:
  one:
    script:
      - connect
      - repeat: {for: 20s, every: 10ms, do: [{request: {text: "${sequence}", reply: {text: "${sequence}"}}}]}
      - listen: {}
stages:
  - {name: start, users: 1, over: 1s, for: 25s}
)";

// P047, and the stall test of docs/measurement.md: nothing is left out while the target is frozen, everything
// late is the target's, and the generator itself is never late.
TEST(Simulation, AFrozenTargetShowsInResponseTimeFromDueAndNotAsOurOwnLag) {
  Simulation run{kPaced, {}};
  run.world().freeze(run.start_ns() + 5'000'000'000, run.start_ns() + 15'000'000'000);
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 2000U);
  EXPECT_EQ(run.count(Counter::failed_requests), 0U);
  const Measured total = run.aggregate().total();
  const Histogram& response = samples(total, Time::response);
  ASSERT_EQ(response.count(), 2000U);
  // Frozen for 10 s at 100 a second: 1,000 messages were due, the k-th of them answered 10 s - k * 10 ms
  // late. One was in flight; the others left one after the other when it had come.
  for (int tenth = 1; tenth <= 9; ++tenth) {
    const auto later = response.count() - response.count_at_or_below(10'000'000 - tenth * 1'000'000);
    EXPECT_NEAR(static_cast<double>(later), tenth * 100.0, 20) << "later than " << 10 - tenth << " s";
  }
  EXPECT_NEAR(static_cast<double>(response.max_us()), 10e6, 20e3);
  EXPECT_LT(samples(total, Time::send_lag).max_us(), 1000);
  // The round trip alone would have hidden it: one slow answer in 2,000.
  const Histogram& round_trip = samples(total, Time::round_trip);
  EXPECT_LE(round_trip.count() - round_trip.count_at_or_below(1'000'000), 1U);
}

TEST(Simulation, TunnelsOfAProxyOpenAtEveryCutAndEveryAttemptIsAccountedFor) {
  constexpr const char* kPlan = R"(
name: proxied
target: [ws://a.test/echo, {url: ws://b.test/echo, weight: 2}]
connection: {proxy: "http://q:p@127.0.0.1:80"}
scenarios:
  one:
    script:
      - connect: {timeout: 2s}
      - repeat: {times: 3, do: [{request: {text: "${sequence}", reply: {text: "${sequence}"}}}]}
      - close
      - think: 60s
stages: [{name: all, users: 300, over: 3s, for: 10s}]
)";
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Simulation clean{kPlan, {.seed = seed, .faults = {.one_byte_reads = 0.5, .short_writes = 0.5}}};
    clean.run();
    EXPECT_EQ(clean.count(Counter::opened), 300U);
    EXPECT_EQ(clean.count(Counter::requests), 900U);
    Simulation rough{
        kPlan, {.seed = seed, .agents = 2, .faults = {.refuse = 0.1, .silent = 0.1, .status_503 = 0.1}}};
    rough.run();
    EXPECT_EQ(rough.count(Counter::attempted), 300U);
    EXPECT_EQ(rough.count(Counter::opened) + rough.count(Counter::failed), 300U);
    EXPECT_GT(rough.count(Counter::failed), 30U);
    EXPECT_EQ(rough.held().sessions, 0U);
    EXPECT_EQ(rough.held().partial, 0U);
  }
}

TEST(Simulation, OpenArrivalsAreExactForAnyNumberOfAgents) {
  constexpr const char* kPlan = R"(
name: arrivals
target: ws://127.0.0.1:80/echo
scenarios:
  visitor: {weight: 3, script: [connect, {request: {text: "ping ${sequence}", reply: {text: "ping ${sequence}"}}}, {close: {code: 1000}}]}
  heavy: {weight: 1, script: [connect, {request: {bytes: 2048, reply: any}}, drop]}
stages:
  - {name: warm,   arrivals: 200/s, over: 10s}
  - {name: steady, for: 5s}
  - {name: spike,  arrivals: 1000/s, over: 2s, for: 3s}
  - {name: calm,   arrivals: 33.3/s, for: 5s}
  - {name: drain,  arrivals: 0/s}
)";
  for (const std::uint32_t agents : {1U, 2U, 3U, 7U}) {
    SCOPED_TRACE(agents);
    Simulation run{kPlan, {.seed = agents, .agents = agents}};
    run.run();
    // 200*10/2 + 200*5 + (200+1000)/2*2 + 1000*3 + 33.3*5 = 6366.5
    EXPECT_NEAR(static_cast<double>(run.count(Counter::arrivals)), 6366.5, 1);
    EXPECT_EQ(run.count(Counter::dropped_arrivals), 0U);
    EXPECT_EQ(run.count(Counter::opened), run.count(Counter::arrivals));
    EXPECT_EQ(run.count(Counter::failed_requests), 0U);
    EXPECT_EQ(run.world().messages_in(), run.count(Counter::messages_sent));
    EXPECT_EQ(run.world().messages_out(), run.count(Counter::messages_received));
    const std::uint64_t arrivals[] = {1000, 1000, 4200};
    for (std::uint32_t stage = 0; stage < 3; ++stage)
      EXPECT_NEAR(
          static_cast<double>(onrush::at(run.aggregate().counters_of_stage(stage), Counter::arrivals)),
          static_cast<double>(arrivals[stage]), 1);
    const double visitors =
        static_cast<double>(onrush::at(run.aggregate().counters_of_scenario(0), Counter::arrivals));
    EXPECT_NEAR(visitors / static_cast<double>(run.count(Counter::arrivals)), 0.75, 0.001);
  }
}

// P049: integers that add up, and nobody is left out, however few the users are.
TEST(Simulation, UsersAddUpForAnyNumberOfWorkers) {
  constexpr const char* kPlan = R"(
name: few
target: ws://127.0.0.1:80/broadcast
scenarios:
  a: {script: [connect, {listen: {}}]}
  b: {script: [connect, {listen: {}}]}
  c: {script: [connect, {listen: {}}]}
stages:
  - {name: one, users: {a: 1, b: 2, c: 7}, over: 1s, for: 1s}
  - {name: more, users: {a: 20, c: 3}, over: 2s, for: 1s}
  - {name: none, users: {a: 0, b: 0, c: 0}, rate: 10/s}
)";
  for (const std::uint32_t agents : {1U, 3U, 5U})
    for (const std::uint32_t workers : {1U, 2U}) {
      SCOPED_TRACE(agents);
      Simulation run{kPlan, {.seed = agents, .agents = agents, .workers = workers}};
      run.run();
      EXPECT_EQ(run.count(Counter::opened), 29U);
      EXPECT_EQ(run.count(Counter::lost), 0U);
      EXPECT_EQ(run.world().handshakes(), 29U);
      EXPECT_EQ(onrush::at(run.aggregate().counters_of_stage(1), Counter::closed), 4U);
    }
}

TEST(Simulation, EveryBroadcastReachesEveryListener) {
  const auto subscribers = [](std::string plan, const std::string& from, const std::string& to) {
    return plan.replace(plan.find(from), from.size(), to);
  };
  std::string plan = subscribers(plan_file("c1000k.yaml"), "users: 1_000_000", "users: 3_000");
  plan = subscribers(plan, "rate: 10000/s", "rate: 1000/s");
  Simulation run{plan, {.agents = 3, .workers = 2}};
  run.run();
  EXPECT_EQ(run.count(Counter::opened), 3001U);
  EXPECT_EQ(run.count(Counter::delivered), 6U * 3000);
  EXPECT_EQ(run.count(Counter::duplicates) + run.count(Counter::gaps) + run.count(Counter::reordered), 0U);
  const DeliverySummary delivery = run.aggregate().delivery();
  EXPECT_EQ(delivery.broadcasts, 6U);
  EXPECT_EQ(delivery.expected, 6U * 3000);
  EXPECT_EQ(delivery.received, 6U * 3000);
  const Measured total = run.aggregate().total();
  EXPECT_EQ(samples(total, Time::delivery).count(), 6U * 3000);
  EXPECT_LE(samples(total, Time::delivery).max_us(), 81);   // the network's longest delay
  EXPECT_EQ(samples(total, Time::session).count(), 3001U);  // P095
}

// The server of the simulation stamps in microseconds: read as milliseconds, every stamp lies in the future.
TEST(Simulation, StampsInTheFutureGiveNoDeliveryTimes) {
  constexpr const char* kPlan = R"(
name: wrong-unit
target: ws://127.0.0.1:80/broadcast
scenarios:
  listener: {script: [connect, {listen: {sequence: /seq, batch_sent: /batch_us, sent: /sent_us, unit: ms}}]}
  publisher: {script: [connect, {repeat: {every: 500ms, do: [{send: {text: broadcast}}]}}]}
stages:
  - {name: setup, users: {listener: 10}, rate: 100/s}
  - {name: publish, users: {publisher: 1}, over: 10ms, for: 2s}
thresholds: [delivery_time p99 < 250ms]
)";
  Simulation run{kPlan, {}};
  run.run();
  EXPECT_GT(run.count(Counter::delivered), 0U);
  EXPECT_EQ(run.count(Counter::early_stamps), 2 * run.count(Counter::delivered));
  const Measured total = run.aggregate().total();
  EXPECT_EQ(total.find(Time::delivery), nullptr);
  EXPECT_EQ(total.find(Time::batch_delivery), nullptr);
  const ThresholdResult promise = run.aggregate().thresholds().front();
  EXPECT_FALSE(promise.held);
  EXPECT_EQ(promise.value_text, "no samples");
}

// The listeners of the setup connect while broadcasts are under way: whoever had opened before is expected,
// and whoever gets it all the same counts too.
TEST(Simulation, ReachIsCompleteWhileListenersComeAndGo) {
  constexpr const char* kPlan = R"(
name: churn
target: ws://127.0.0.1:80/broadcast
scenarios:
  listener: {script: [connect, {listen: {sequence: /seq, batch_sent: /batch_us, sent: /sent_us}}]}
  publisher: {script: [connect, {repeat: {every: 37ms, do: [{send: {text: broadcast}}]}}]}
stages:
  - {name: publish, users: {publisher: 1}, over: 10ms}
  - {name: setup, users: {listener: 500}, rate: 250/s, for: 1s}
  - {name: silence, users: {publisher: 0}, rate: 10/s, for: 1s}
  - {name: down, users: {listener: 0}, rate: 500/s}
)";
  for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
    Simulation run{kPlan, {.seed = seed, .agents = 2}};
    run.run();
    const DeliverySummary delivery = run.aggregate().delivery();
    EXPECT_GT(delivery.received, 10'000U);
    EXPECT_EQ(delivery.received, run.count(Counter::delivered)) << "seed " << seed;
    EXPECT_EQ(delivery.expected, delivery.received) << "seed " << seed;
  }
}

constexpr const char* kMixed = R"(
name: mixed
target: ws://127.0.0.1:80/echo
scenarios:
  chatter:
    script:
      - connect: {timeout: 2s}
      - repeat: {times: 10, do: [{request: {text: "${user} ${sequence} ${now_us}", reply: {text: "${user} ${sequence} ${now_us}"}, timeout: 3s}}, {think: {exponential: 100ms}}]}
      - close
  pacer:
    script:
      - connect: {timeout: 2s}
      - repeat: {for: 3s, every: 50ms, do: [{request: {bytes: 700, reply: any, timeout: 2s}}]}
      - drop
stages:
  - {name: users, users: {chatter: 60, pacer: 30}, rate: 50/s, for: 3s}
  - {name: crowd, arrivals: 100/s, over: 2s, for: 3s}
  - {name: drain, arrivals: 0/s, users: {chatter: 10}, rate: 100/s}
  - {name: end, users: {chatter: 0, pacer: 0}, over: 1s}
)";

// The books agree at every step (Simulation checks them), whatever goes wrong.
TEST(Simulation, TheBooksBalanceUnderEveryFault) {
  for (std::uint64_t seed = 1; seed <= seeds(12); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Setting setting{.seed = seed,
                    .agents = static_cast<std::uint32_t>(seed % 3 + 1),
                    .workers = static_cast<std::uint32_t>(seed % 2 + 1)};
    setting.faults = kEveryFault;
    setting.lost_acknowledgements = 0.3;
    setting.cut_links = 0.05;
    Simulation run{kMixed, setting};
    if (seed % 4 == 0) run.world().freeze(run.start_ns() + 2'000'000'000, run.start_ns() + 5'000'000'000);
    run.run();
    EXPECT_GT(run.count(Counter::opened), 300U);
    EXPECT_GT(run.count(Counter::failed), 0U);
    EXPECT_GT(run.count(Counter::lost), 0U);
    const Measured total = run.aggregate().total();
    EXPECT_EQ(samples(total, Time::session).count(), run.count(Counter::closed));
    EXPECT_EQ(samples(total, Time::handshake).count(), run.count(Counter::opened));
    EXPECT_EQ(samples(total, Time::failed_handshake).count(), run.count(Counter::failed));
    EXPECT_EQ(samples(total, Time::round_trip).count() + run.count(Counter::failed_requests),
              run.count(Counter::requests));
  }
}

TEST(Simulation, OneByteReadsAndShortWritesChangeNothing) {
  Simulation run{kMixed, {.faults = {.one_byte_reads = 1, .short_writes = 1}}};
  run.run();
  for (const FailureTotal& failure : run.aggregate().failures())
    EXPECT_EQ(failure.failure.cause, Cause::cancelled) << describe(failure.failure);
  EXPECT_EQ(run.count(Counter::lost), 0U);
  EXPECT_EQ(run.world().messages_in(), run.count(Counter::messages_sent));
}

TEST(Simulation, TheSameSeedGivesTheSameRun) {
  const auto fingerprint = [](std::uint64_t seed) {
    Simulation run{kMixed, {.seed = seed, .agents = 2, .faults = {.refuse = 0.1, .reset_mid_frame = 0.1}}};
    run.run();
    return std::tuple{run.aggregate().counters(), run.world().now_ns(),
                      samples(run.aggregate().total(), Time::round_trip).encode()};
  };
  EXPECT_EQ(fingerprint(7), fingerprint(7));
  EXPECT_NE(fingerprint(7), fingerprint(8));
}

// P085, P097: a stop takes effect at once, whatever the sessions were doing.
TEST(Simulation, AStopEndsEverythingSoonAndAccountsForIt) {
  for (const double at_s : {0.0, 0.7, 2.5, 6.0}) {
    SCOPED_TRACE(at_s);
    Simulation run{kMixed, {.agents = 2, .faults = {.silent = 0.3, .mute_on_close = 0.3}}};
    run.run(at_s);
    EXPECT_LT(run.seconds(), at_s + 2.5);
    EXPECT_EQ(run.count(Counter::opened), run.count(Counter::closed));
  }
}

// P011: one deadline over everything, whatever trickles in; the run does not wait for it longer than that.
TEST(Simulation, ASilentTargetFailsAttemptsInTime) {
  Simulation run{kMixed, {.faults = {.silent = 1}}};
  run.run();
  EXPECT_EQ(run.count(Counter::opened), 0U);
  const Measured total = run.aggregate().total();
  const Histogram& failed = samples(total, Time::failed_handshake);
  EXPECT_EQ(failed.count(), run.count(Counter::attempted));
  EXPECT_NEAR(static_cast<double>(failed.max_us()), 2e6, 1000);
  for (const FailureTotal& failure : run.aggregate().failures())
    EXPECT_THAT(failure.failure.cause, ::testing::AnyOf(Cause::timeout, Cause::cancelled));
}

// P052, P055: what a limit of our own stops never was the target's failure.
TEST(Simulation, LimitsOfOurOwnAreCountedApartThroughConnectAndWrite) {
  constexpr const char* kMany = R"(
name: many
target: ws://127.0.0.1:80/echo
scenarios:
  pinger: {script: [connect, repeat: {every: 100ms, do: [{send: {text: hello}}]}]}
stages:
  - {name: setup, users: 200, rate: 100/s}
  - {name: hold, for: 1s}
)";
  Simulation run{kMany,
                 {.faults = {.refuse = 0.1, .no_descriptor = 0.2, .port_taken = 0.5, .no_buffer = 0.2}}};
  run.run();
  std::uint64_t own_failed = 0;
  std::uint64_t own_lost = 0;
  std::uint64_t target_failed = 0;
  for (const FailureTotal& failure : run.aggregate().failures()) {
    const bool opening = failure.failure.phase == Phase::connect || failure.failure.phase == Phase::upgrade;
    (is_own_limit(failure.failure) ? (opening ? own_failed : own_lost) : target_failed) += failure.count;
    const bool known = failure.failure.detail == EMFILE || failure.failure.detail == ENOBUFS;
    EXPECT_TRUE(known || !is_own_limit(failure.failure)) << describe(failure.failure);
  }
  EXPECT_GT(own_failed, 0U);
  EXPECT_GT(own_lost, 0U);
  EXPECT_GT(target_failed, 0U);
  EXPECT_EQ(run.count(Counter::own_failed), own_failed);
  EXPECT_EQ(run.count(Counter::own_lost), own_lost);
  EXPECT_GT(run.count(Counter::port_retries), 0U) << "each taken port is passed over, and counted";
}

TEST(Simulation, ABlockOfPortsThatAllAreTakenIsALimitOfOurOwnWithItsErrno) {
  Simulation run{kPaced, {.faults = {.port_taken = 1}}};
  run.run(3);
  EXPECT_EQ(run.count(Counter::opened), 0U);
  EXPECT_EQ(run.count(Counter::own_failed), run.count(Counter::failed));
  for (const FailureTotal& failure : run.aggregate().failures())
    EXPECT_TRUE(failure.failure.cause == Cause::cancelled ||
                describe(failure.failure) == "port in use (EADDRINUSE)");
}

// P097: more arrivals than there is room for are counted, one by one, and the stage ends in time.
TEST(Simulation, ArrivalsWithoutRoomAreDroppedAndCounted) {
  constexpr const char* kPlan = R"(
name: flood
target: ws://127.0.0.1:80/echo
scenarios:
  visitor: {script: [connect, {think: 1s}]}
stages:
  - {name: flood, arrivals: 2000/s, for: 3s}
  - {name: drain, arrivals: 0/s}
)";
  Simulation roomy{kPlan, {.descriptor_limit = 3000}};
  roomy.run();
  EXPECT_EQ(roomy.count(Counter::arrivals), 6000U);
  EXPECT_EQ(roomy.count(Counter::dropped_arrivals), 0U);
  Simulation crowded{kPlan, {.descriptor_limit = 2'210}};
  crowded.world().freeze(crowded.start_ns(), crowded.start_ns() + 2'000'000'000);
  crowded.run();
  EXPECT_EQ(crowded.count(Counter::arrivals), 6000U);
  EXPECT_GT(crowded.count(Counter::dropped_arrivals), 1000U);
  EXPECT_EQ(crowded.count(Counter::arrivals) - crowded.count(Counter::dropped_arrivals),
            crowded.count(Counter::attempted));
}

}  // namespace
}  // namespace onrush::simulation
