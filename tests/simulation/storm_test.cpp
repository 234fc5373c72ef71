// Stages that disconnect users, and how the report tells what became of them.
#include "core/storm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

std::string storm_plan(const std::string& disconnect, const std::string& on_close,
                       const std::string& script = "[connect, listen]") {
  return "name: storm\ntarget: ws://127.0.0.1:80/echo\nscenarios:\n  member: {" + on_close +
         "script: " + script +
         "}\nstages:\n  - {name: setup, users: 501, rate: 500/s}\n  - {name: calm, for: 2s}\n"
         "  - {name: storm, disconnect: " +
         disconnect + ", for: 20s}\n  - {name: down, users: 0, rate: 1000/s}\n";
}

constexpr const char* kComesBack = "on_close: {reconnect: {backoff: 100ms..2s}}, ";

std::uint64_t in_storm(const Simulation& run, Counter counter) {
  return onrush::at(run.aggregate().counters_of_stage(2), counter);
}

TEST(Simulation, ADisconnectTakesExactlySoManyForAnyNumberOfAgents) {
  for (const std::uint32_t agents : {1U, 2U, 3U, 7U})
    for (const bool close : {false, true}) {
      SCOPED_TRACE(std::to_string(agents) + (close ? " by close" : " by rst"));
      Simulation run{storm_plan(close ? "{share: 50%, by: close}" : "{share: 50%, by: rst}", kComesBack),
                     {.seed = agents, .agents = agents, .workers = agents == 2 ? 2U : 1U}};
      run.run();
      EXPECT_EQ(in_storm(run, Counter::disconnected), 251U);
      EXPECT_EQ(in_storm(run, Counter::closed), 251U);
      EXPECT_EQ(in_storm(run, Counter::reconnected), 251U);
      EXPECT_EQ(run.count(Counter::opened), 501U + 251U);
      EXPECT_EQ(run.world().handshakes(), 501U + 251U);
      // None of it is the target's: nothing lost, nothing failed.
      EXPECT_EQ(run.count(Counter::lost) + run.count(Counter::failed), 0U);
      EXPECT_THAT(run.aggregate().failures(), ::testing::IsEmpty());
      const std::vector<Storm> all = storms(run.aggregate());
      ASSERT_EQ(all.size(), 1U);
      EXPECT_EQ(all[0].stage, 2U);
      EXPECT_EQ(all[0].asked, 251U);
      EXPECT_EQ(all[0].away(), 251U);
      EXPECT_EQ(all[0].back, 251U);
      EXPECT_EQ(all[0].tries[0], 251U);
      EXPECT_DOUBLE_EQ(all[0].tries_mean, 1);
      ASSERT_TRUE(all[0].back_us[0] && all[0].back_us[3]);
      EXPECT_NEAR(static_cast<double>(*all[0].back_us[0]), 50'000, 12'000);  // full jitter over 100 ms
      EXPECT_LE(*all[0].back_us[3], 101'000);
      EXPECT_GE(*all[0].back_us[3], 90'000);
    }
}

// The shares of all agents lose users, not one agent all of its own.
TEST(Simulation, ADisconnectIsSpreadOverTheAgents) {
  Simulation run{storm_plan("{count: 100}", kComesBack), {.agents = 4}};
  run.run();
  std::uint64_t sum = 0;
  for (const AgentRecord& agent : run.aggregate().agents()) {
    const std::uint64_t cut = onrush::at(agent.counters, Counter::disconnected);
    EXPECT_GT(cut, 10U);
    EXPECT_LT(cut, 40U);
    sum += cut;
  }
  EXPECT_EQ(sum, 100U);
}

TEST(Simulation, ADisconnectKeepsItsPace) {
  Simulation run{storm_plan("{count: 100, rate: 20/s}", "on_close: {reconnect: {backoff: 1ms}}, "),
                 {.agents = 2}};
  run.run();
  std::vector<std::int64_t> again;
  for (const auto& share : run.attempts_ns())
    for (const std::int64_t at_ns : share)
      if (at_ns > run.start_ns() + 2'900'000'000) again.push_back(at_ns);
  ASSERT_EQ(again.size(), 100U);
  const auto [first, last] = std::minmax_element(again.begin(), again.end());
  EXPECT_NEAR(static_cast<double>(*last - *first) / 1e9, 99 / 20.0, 0.01);
}

TEST(Simulation, WhoeverHasNoOnCloseStaysAwayAfterADisconnect) {
  Simulation run{storm_plan("{count: 200}", ""), {.agents = 2}};
  run.run();
  EXPECT_EQ(run.count(Counter::disconnected), 200U);
  EXPECT_EQ(run.count(Counter::attempted), 501U);
  EXPECT_EQ(run.aggregate().open_after(2), 301U);
  const std::vector<Storm> all = storms(run.aggregate());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].back, 0U);
  EXPECT_FALSE(all[0].back_us[0]);
}

// Half of those who were cut off find the door shut for good: the percentages are of all of them.
TEST(Simulation, WhoIsNotBackCountsAmongThoseWhoWereCutOff) {
  Simulation run{storm_plan("{count: 200}", "on_close: {reconnect: {backoff: 10ms, attempts: 1}}, "),
                 {.agents = 2}};
  run.world().at(run.start_ns() + 2'900'000'000, [&run] { run.world().refuse_upgrades(100); });
  run.run();
  const std::vector<Storm> all = storms(run.aggregate());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].back, 100U);
  EXPECT_EQ(all[0].gave_up, 100U);
  EXPECT_TRUE(all[0].back_us[0]);
  EXPECT_FALSE(all[0].back_us[1]);
  EXPECT_FALSE(all[0].back_us[3]);
}

// Requests under way are cut short by the plan: they are neither answered nor failed.
TEST(Simulation, ADisconnectFailsNoRequest) {
  for (const char* by : {"rst", "close"}) {
    Simulation run{
        storm_plan(std::string{"{share: 100%, by: "} + by + "}", kComesBack,
                   "[connect, {repeat: {every: 100ms, do: [{request: {text: a, timeout: 30s}}]}}]"),
        {.agents = 2}};
    // Nobody gets a reply while the storm begins.
    run.world().freeze(run.start_ns() + 2'500'000'000, run.start_ns() + 4'000'000'000);
    run.run();
    EXPECT_EQ(run.count(Counter::disconnected), 501U);
    EXPECT_EQ(run.count(Counter::failed_requests), 0U);
    EXPECT_EQ(run.count(Counter::lost), 0U);
  }
}

// Without a `disconnect` it is the target whose end makes the storm.
TEST(Simulation, ATargetThatRestartsMakesAStormToo) {
  constexpr const char* kPlan = R"(
name: restart
target: ws://127.0.0.1:80/echo
scenarios:
  member: {on_close: {reconnect: {backoff: 500ms, jitter: none}}, script: [connect, listen]}
stages:
  - {name: setup, users: 50, over: 1s}
  - {name: hold, for: 10s}
)";
  Simulation run{kPlan, {.agents = 2}};
  run.world().at(run.start_ns() + 5'000'000'000, [&run] { run.world().end_all(World::End::fin); });
  run.run();
  const std::vector<Storm> all = storms(run.aggregate());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].stage, 1U);
  EXPECT_EQ(all[0].asked, 0U);
  EXPECT_EQ(all[0].lost, 50U);
  EXPECT_EQ(all[0].back, 50U);
  ASSERT_TRUE(all[0].back_us[3]);
  EXPECT_NEAR(static_cast<double>(*all[0].back_us[3]), 500'000, 1000);
}

// Storms under every fault: the books stay exact, and no storm's user comes back twice.
TEST(Simulation, AStormUnderEveryFaultIsCountedExactly) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Faults faults = kEveryFault;
    faults.no_descriptor = 0.02;
    const std::string plan = R"(
name: storms
target: ws://127.0.0.1:80/echo
scenarios:
  member: {on_close: {reconnect: {backoff: 20ms..1s}}, script: [{connect: {timeout: 1s}}, listen]}
  worker:
    on_close: {reconnect: {backoff: 20ms..1s, attempts: 3}}
    script: [{connect: {timeout: 1s}}, {repeat: {every: 100ms, do: [{request: {text: a, timeout: 1s}}]}}]
  guest: {script: [{connect: {timeout: 1s}}, {think: 1s}, close]}
stages:
  - {name: setup, users: {member: 60, worker: 31, guest: 10}, rate: 100/s}
  - {name: first, disconnect: {share: 70%, by: close, rate: 100/s}, for: 2s}
  - {name: second, disconnect: {count: 90}, users: {member: 20}, over: 1s, for: 2s}
  - {name: third, disconnect: {share: 100%}, users: {member: 0, worker: 0, guest: 0}, rate: 50/s}
)";
    Simulation run{plan, {.seed = seed, .agents = 3, .faults = faults}};
    run.run(seed % 4 == 0 ? std::optional{3.3} : std::nullopt);
    expect_all_accounted_for(run);
    EXPECT_GT(run.count(Counter::disconnected), 20U);
    EXPECT_LE(run.count(Counter::disconnected) + run.count(Counter::lost), run.count(Counter::closed));
    for (const Storm& storm : storms(run.aggregate())) {
      EXPECT_LE(storm.disconnected, storm.asked);
      EXPECT_EQ(std::accumulate(storm.tries.begin(), storm.tries.end(), std::uint64_t{0}), storm.back);
    }
  }
}

}  // namespace
}  // namespace onrush::simulation
