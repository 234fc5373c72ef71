// Thresholds by stage, scenario and window; by how much they held, and since when they did not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/measured_run.h"

namespace onrush {
namespace {

std::string with(const std::string& thresholds) {
  return "name: promises\ntarget: ws://127.0.0.1:80/echo\nscenarios:\n"
         "  quick: {script: [connect, {request: {text: a}}, close]}\n"
         "  slow: {script: [connect, {request: {text: a}}, close]}\n"
         "stages:\n  - {name: setup, users: {quick: 5, slow: 5}, over: 2s}\n  - {name: hold, for: 8s}\n"
         "thresholds:\n" +
         thresholds;
}

constexpr std::uint32_t kSetup = 0, kHold = 1, kQuick = 0, kSlow = 1;

/// Ten seconds: round trips of 1 ms (quick) and 10 ms (slow), and of 400 ms in seconds 5 to 7 (slow).
TestRun told(const std::string& thresholds) {
  TestRun run{with(thresholds), {"a1"}};
  run.stages({0, 2, 10});
  run.send(0, Second{0}.opened(kSetup, kQuick, 5).opened(kSetup, kSlow, 5).open(10));
  run.send(0, Second{1}.open(10));
  for (std::uint32_t second = 2; second < 10; ++second) {
    const bool bad = second >= 5 && second <= 7;
    Second told{second};
    told.count(kHold, kQuick, Counter::requests, 10).sample(kHold, kQuick, Time::round_trip, 1'000, 10);
    told.count(kHold, kSlow, Counter::requests, 10)
        .sample(kHold, kSlow, Time::round_trip, bad ? 400'000 : 10'000, 10);
    if (second == 6) {
      told.count(kHold, kSlow, Counter::requests, 1).count(kHold, kSlow, Counter::failed_requests, 1);
      told.count(kHold, kQuick, Counter::messages_sent, 50);
    }
    run.send(0, told.open(10));
  }
  return run;
}

TEST(Promises, AreTakenFromTheirScenario) {
  const TestRun run = told(
      "  - round_trip_time max < 5ms of quick\n"
      "  - round_trip_time max < 5ms of slow\n"
      "  - round_trip_time p50 < 15ms in hold of slow\n"
      "  - requests == 81 of slow\n"
      "  - open == 5 of quick\n"
      "  - failed_requests < 1% of quick\n"
      "  - failed_requests < 1% of slow\n");
  std::vector<bool> held;
  for (const ThresholdResult& result : run.aggregate.thresholds()) held.push_back(result.held);
  EXPECT_THAT(held, ::testing::ElementsAre(true, false, true, true, true, true, false));
}

TEST(Promises, SayByHowMuchAndSinceWhen) {
  const TestRun run = told(
      "  - round_trip_time p99 < 250ms\n"
      "  - round_trip_time max <= 500ms\n"
      "  - failed_requests == 0\n"
      "  - failed_requests < 5\n"
      "  - requests > 200\n"
      "  - opened == 10\n");
  const std::vector<ThresholdResult> results = run.aggregate.thresholds();
  EXPECT_FALSE(results[0].held);
  EXPECT_NEAR(results[0].margin.value(), -150'000, 1000);
  EXPECT_EQ(results[0].margin_text, "150 ms");
  EXPECT_EQ(results[0].first_failed_s, 5U);
  EXPECT_TRUE(results[1].held);
  EXPECT_NEAR(results[1].margin.value(), 100'000, 1000);
  EXPECT_EQ(results[1].first_failed_s, std::nullopt);
  EXPECT_FALSE(results[2].held);
  EXPECT_EQ(results[2].margin, -1);
  EXPECT_EQ(results[2].first_failed_s, 6U);
  EXPECT_EQ(results[3].margin, 4);
  // A count that has to grow was missed by no single second.
  EXPECT_FALSE(results[4].held);
  EXPECT_EQ(results[4].margin, -39);
  EXPECT_EQ(results[4].first_failed_s, std::nullopt);
  EXPECT_TRUE(results[5].held);
}

TEST(Promises, WithAWindowFailOnlyByABreakThatLong) {
  const TestRun run = told(
      "  - round_trip_time p99 < 250ms for 3s\n"
      "  - round_trip_time p99 < 250ms for 4s\n"
      "  - round_trip_time p99 < 250ms for 1s of quick\n"
      "  - send_rate < 40/s for 1s in hold\n"
      "  - send_rate < 40/s for 2s\n"
      "  - delivery_time p99 < 1s for 2s\n");
  const std::vector<ThresholdResult> results = run.aggregate.thresholds();
  std::vector<bool> held;
  std::vector<std::optional<std::uint32_t>> since;
  for (const ThresholdResult& result : results) {
    held.push_back(result.held);
    since.push_back(result.first_failed_s);
  }
  EXPECT_THAT(held, ::testing::ElementsAre(false, true, true, false, true, false));
  EXPECT_THAT(since, ::testing::ElementsAre(5U, std::nullopt, std::nullopt, 6U, std::nullopt, std::nullopt));
  EXPECT_EQ(results[0].value_text, "400 ms");  // of the worst second
  EXPECT_EQ(results[5].value_text, "no samples");
}

TEST(Promises, AnAbortMayLookAtOneScenario) {
  std::string plan =
      with("  - round_trip_time p99 < 1s\n") + "abort:\n  - round_trip_time p99 > 100ms for 2s of ";
  for (const char* scenario : {"quick", "slow"}) {
    TestRun run{plan + scenario + "\n", {"a1"}};
    run.stages({0, 2, 10});
    for (std::uint32_t second = 0; second < 4; ++second)
      run.send(0, Second{second}
                      .count(kSetup, kSlow, Counter::requests, 1)
                      .sample(kSetup, kSlow, Time::round_trip, 200'000));
    EXPECT_EQ(run.aggregate.abort_reason().has_value(), scenario == std::string{"slow"});
  }
}

TEST(Promises, ScenariosThatAreNoneAreMistakes) {
  const auto bad = [](const char* text) { return parse_expression(text, {"hold"}, {"quick", "slow"}); };
  EXPECT_EQ(bad("opened > 1 of quik").error().message, "unknown scenario 'quik'; did you mean 'quick'?");
  EXPECT_EQ(bad("opened > 1 of").error().message, "a scenario is missing behind 'of'");
  EXPECT_EQ(bad("reach > 99% of quick").error().message, "'reach' is not kept by scenario; leave 'of' out");
  EXPECT_TRUE(bad("opened > 1 of slow in hold for 2s").has_value());
}

}  // namespace
}  // namespace onrush
