// Random arrivals, and both models in one plan, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

constexpr const char* kVisitors = R"(
name: visitors
target: ws://127.0.0.1:80/echo
scenarios:
  visitor: {weight: 3, script: [connect, {request: {text: a}}, close]}
  heavy: {weight: 1, script: [connect, {think: 300ms}, drop]}
stages:
  - {name: warm, arrivals: {rate: 100/s, distribution: poisson}, over: 4s}
  - {name: steady, for: 4s}
  - {name: even, arrivals: 50/s, for: 3s}
  - {name: split, arrivals: {visitor: {rate: 60/s, distribution: poisson}, heavy: 10/s}, for: 3s}
  - {name: drain, arrivals: 0/s}
)";

std::vector<std::int64_t> instants(const Simulation& run) {
  std::vector<std::int64_t> all;
  for (const auto& share : run.attempts_ns())
    for (const std::int64_t at_ns : share) all.push_back(at_ns - run.start_ns());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Simulation, RandomArrivalsAreTheSameForAnyNumberOfAgents) {
  std::vector<std::int64_t> first;
  for (const std::uint32_t agents : {1U, 2U, 3U, 7U})
    for (const std::uint32_t workers : {1U, 2U}) {
      SCOPED_TRACE(std::to_string(agents) + " agents of " + std::to_string(workers));
      Simulation run{kVisitors, {.seed = agents, .agents = agents, .workers = workers}};
      run.run();
      const std::vector<std::int64_t> now = instants(run);
      if (first.empty()) first = now;
      ASSERT_EQ(now.size(), first.size());
      for (std::size_t i = 0; i < now.size(); ++i) ASSERT_LE(std::abs(now[i] - first[i]), 1'000'000) << i;
      EXPECT_EQ(run.count(Counter::arrivals), now.size());
      EXPECT_EQ(run.count(Counter::opened), now.size());
      EXPECT_EQ(run.count(Counter::dropped_arrivals), 0U);
      // 200 + 400 at random, 150 at equal intervals, 180 at random and 30 at equal ones.
      const auto of = [&](std::uint32_t stage) {
        return static_cast<double>(onrush::at(run.aggregate().counters_of_stage(stage), Counter::arrivals));
      };
      EXPECT_NEAR(of(0), 200, 60);
      EXPECT_NEAR(of(1), 400, 80);
      EXPECT_NEAR(of(2), 150, 1);
      EXPECT_NEAR(of(3), 210, 60);
      // What the plan promises beforehand is what comes.
      const std::vector<std::uint64_t> planned = arrivals_by_stage(run.aggregate().plan());
      for (std::uint32_t stage = 0; stage < 4; ++stage)
        EXPECT_EQ(of(stage), static_cast<double>(planned[stage])) << stage;
    }
  // Bunches: some gaps are far below the mean, as no regular stream has them.
  std::size_t close = 0, steady = 0;
  for (std::size_t i = 1; i < first.size(); ++i) {
    if (first[i] < 4'000'000'000 || first[i] > 8'000'000'000) continue;
    ++steady;
    close += first[i] - first[i - 1] < 1'000'000 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(close) / static_cast<double>(steady), 1 - std::exp(-0.1), 0.05);
}

TEST(Simulation, AnotherSeedGivesOtherInstants) {
  Simulation one{std::string{"seed: 5\n"} + kVisitors, {}};
  Simulation other{std::string{"seed: 6\n"} + kVisitors, {}};
  one.run();
  other.run();
  EXPECT_NE(instants(one), instants(other));
}

TEST(Simulation, BothModelsRunSideBySide) {
  constexpr const char* kPlan = R"(
name: both
target: ws://127.0.0.1:80/echo
scenarios:
  resident:
    on_close: {reconnect: {backoff: 100ms}}
    script: [connect, listen]
  visitor: {script: [connect, {think: 200ms}, close]}
stages:
  - {name: residents, users: {resident: 50}, rate: 50/s}
  - {name: visitors, arrivals: {visitor: {rate: 40/s, distribution: poisson}}, for: 5s}
  - {name: storm, disconnect: {share: 100%}, users: {resident: 60}, over: 2s, for: 5s}
  - {name: drain, arrivals: {visitor: 0/s}}
  - {name: down, users: 0, over: 1s}
)";
  for (const std::uint32_t agents : {1U, 3U}) {
    Simulation run{kPlan, {.agents = agents, .workers = 2}};
    run.run();
    const Counters resident = run.aggregate().counters_of_scenario(0);
    const Counters visitor = run.aggregate().counters_of_scenario(1);
    EXPECT_EQ(onrush::at(resident, Counter::opened), 60U + 50U);
    EXPECT_EQ(onrush::at(resident, Counter::disconnected), 50U);
    EXPECT_EQ(onrush::at(resident, Counter::arrivals), 0U);
    EXPECT_NEAR(static_cast<double>(onrush::at(visitor, Counter::arrivals)), 40 * 12, 100);
    EXPECT_EQ(onrush::at(visitor, Counter::opened), onrush::at(visitor, Counter::arrivals));
    EXPECT_EQ(onrush::at(visitor, Counter::disconnected), 0U);
    EXPECT_EQ(run.aggregate().open_after(2) >= 60, true);
    EXPECT_EQ(run.aggregate().open_after(3), 60U);
  }
}

// What comes due while others are started is started too, however the stage ends meanwhile: only who is a
// whole second late is dropped, or cancelled.
TEST(Simulation, NobodyIsLeftOutBecauseItsStageEndsWhileOthersAreStarted) {
  constexpr const char* kPlan = R"(
name: busy
target: ws://127.0.0.1:80/echo
scenarios:
  visitor: {script: [connect, close]}
  user: {script: [connect, listen]}
stages:
  - {name: up, users: {user: 250}, over: 1s}
  - {name: busy, arrivals: {visitor: 250/s}, for: 1s}
  - {name: drain, arrivals: {visitor: 0/s}}
)";
  // Two of them are due while one is started, now and then; in the end we are a tenth of a second late.
  for (const std::int64_t takes_ns : {4'100'000, 4'300'000, 4'700'000}) {
    SCOPED_TRACE(takes_ns);
    Simulation run{kPlan, {}};
    run.world().connect_takes(takes_ns);
    run.run();
    EXPECT_EQ(run.count(Counter::arrivals), 250U);
    EXPECT_EQ(run.count(Counter::dropped_arrivals), 0U);
    EXPECT_EQ(run.count(Counter::opened), 500U);
    EXPECT_EQ(run.count(Counter::failed), 0U);
  }
}

}  // namespace
}  // namespace onrush::simulation
