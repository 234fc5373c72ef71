// The chart of `onrush check --explain`, for plans of both models, wide, narrow and in ASCII.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "coordinator/check_explain.h"
#include "core/plan_yaml.h"
#include "golden_text.h"

namespace onrush {
namespace {

Plan plan_of(const std::string& yaml) {
  auto plan = read_plan({"plan.yaml", yaml, {}, ""});
  EXPECT_TRUE(plan) << (plan ? "" : render("plan.yaml", plan.error()));
  return plan ? std::move(*plan) : Plan{};
}

Plan shipped(const std::string& file) {
  std::ifstream stream{std::string{ONRUSH_SOURCE_DIR} + "/plans/" + file, std::ios::binary};
  return plan_of({std::istreambuf_iterator<char>{stream}, {}});
}

ViewStyle style(int width, bool unicode = true) { return {false, width, unicode}; }

void expect_width(const std::string& text, int width) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
}

TEST(Explain, DrawsUsersThatGrowHoldAndGo) {
  const std::string text = explain_timeline(shipped("hello.yaml"), style(80));
  expect_golden("explain/hello_80.txt", text);
  expect_width(text, 80);
}

TEST(Explain, DrawsArrivalsAndMarksTimesAfterAConditionAsEstimates) {
  const std::string text = explain_timeline(shipped("open-arrivals.yaml"), style(100));
  expect_golden("explain/open-arrivals_100.txt", text);
  expect_width(text, 100);
}

TEST(Explain, DrawsAMillionInANarrowTerminalOfAsciiAlone) {
  const std::string text = explain_timeline(shipped("c1000k.yaml"), style(50, false));
  expect_golden("explain/c1000k_ascii_50.txt", text);
  expect_width(text, 50);
  for (const char c : text) EXPECT_GE(c, 0) << "a byte beyond ASCII";
}

constexpr const char* kBoth = R"(
name: both
target: ws://127.0.0.1:1/
scenarios:
  resident: {script: [connect, listen]}
  visitor: {script: [connect, {think: 2s}, close]}
stages:
  - {name: residents, users: {resident: 500}, rate: 100/s}
  - {name: visitors, arrivals: {visitor: 20/s}, over: 10s, for: 30s}
  - {name: spike, users: {resident: 900}, for: 300ms}
  - {name: less, users: {resident: 1}, over: 5s, for: 20s}
  - {name: drain, arrivals: {visitor: 0/s}}
  - {name: down, users: 0, over: 5s}
)";

TEST(Explain, DrawsBothModelsOneBelowTheOther) {
  const std::string text = explain_timeline(plan_of(kBoth), style(90));
  expect_golden("explain/both_90.txt", text);
  expect_width(text, 90);
}

TEST(Explain, LosesNoSpikeHoweverShortAndStaysWithinAnyWidth) {
  const Plan plan = plan_of(kBoth);
  for (int width = 40; width <= 200; ++width) {
    const std::string text = explain_timeline(plan, style(width));
    expect_width(text, width);
    EXPECT_NE(text.find(" 900 │"), std::string::npos) << text;
  }
  expect_width(explain_timeline(plan, style(10)), 40);
}

TEST(Explain, APlanWithoutTimeHasNoChart) { EXPECT_EQ(explain_timeline(Plan{}, style(80)), ""); }

}  // namespace
}  // namespace onrush
