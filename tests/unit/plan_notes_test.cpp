#include "core/plan_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/plan_yaml.h"

namespace onrush {
namespace {

std::string noted(const std::string& yaml) {
  const auto plan = read_plan({"t.yaml", yaml, {}, ""});
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : render("t.yaml", plan.error()));
  return plan ? render_notes("t.yaml", notes(*plan, yaml)) : "";
}

TEST(PlanNotes, AThresholdThatNothingFeedsIsNoted) {
  EXPECT_EQ(
      noted("name: t\ntarget: ws://127.0.0.1/\nscenarios: {a: {script: [connect, listen]}}\n"
            "stages: [{name: s, users: 1, for: 1s}]\n"
            "thresholds:\n  - round_trip_time p99 < 1s\n  - reach > 99%\n  - dropped_arrivals == 0\n  - "
            "handshake_time p99 < 1s\n"),
      "t.yaml:6:5: note: 'round_trip_time p99 < 1s' will have nothing to judge: no script has a 'request'\n"
      "t.yaml:7:5: note: 'reach > 99%' will have nothing to judge: no 'listen' names the member 'sequence'\n"
      "t.yaml:8:5: note: 'dropped_arrivals == 0' will have nothing to judge: no stage has 'arrivals'\n");
}

TEST(PlanNotes, AResponseTimeNeedsAPacedRequest) {
  const std::string head =
      "name: t\ntarget: ws://127.0.0.1/\nstages: [{name: s, users: 1, for: 1s}]\nthresholds: [response_time "
      "p99 < 1s]\n";
  EXPECT_THAT(
      noted(head + "scenarios: {a: {script: [connect, {repeat: {times: 2, do: [{request: {text: a}}]}}]}}\n"),
      testing::HasSubstr("use round_trip_time"));
  EXPECT_EQ(noted(head +
                  "scenarios: {a: {script: [connect, {repeat: {every: 1s, do: [{request: {text: a}}]}}]}}\n"),
            "");
}

TEST(PlanNotes, BroadcastsOfAStageAreCounted) {
  std::ifstream in(std::string(ONRUSH_SOURCE_DIR) + "/plans/c1000k.yaml");
  std::ostringstream yaml;
  yaml << in.rdbuf();
  EXPECT_THAT(noted(yaml.str()),
              testing::HasSubstr("'reach' in stage 'broadcast' judges about 6 broadcasts"));
}

}  // namespace
}  // namespace onrush
