// The section `search` of a plan as values, and the plan of each trial.
#include "core/plan_search.h"

#include <gmock/gmock.h>

#include "core/plan_yaml.h"
#include "core/timeline.h"

namespace onrush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Settings = std::vector<std::pair<std::string, std::string>>;

const std::string kHead = R"(
name: searched
target: ws://127.0.0.1:1/
parameters: {top: 900}
scenarios:
  visitor: {weight: 3, script: [connect, {think: 1s}, close]}
  watcher: {script: [connect, listen]}
)";
const std::string kUsers = R"(
search: {raise: users, from: 100, to: "${top}", keep: [response_time p99 < 250ms, failed_connections < 1%, lost == 0]}
)";
const std::string kStages = R"(
stages: [{name: setup, users: 5, over: 1s}]
thresholds: [open > 1 in setup]
abort: [connect_pace < 20% for 10s in setup, failed_connections > 50%]
)";

Expected<Plan, std::vector<Diagnostic>> read(const std::string& yaml, Settings settings = {}) {
  return read_plan({"plan.yaml", yaml, std::move(settings), ""});
}

Plan good(const std::string& yaml, Settings settings = {}) {
  auto plan = read(yaml, std::move(settings));
  EXPECT_TRUE(plan) << (plan ? "" : render("plan.yaml", plan.error()));
  return plan ? std::move(*plan) : Plan{};
}

TEST(PlanSearch, HasItsDefaults) {
  const Plan plan = good(kHead + kUsers);
  ASSERT_TRUE(plan.search);
  const SearchRange range = range_of(*plan.search);
  EXPECT_EQ(range.from, 100u);
  EXPECT_EQ(range.to, 900u);
  EXPECT_EQ(range.factor, 2);
  EXPECT_EQ(range.step, 1u);
  EXPECT_EQ(range.step_share, 0.02);
  EXPECT_EQ(plan.search->hold_ns, 20'000'000'000);
  EXPECT_EQ(plan.search->over_ns, 5'000'000'000);
  EXPECT_EQ(range.trial_ns, 27'000'000'000);
  EXPECT_EQ(range.at_most_ns, 1'800'000'000'000);
}

TEST(PlanSearch, BringsALoadInWholeSecondsUnlessTold) {
  const auto over_ns = [](const std::string& more) {
    return good(kHead + "search: {raise: users, from: 1, to: 2, keep: [open > 0]" + more + "}")
        .search->over_ns;
  };
  EXPECT_EQ(over_ns(", hold: 3s"), 1'000'000'000);
  EXPECT_EQ(over_ns(", hold: 5s"), 2'000'000'000);
  EXPECT_EQ(over_ns(", hold: 5s, over: 1500ms"), 1'500'000'000);
}

TEST(PlanSearch, WithoutStagesAPlanIsItsFirstTrial) {
  const Plan plan = good(kHead + kUsers);
  const auto stages = timeline(plan);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].name, "raise");
  EXPECT_EQ(stages[0].length_s, 5);
  EXPECT_EQ(stages[1].name, "hold");
  EXPECT_EQ(stages[1].length_s, 20);
  EXPECT_THAT(stages[1].users_at_end, ElementsAre(75, 25)) << "by weight";
}

TEST(PlanSearch, WithStagesARunTakesNoNotice) {
  const Plan plan = good(kHead + kUsers + kStages);
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_EQ(plan.thresholds.size(), 1u);
  EXPECT_EQ(plan.abort.size(), 2u);
}

TEST(PlanSearch, ALoadMakesThePlanThatTrial) {
  const Plan plan =
      good(kHead + kUsers + kStages, {{"search.load", "40"}, {"top", "5k"}, {"search.load", "401"}});
  ASSERT_EQ(plan.stages.size(), 2u);
  EXPECT_THAT(timeline(plan)[1].users_at_end, ElementsAre(301, 100))
      << "the last --set wins, to the last user";
  EXPECT_EQ(plan.search->to, 5000);
  ASSERT_EQ(plan.thresholds.size(), 3u);
  EXPECT_EQ(plan.thresholds[0].stage, "hold");
  EXPECT_EQ(plan.thresholds[1].stage, "") << "users connect while the load comes";
  EXPECT_EQ(plan.thresholds[2].stage, "") << "a counter";
  ASSERT_EQ(plan.abort.size(), 1u);
  EXPECT_EQ(plan.abort[0].text, "failed_connections > 50%");
}

TEST(PlanSearch, JudgesTheTimeOfTlsWhereUsersConnect) {
  const Plan plan = good(kHead + "search: {raise: users, from: 1, to: 2, keep: [tls_time p99 < 1s]}");
  EXPECT_EQ(plan.thresholds.at(0).stage, "");
}

TEST(PlanSearch, APromiseMayBeBrokenLessLongThanItsFor) {
  const auto searched = [](const std::string& keep) {
    return kHead + "search: {raise: users, from: 1, to: 2, over: 1500ms, hold: 4s, keep: [" + keep + "]}";
  };
  const Plan plan =
      good(searched("response_time p99 < 1s for 3s, open > 0 for 1s in raise, lost < 9 for 5s"));
  ASSERT_EQ(plan.thresholds.size(), 3u);
  EXPECT_EQ(plan.thresholds[0].for_ns, 3'000'000'000);
  EXPECT_EQ(plan.thresholds[0].stage, "hold");
  // Whole seconds: of 1.5 s to 5.5 s there are 3, of the whole trial 5.
  for (const char* too_long :
       {"response_time p99 < 1s for 4s", "open > 0 for 2s in raise", "lost < 9 for 6s"}) {
    const auto refused = read(searched(too_long));
    ASSERT_FALSE(refused) << too_long;
    EXPECT_THAT(render("plan.yaml", refused.error()), HasSubstr("nothing could break it")) << too_long;
  }
}

TEST(PlanSearch, RaisesOneScenarioBesideOthers) {
  const Plan plan = good(kHead + R"(
search:
  raise: {users: watcher}
  from: 10
  to: 20
  keep: [handshake_time p99 < 1s in hold]
  beside: {visitor: 2}
)",
                         {{"search.load", "12"}});
  EXPECT_THAT(timeline(plan)[1].users_at_end, ElementsAre(2, 12));
  EXPECT_EQ(plan.thresholds[0].stage, "hold") << "as it was written";
}

TEST(PlanSearch, RaisesArrivalsToTheHundredth) {
  const std::string search = R"(
search: {raise: arrivals, from: 0.5/s, to: 100/s, step: 5%, keep: [failed_connections < 1%, dropped_arrivals == 0]}
)";
  const Plan plan = good(kHead + search, {{"search.load", "12.34/s"}});
  EXPECT_EQ(plan.stages[0].arrivals, 12.34);
  EXPECT_EQ(plan.thresholds[0].stage, "hold") << "arrivals connect all the time";
  EXPECT_EQ(plan.thresholds[1].stage, "");
  const SearchRange range = range_of(*plan.search);
  EXPECT_EQ(range.from, 50u);
  EXPECT_EQ(range.to, 10'000u);
  EXPECT_EQ(load_text(*plan.search, 1234), "12.34/s");
  EXPECT_EQ(load_text(*plan.search, 5), "0.05/s");
  EXPECT_EQ(load_of(*plan.search, 1234), 12.34);
  const Plan one = good(kHead + R"(
search: {raise: {arrivals: visitor}, from: 1/s, to: 2/s, keep: [open > 0], beside: {watcher: 3}}
)");
  EXPECT_EQ(one.stages[0].arrivals_by_scenario.at(0), 1);
  EXPECT_THAT(timeline(one)[1].users_at_end, ElementsAre(0, 3));
}

TEST(PlanSearch, EveryLoadOfASearchComesBackFromItsText) {
  const Plan arrivals = good(kHead + "search: {raise: arrivals, from: 0.01/s, to: 1m/s, keep: [open > 0]}");
  for (std::uint64_t units = 1; units < 100'000'000; units = units * 7 / 3 + 1) {
    const std::string text = load_text(*arrivals.search, units);
    Plan plan = good(kHead + "search: {raise: arrivals, from: 0.01/s, to: 1m/s, keep: [open > 0]}",
                     {{"search.load", text}});
    ASSERT_EQ(plan.stages[0].arrivals, load_of(*arrivals.search, units)) << text;
  }
}

TEST(PlanSearch, ALoadThatCannotBeIsAMistakeOfTheCommandLine) {
  const auto mistake = [](const std::string& yaml, const std::string& load) {
    const auto plan = read(yaml, {{"search.load", load}});
    return plan ? "" : render("plan.yaml", plan.error());
  };
  EXPECT_THAT(mistake(kHead + kStages, "5"), HasSubstr("--set search.load=5: the plan has no 'search'"));
  EXPECT_THAT(mistake(kHead + kUsers, "5/s"), HasSubstr("--set search.load=5/s: '5/s' is not a count"));
  EXPECT_THAT(mistake(kHead + kUsers, "0"), HasSubstr("there is no such load"));
}

}  // namespace
}  // namespace onrush
