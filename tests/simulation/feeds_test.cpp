// Data feeds over whole runs in virtual time: who gets which row, and what happens when there is none left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/verdict.h"
#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Pair;

PlanFiles rows(std::uint32_t count) {
  std::string csv = "id,name\n";
  for (std::uint32_t i = 0; i < count; ++i)
    csv += std::to_string(i) + ",\"name, " + std::to_string(i) + "\"\n";
  return {{"users.csv", std::make_shared<const std::string>(std::move(csv))}};
}

/// How often each row was sent.
std::map<std::string, int> sent_rows(Simulation& run) {
  std::map<std::string, int> seen;
  run.world().listen([&seen](const std::string& message) { ++seen[message]; });
  run.run();
  return seen;
}

std::string plan(const std::string& feed, const std::string& stages) {
  return "name: feeds\ntarget: ws://127.0.0.1:80/echo\ndata: {users: {csv: users.csv, " + feed +
         "}}\nscenarios:\n"
         "  idler: {script: [connect, {think: 1s}]}\n"
         "  one: {script: [connect, {request: {text: \"${data.users.id} ${data.users.name}\", reply: any}}, "
         "{think: 10m}]}\n"
         "  two: {script: [connect, {request: {text: \"${data.users.id} ${data.users.name}\", reply: any}}, "
         "{close: {}}]}\n"
         "stages:\n" +
         stages;
}

// Users come, go and come again; others arrive. Every agent has workers of its own.
TEST(Feeds, ARowThatIsTakenOnceIsOneUsersHoweverManyAgentsThereAre) {
  const std::string once = plan("take: once",
                                "  - {name: up, users: {idler: 7, one: 30}, over: 2s}\n"
                                "  - {name: down, users: {one: 10}, over: 1s, for: 2s}\n"
                                "  - {name: again, users: {one: 40}, over: 1s}\n"
                                "  - {name: more, arrivals: {two: 20/s}, for: 3s}\n"
                                "  - {name: end, arrivals: {two: 0/s}, for: 1s}\n");
  for (const std::uint32_t agents : {1U, 2U, 3U, 7U})
    for (const std::uint32_t workers : {1U, 2U}) {
      SCOPED_TRACE(std::to_string(agents) + " agents of " + std::to_string(workers));
      Simulation run{once, {.agents = agents, .workers = workers, .files = rows(150)}};
      const auto seen = sent_rows(run);
      EXPECT_EQ(run.count(Counter::without_row), 0U);
      EXPECT_EQ(run.count(Counter::failed), 0U);
      EXPECT_EQ(seen.size(), 100U) << "40 users, and 60 who arrived";
      for (std::uint32_t user = 0; user < 40; ++user) {
        const std::string row = std::to_string(user) + " name, " + std::to_string(user);
        ASSERT_TRUE(seen.contains(row)) << row;
        // Those who were ended and began again have the row that they had.
        EXPECT_EQ(seen.at(row), user >= 10 && user < 30 ? 2 : 1) << row;
      }
      for (const auto& [row, times] : seen) {
        if (std::stoi(row) >= 40) {
          EXPECT_EQ(times, 1) << row;
        }
      }
    }
}

// P091: three rows for ten users, with each policy.
TEST(Feeds, P091_AUsedUpFeedEndsAsThePlanSaysAndIsCounted) {
  const std::string stages = "  - {name: up, users: {one: 10}, rate: 10/s}\n  - {name: hold, for: 1s}\n";
  for (const std::uint32_t agents : {1U, 3U}) {
    SCOPED_TRACE(agents);
    Simulation fail{plan("take: once", stages), {.agents = agents, .files = rows(3)}};
    EXPECT_THAT(sent_rows(fail),
                ElementsAre(Pair("0 name, 0", 1), Pair("1 name, 1", 1), Pair("2 name, 2", 1)));
    EXPECT_EQ(fail.count(Counter::without_row), 7U);
    EXPECT_EQ(fail.count(Counter::attempted), 10U);
    EXPECT_EQ(fail.count(Counter::failed), 7U);
    EXPECT_EQ(fail.count(Counter::own_failed), 7U);
    std::uint64_t told = 0;
    for (const FailureTotal& failure : fail.aggregate().failures()) {
      EXPECT_EQ(failure.failure, (Failure{Phase::connect, Cause::no_row, 0}));
      told += failure.count;
    }
    EXPECT_EQ(told, 7U);

    Simulation stop{plan("take: once, on_end: stop", stages), {.agents = agents, .files = rows(3)}};
    EXPECT_EQ(sent_rows(stop).size(), 3U);
    EXPECT_EQ(stop.count(Counter::without_row), 7U);
    EXPECT_EQ(stop.count(Counter::attempted), 3U);
    EXPECT_EQ(stop.count(Counter::failed), 0U);
    EXPECT_TRUE(stop.aggregate().failures().empty());

    Simulation cycle{plan("take: cycle", stages), {.agents = agents, .files = rows(3)}};
    const auto seen = sent_rows(cycle);
    EXPECT_EQ(seen.size(), 3U);
    EXPECT_EQ(cycle.count(Counter::opened), 10U);
    EXPECT_EQ(cycle.count(Counter::without_row), 0U);
  }
}

TEST(Feeds, P091_ArrivalsBehindTheLastRowAreCountedAndTheRunGoesOn) {
  const std::string stages =
      "  - {name: flow, arrivals: {two: 20/s}, for: 2s}\n  - {name: drain, arrivals: {two: 0/s}}\n";
  Simulation run{plan("take: once, on_end: stop", stages), {.agents = 2, .files = rows(24)}};
  const auto seen = sent_rows(run);
  EXPECT_EQ(seen.size(), 24U);
  EXPECT_THAT(seen, Each(Pair(testing::_, 1)));
  EXPECT_EQ(run.count(Counter::arrivals), 40U);
  EXPECT_EQ(run.count(Counter::without_row), 16U);
  EXPECT_EQ(run.count(Counter::attempted), 24U);
}

TEST(Feeds, ACycleUsesEveryRowEquallyOften) {
  const std::string stages = "  - {name: up, users: {one: 120}, rate: 100/s}\n";
  for (const std::uint32_t agents : {1U, 2U, 4U}) {
    Simulation run{plan("take: cycle", stages), {.agents = agents, .workers = 2, .files = rows(12)}};
    const auto seen = sent_rows(run);
    EXPECT_EQ(seen.size(), 12U);
    EXPECT_THAT(seen, Each(Pair(testing::_, 10))) << agents;
  }
}

TEST(Feeds, ARandomRowFollowsTheSeedAndTheUser) {
  const std::string stages = "  - {name: up, users: {one: 400}, rate: 400/s}\n";
  const Setting setting{.agents = 2, .files = rows(10)};
  Simulation first{plan("take: random", stages), setting};
  Simulation second{plan("take: random", stages), setting};
  Simulation other{plan("take: random", stages + "seed: 5\n"), setting};
  const auto seen = sent_rows(first);
  EXPECT_EQ(seen, sent_rows(second));
  EXPECT_NE(seen, sent_rows(other));
  EXPECT_EQ(seen.size(), 10U);
  for (const auto& [row, times] : seen) EXPECT_NEAR(times, 40, 25) << row;
}

// Fewer rows than agents: everybody has all of them.
TEST(Feeds, OneRowServesManyAgents) {
  Simulation run{plan("take: cycle", "  - {name: up, users: {one: 10}, rate: 10/s}\n"),
                 {.agents = 3, .files = rows(1)}};
  EXPECT_THAT(sent_rows(run), ElementsAre(Pair("0 name, 0", 10)));
}

}  // namespace
}  // namespace onrush::simulation
