// Keep-alive pings in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

std::string plan(const std::string& connection, const std::string& script = "[connect, listen]",
                 const std::string& on_close = "") {
  return "name: idle\ntarget: ws://127.0.0.1:80/echo\nconnection: {" + connection +
         "}\nscenarios:\n  member: {" + on_close + "script: " + script +
         "}\nstages:\n  - {name: setup, users: 200, over: 1s, for: 99s}\n";
}

TEST(Simulation, EachConnectionIsPingedOnceInTheInterval) {
  Simulation run{plan("ping: 20s"), {.agents = 2}};
  run.run();
  // 100 s: five intervals, less the part of the first second in which a user was not yet open.
  EXPECT_GE(run.count(Counter::keepalive_pings), 200U * 49 / 10);
  EXPECT_LE(run.count(Counter::keepalive_pings), 200U * 5);
  EXPECT_EQ(run.count(Counter::keepalive_pongs), run.count(Counter::keepalive_pings));
  EXPECT_EQ(run.count(Counter::lost), 0U);
  EXPECT_EQ(run.world().pings(), run.count(Counter::keepalive_pings));
}

// Spread: in no tenth of an interval much more than a tenth of the pings, although all users came at once.
TEST(Simulation, PingsAreSpreadOverTheInterval) {
  Simulation run{plan("ping: 20s"), {}};
  std::vector<std::uint64_t> counts;
  for (std::int64_t tenth = 0; tenth <= 10; ++tenth)
    run.world().at(run.start_ns() + 40'000'000'000 + tenth * 2'000'000'000,
                   [&] { counts.push_back(run.world().pings()); });
  run.run();
  ASSERT_EQ(counts.size(), 11U);
  for (std::size_t i = 1; i < counts.size(); ++i) {
    EXPECT_GE(counts[i] - counts[i - 1], 8U);
    EXPECT_LE(counts[i] - counts[i - 1], 32U);
  }
}

TEST(Simulation, ADeadPeerIsFoundByItsMissingPong) {
  for (const char* script :
       {"[connect, listen]", "[connect, {repeat: {every: 1s, do: [{request: {text: a, timeout: 60s}}]}}]"}) {
    SCOPED_TRACE(script);
    Simulation run{
        plan("ping: {interval: 10s, timeout: 2s}", script, "on_close: {reconnect: {backoff: 100ms}}, "),
        {.agents = 2}};
    // Nobody answers any more, and nothing tells so.
    run.world().freeze(run.start_ns() + 30'000'000'000, run.start_ns() + 44'000'000'000);
    run.run();
    std::uint64_t dead = 0;
    for (const FailureTotal& failure : run.aggregate().failures()) {
      if (failure.failure.cause == Cause::timeout) continue;  // of attempts while it was frozen
      EXPECT_EQ(describe(failure.failure), "dead peer, no pong in 2 s");
      EXPECT_FALSE(is_ours(failure.failure));
      dead += failure.count;
      EXPECT_GE(failure.first_us, 32'000'000);
      EXPECT_LE(failure.last_us, 46'100'000);
    }
    EXPECT_GE(dead, 200U);
    EXPECT_EQ(run.count(Counter::lost), dead);
    EXPECT_GE(run.count(Counter::reconnected), 200U);
  }
}

TEST(Simulation, ATimeoutAsLongAsTheIntervalFindsDeadPeersToo) {
  Simulation run{plan("ping: 5s"), {}};
  run.world().freeze(run.start_ns() + 30'000'000'000, run.start_ns() + 60'000'000'000);
  run.run();
  EXPECT_EQ(run.count(Counter::lost), 200U);
  for (const FailureTotal& failure : run.aggregate().failures()) {
    EXPECT_EQ(describe(failure.failure), "dead peer, no pong in 5 s");
    EXPECT_LE(failure.last_us, 40'200'000);
  }
}

// P022: cut after 60 s of silence. A ping in time keeps the connection; without one it is cut, and no message
// was late over it.
TEST(Simulation, P022AnIdleConnectionIsKeptByItsPings) {
  for (const bool pings : {true, false}) {
    Simulation run{plan(pings ? "ping: 20s" : "timeout: 5s"), {.agents = 2}};
    run.world().cut_idle_after(60'000'000'000);
    run.run();
    EXPECT_EQ(run.count(Counter::lost), pings ? 0U : 200U);
    for (const FailureTotal& failure : run.aggregate().failures())
      EXPECT_EQ(describe(failure.failure), "ended by peer without a close frame (1006)");
  }
}

// `connection: {timeout: ...}` is what a connect step takes that states none.
TEST(Simulation, TheConnectionsTimeoutIsTheOneOfConnect) {
  Faults faults;
  faults.silent = 1;
  Simulation run{plan("timeout: 3s", "[connect, listen]"), {.faults = faults}};
  run.run();
  EXPECT_EQ(run.count(Counter::failed), 200U);
  for (const FailureTotal& failure : run.aggregate().failures())
    EXPECT_EQ(describe(failure.failure), "no answer in 3 s");
  Simulation own{plan("timeout: 3s", "[{connect: {timeout: 1s}}, listen]"), {.faults = faults}};
  own.run();
  for (const FailureTotal& failure : own.aggregate().failures())
    EXPECT_EQ(describe(failure.failure), "no answer in 1 s");
}

}  // namespace
}  // namespace onrush::simulation
