#include "core/timeline.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <set>

#include "core/arrival_mix.h"

namespace onrush {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kSecond_ns = 1'000'000'000;

Plan plan_of(std::vector<double> weights) {
  Plan plan;
  plan.scenarios.resize(weights.size());
  for (std::size_t s = 0; s < weights.size(); ++s) {
    plan.scenarios[s].name = "s" + std::to_string(s);
    plan.scenarios[s].weight = weights[s];
  }
  return plan;
}

Stage users(std::map<std::uint32_t, std::uint64_t> wanted) {
  Stage stage;
  stage.users = std::move(wanted);
  return stage;
}

Stage arrivals(double rate) {
  Stage stage;
  stage.arrivals = rate;
  return stage;
}

Stage arrivals_by_scenario(std::map<std::uint32_t, double> rates) {
  Stage stage;
  stage.arrivals_by_scenario = std::move(rates);
  return stage;
}

Stage lasting(Stage stage, std::optional<std::int64_t> over_s, std::optional<std::int64_t> for_s) {
  if (over_s) stage.over_ns = *over_s * kSecond_ns;
  if (for_s) stage.for_ns = *for_s * kSecond_ns;
  return stage;
}

Stage at_rate(Stage stage, double rate) {
  stage.rate = rate;
  return stage;
}

std::string text(const UserChange& c) {
  return std::to_string(c.scenario) + ": " + std::to_string(c.from) + " -> " + std::to_string(c.to);
}

TEST(Timeline, RateIsSharedByAllChangingScenariosAndTheStageLastsUntilTheyHaveSettled) {
  Plan plan = plan_of({1, 1, 1});
  plan.stages = {lasting(at_rate(users({{0, 900}, {1, 100}}), 100), {}, 30)};
  const StageTimeline setup = timeline(plan).at(0);
  EXPECT_EQ(setup.end, StageEnd::when_settled);
  EXPECT_THAT(setup.length_s, DoubleEq(10));
  EXPECT_THAT(setup.hold_s, DoubleEq(30));
  EXPECT_THAT(setup.asked_rate, DoubleEq(100));
  EXPECT_THAT(setup.users_at_end, ElementsAre(900, 100, 0));
  ASSERT_EQ(setup.users.size(), 2u);
  for (const UserChange& change : setup.users) EXPECT_THAT(change.over_s, DoubleEq(10)) << text(change);
}

TEST(Timeline, AStageThatEndsUsersAsksForNoConnections) {
  Plan plan = plan_of({1, 1});
  plan.stages = {users({{0, 1000}, {1, 1}}), at_rate(users({{0, 0}, {1, 0}}), 2000),
                 at_rate(users({{0, 0}, {1, 500}}), 50)};
  const auto stages = timeline(plan);
  EXPECT_EQ(stages[1].asked_rate, 0);
  EXPECT_THAT(stages[1].length_s, DoubleEq(1001.0 / 2000));
  EXPECT_EQ(text(stages[1].users.at(0)), "0: 1000 -> 0");
  EXPECT_EQ(text(stages[1].users.at(1)), "1: 1 -> 0");
  EXPECT_EQ(stages[2].users.size(), 1u) << "scenario 0 has no users already";
  EXPECT_THAT(stages[2].asked_rate, DoubleEq(50));
}

TEST(Timeline, OverRampsAndThenHolds) {
  Plan plan = plan_of({1});
  plan.stages = {lasting(users({{0, 600}}), 60, 30), lasting(users({{0, 300}}), 10, {})};
  const auto stages = timeline(plan);
  EXPECT_EQ(stages[0].end, StageEnd::after_length);
  EXPECT_THAT(stages[0].length_s, DoubleEq(90));
  EXPECT_THAT(stages[0].users.at(0).over_s, DoubleEq(60));
  EXPECT_THAT(stages[0].asked_rate, DoubleEq(10));
  EXPECT_THAT(asked_rate_at(stages[0], 59.9), DoubleEq(10));
  EXPECT_EQ(asked_rate_at(stages[0], 60), 0);
  EXPECT_EQ(text(stages[1].users.at(0)), "0: 600 -> 300");
}

TEST(Timeline, UsersWithoutPaceAreDueAtOnce) {  // P089: 0 s is a jump
  Plan plan = plan_of({1});
  plan.stages = {lasting(users({{0, 7}}), {}, 5), users({{0, 0}})};
  const auto stages = timeline(plan);
  EXPECT_EQ(stages[0].users.at(0).over_s, 0);
  EXPECT_THAT(stages[0].length_s, DoubleEq(5));
  EXPECT_EQ(stages[1].end, StageEnd::after_length);
  EXPECT_EQ(stages[1].length_s, 0);
}

TEST(Timeline, ArrivalsGoOnFromTheRateOfTheStageBefore) {
  Plan plan = plan_of({3, 1});
  plan.stages = {lasting(arrivals(200), 10, {}), lasting({}, {}, 20), lasting(arrivals(1000), 2, 10),
                 lasting(arrivals(200), {}, 10), arrivals(0)};
  const auto stages = timeline(plan);
  const std::vector<double> from = {0, 200, 200, 1000}, to = {200, 200, 1000, 200}, over = {10, 0, 2, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(stages[i].arrivals.size(), 1u);
    const ArrivalChange& change = stages[i].arrivals[0];
    EXPECT_EQ(change.stream, 0u);
    EXPECT_THAT((std::vector{change.from_per_s, change.to_per_s, change.over_s}),
                ElementsAre(from[i], to[i], over[i]));
    EXPECT_EQ(stages[i].end, StageEnd::after_length);
  }
  EXPECT_THAT(stages[2].length_s, DoubleEq(12));
  EXPECT_THAT(stages[2].asked_rate, DoubleEq(1000));
  EXPECT_THAT(asked_rate_at(stages[2], 1), DoubleEq(600));
  EXPECT_EQ(stages[4].end, StageEnd::when_drained);
  EXPECT_EQ(stages[4].length_s, 0);
  EXPECT_THAT(stages[4].arrivals, IsEmpty());
}

TEST(Timeline, ArrivalsThatEndByARampOrAHoldDoNotWaitForTheLastSession) {
  Plan plan = plan_of({1});
  plan.stages = {lasting(arrivals(100), {}, 5), lasting(arrivals(0), 5, {}), lasting(arrivals(0), {}, 3)};
  const auto stages = timeline(plan);
  EXPECT_EQ(stages[1].end, StageEnd::after_length);
  EXPECT_EQ(stages[1].arrivals.size(), 1u) << "a ramp down to 0 still has arrivals";
  EXPECT_EQ(stages[2].end, StageEnd::after_length);
  EXPECT_THAT(stages[2].arrivals, IsEmpty());
}

TEST(Timeline, AMapOfArrivalsTakesTheSharedStreamApartByWeight) {
  Plan plan = plan_of({3, 1});
  plan.stages = {lasting(arrivals(200), {}, 5), lasting(arrivals_by_scenario({{1, 10}}), 5, {})};
  const StageTimeline second = timeline(plan).at(1);
  ASSERT_EQ(second.arrivals.size(), 2u);
  EXPECT_EQ(second.arrivals[0].stream, 1u);
  EXPECT_THAT(second.arrivals[0].from_per_s, DoubleEq(150));
  EXPECT_THAT(second.arrivals[0].to_per_s, DoubleEq(150)) << "not named, so it goes on";
  EXPECT_EQ(second.arrivals[1].stream, 2u);
  EXPECT_THAT(second.arrivals[1].from_per_s, DoubleEq(50));
  EXPECT_THAT(second.arrivals[1].to_per_s, DoubleEq(10));
}

TEST(Timeline, APlainNumberOfArrivalsAddsSingleStreamsUp) {
  Plan plan = plan_of({3, 1});
  plan.stages = {lasting(arrivals_by_scenario({{0, 30}, {1, 10}}), {}, 5), lasting(arrivals(100), 5, {})};
  const StageTimeline second = timeline(plan).at(1);
  ASSERT_EQ(second.arrivals.size(), 1u);
  EXPECT_EQ(second.arrivals[0].stream, 0u);
  EXPECT_THAT(second.arrivals[0].from_per_s, DoubleEq(40));
  EXPECT_THAT(second.arrivals[0].to_per_s, DoubleEq(100));
}

TEST(Timeline, ArrivalsGoOnWhileUsersChangeAtARate) {
  Plan plan = plan_of({1, 1});
  plan.stages = {lasting(arrivals(20), {}, 5), at_rate(users({{1, 100}}), 10)};
  const StageTimeline second = timeline(plan).at(1);
  EXPECT_EQ(second.end, StageEnd::when_settled);
  ASSERT_EQ(second.arrivals.size(), 1u);
  EXPECT_THAT(second.arrivals[0].to_per_s, DoubleEq(20));
  EXPECT_THAT(second.asked_rate, DoubleEq(30));
}

// P049: users per agent when user j of scenario s belongs to agent (user_base(s) + j) % agents.
std::vector<std::uint64_t> users_per_agent(const Plan& plan, std::uint32_t agents) {
  std::vector<std::uint64_t> held(agents);
  const auto bases = user_bases(plan);
  for (const auto& [scenario, wanted] : plan.stages.at(0).users)
    for (std::uint64_t j = 0; j < wanted; ++j) ++held[(bases[scenario] + j) % agents];
  return held;
}

TEST(Timeline, FewUsersAreSharedOutWhole) {  // P049
  const auto one_stage = [](std::size_t kinds, std::uint64_t users_each) {
    Plan plan = plan_of(std::vector<double>(kinds, 1));
    plan.stages.resize(1);
    for (std::uint32_t s = 0; s < kinds; ++s) plan.stages[0].users[s] = users_each;
    return plan;
  };
  EXPECT_THAT(users_per_agent(one_stage(1, 1), 3), ElementsAre(1, 0, 0));
  EXPECT_THAT(users_per_agent(one_stage(1, 2), 3), ElementsAre(1, 1, 0));
  EXPECT_THAT(users_per_agent(one_stage(12, 1), 5), ElementsAre(3, 3, 2, 2, 2));
  EXPECT_THAT(users_per_agent(one_stage(1, 20), 6), ElementsAre(4, 4, 3, 3, 3, 3));
  EXPECT_THAT(users_per_agent(one_stage(1, 8), 6), ElementsAre(2, 2, 1, 1, 1, 1));
  EXPECT_THAT(users_per_agent(one_stage(1, 30), 16), testing::Each(testing::AnyOf(1, 2)));
}

TEST(Timeline, UserNumbersAreUniqueOverAllStages) {
  Plan plan = plan_of({1, 1, 1});
  plan.stages = {users({{0, 10}, {2, 5}}), users({{0, 3}, {1, 4}}), users({{0, 20}, {1, 1}})};
  EXPECT_THAT(user_bases(plan), ElementsAre(0, 20, 24));
}

TEST(Timeline, PeakCountsUsersBeingEndedUntilTheStageIsOver) {
  Plan plan = plan_of({1, 1});
  plan.stages = {users({{0, 100}, {1, 1}}), users({{0, 0}, {1, 50}}), users({{1, 80}})};
  EXPECT_EQ(peak_users(plan), 150u);
  EXPECT_EQ(peak_users(plan_of({1})), 0u);
}

TEST(Timeline, PeaksOfSharesAddUpToThePeakOfTheWhole) {
  Plan plan = plan_of({1, 1, 1});
  plan.stages = {users({{0, 101}, {1, 1}}), users({{2, 13}})};
  EXPECT_EQ(peak_users(plan), 115u);
  for (const std::uint32_t count : {1u, 2u, 3u, 7u, 200u}) {
    std::uint64_t sum = 0;
    for (std::uint32_t index = 0; index < count; ++index) {
      const std::uint64_t share = peak_users(plan, {index, count});
      EXPECT_LE(share, 115 / count + 1);
      sum += share;
    }
    EXPECT_EQ(sum, 115u) << count << " shares";
  }
}

TEST(Timeline, ArrivalsOfEachStageAreTheIntegralOfItsRate) {
  Plan plan = plan_of({3, 1});
  plan.stages = {lasting(arrivals(200), 10, {}), lasting({}, {}, 20), lasting(arrivals(1000), 2, 10),
                 lasting(arrivals(200), {}, 10), arrivals(0)};
  EXPECT_THAT(arrivals_by_stage(plan), ElementsAre(1000, 4000, 11'200, 2000, 0));
  plan.stages = {lasting(arrivals_by_scenario({{0, 0.25}, {1, 0.5}}), {}, 2), lasting({}, {}, 2)};
  EXPECT_THAT(arrivals_by_stage(plan), ElementsAre(2, 1)) << "halves are carried over for each stream";
}

Step think(Duration time) { return {ThinkStep{time}}; }

TEST(Timeline, MeanScriptTimeAddsUpWhatTheScriptWaitsFor) {
  Scenario visitor;
  visitor.script = {
      {ConnectStep{}},
      {RepeatStep{5u, {}, {}, {{RequestStep{}}, think({Duration::Kind::exponential, kSecond_ns / 2, 0})}}},
      think({Duration::Kind::uniform, kSecond_ns, 3 * kSecond_ns}),
      {RepeatStep{{}, 10 * kSecond_ns, kSecond_ns / 10, {{RequestStep{}}}}},
      {RepeatStep{4u, {}, 2 * kSecond_ns, {{SendStep{}}}}}};
  EXPECT_THAT(mean_script_s(visitor), DoubleEq(2.5 + 2 + 10 + 6));
  visitor.script.push_back({ListenStep{}});
  EXPECT_TRUE(std::isinf(mean_script_s(visitor)));
}

TEST(Timeline, MeanScriptTimeWeighsBranchesAndKnowsEveryThinkTime) {
  const Duration normal{Duration::Kind::normal, 0, 20 * kSecond_ns, 4 * kSecond_ns, kSecond_ns};
  const Duration log_normal{Duration::Kind::log_normal, 0, 20 * kSecond_ns, 8 * kSecond_ns, kSecond_ns};
  ChooseStep choose;
  choose.branches = {{3, {think(normal)}}, {1, {think(log_normal), {PingStep{}}}}};
  Scenario visitor;
  visitor.script = {{ConnectStep{}}, {choose}, {RepeatStep{2u, {}, {}, {{choose}}}}};
  EXPECT_THAT(mean_script_s(visitor), DoubleEq(3 * (0.75 * 4 + 0.25 * 8)));
}

TEST(Timeline, PeakSessionsAreRateTimesScriptTimeOrAllThatArrive) {
  Plan plan = plan_of({3, 1});
  plan.scenarios[0].script = {think({Duration::Kind::fixed, 2 * kSecond_ns, 0})};
  plan.scenarios[1].script = {think({Duration::Kind::fixed, 10 * kSecond_ns, 0})};
  plan.stages = {lasting(arrivals(200), 10, 20), lasting(arrivals(1000), 2, 10), arrivals(0)};
  EXPECT_THAT(peak_arrival_sessions(plan), DoubleEq(750 * 2 + 250 * 10));
  plan.scenarios[1].script = {{ListenStep{}}};  // never ends: a quarter of all arrivals
  EXPECT_THAT(peak_arrival_sessions(plan), DoubleEq(750 * 2 + (1000 + 4000 + 1200 + 10'000) / 4.0));
  plan.stages = {users({{0, 5}})};
  EXPECT_EQ(peak_arrival_sessions(plan), 0);
}

std::vector<std::uint64_t> counts(const Plan& plan, std::uint64_t first, std::uint64_t n,
                                  std::uint64_t step) {
  const ArrivalMix mix(plan);
  std::vector<std::uint64_t> count(plan.scenarios.size());
  for (std::uint64_t i = 0; i < n; ++i) ++count[mix.scenario(first + i * step)];
  return count;
}

TEST(ArrivalMix, WeightsAreExactInEveryBlock) {
  struct Case {
    std::vector<double> weights;
    std::vector<std::uint64_t> block;
  };
  for (const Case& c :
       {Case{{3, 1}, {3, 1}}, Case{{1}, {1}}, Case{{0.1, 0.9}, {1, 9}}, Case{{50, 25, 25}, {2, 1, 1}},
        Case{{0.3333333, 0.6666667}, {1, 2}}, Case{{0, 2, 1}, {0, 2, 1}}, Case{{12.5, 87.5}, {1, 7}},
        Case{{301, 100}, {301, 100}}, Case{{0, 5}, {0, 1}}, Case{{1, 999'999}, {1, 999'999}}}) {
    const Plan plan = plan_of(c.weights);
    const std::uint64_t block = std::accumulate(c.block.begin(), c.block.end(), std::uint64_t{0});
    EXPECT_EQ(ArrivalMix(plan).block(), block);
    for (const std::uint64_t b : {0u, 1u, 17u})
      EXPECT_EQ(counts(plan, b * block, block, 1), c.block) << "block " << b;
  }
}

TEST(ArrivalMix, WeightsWithoutShortProportionsAreKeptToAMillionth) {
  const ArrivalMix mix(plan_of({std::sqrt(2.0), 1}));
  EXPECT_LE(mix.block(), 1'000'000u);
  const auto block = counts(plan_of({std::sqrt(2.0), 1}), 0, mix.block(), 1);
  EXPECT_NEAR(static_cast<double>(block[0]) / static_cast<double>(mix.block()),
              std::sqrt(2.0) / (std::sqrt(2.0) + 1), 1e-6);
}

TEST(ArrivalMix, NoAgentSeesOnlyOneKind) {
  for (const auto& weights : {std::vector<double>{3, 1}, {1, 1}, {1, 1, 1, 1}, {5, 2, 1}, {301, 100}}) {
    const Plan plan = plan_of(weights);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::uint64_t agents = 1; agents <= 8; ++agents)
      for (std::uint64_t agent = 0; agent < agents; ++agent) {
        const auto seen = counts(plan, agent, 4000, agents);
        for (std::size_t s = 0; s < weights.size(); ++s) {
          const double expected = 4000 * weights[s] / sum;
          EXPECT_NEAR(static_cast<double>(seen[s]), expected, 5 * std::sqrt(expected))
              << "agent " << agent << " of " << agents << ", scenario " << s << " of " << weights.size();
        }
      }
  }
}

TEST(ArrivalMix, OrderDiffersByBlockAndSeedButNotByCall) {
  Plan plan = plan_of({1, 1, 1, 1, 1});
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (std::uint64_t block = 0; block < 5; ++block) {
      plan.seed = seed;
      std::vector<std::uint32_t> order;
      for (std::uint64_t k = 0; k < 5; ++k) order.push_back(scenario_of_arrival(plan, block * 5 + k));
      for (std::uint64_t k = 0; k < 5; ++k) EXPECT_EQ(order[k], ArrivalMix(plan).scenario(block * 5 + k));
      orders.insert(order);
    }
  EXPECT_GT(orders.size(), 15u) << "of 25 tries and 120 orders";
}

}  // namespace
}  // namespace onrush
