#include "agent/captures.h"

#include <gmock/gmock.h>

namespace onrush {
namespace {

Plan plan_with(std::vector<std::vector<CaptureName>> scenarios) {
  Plan plan;
  for (auto& captures : scenarios) {
    Scenario& scenario = plan.scenarios.emplace_back();
    scenario.captures = std::move(captures);
  }
  return plan;
}

TEST(Captures, APlanThatKeepsNothingHasNone) {
  const Plan plan = plan_with({{}, {}});
  EXPECT_FALSE(Captures(plan, 1000).any());
}

TEST(Captures, EachUserHasItsOwnAndTheyDoNotTouch) {
  const Plan plan = plan_with({{{"a", 4}, {"b", 3}}, {}, {{"c", 300}}});
  Captures captures{plan, 3};
  ASSERT_TRUE(captures.any());
  for (const SlotIndex slot : {1u, 2u}) {
    EXPECT_TRUE(captures.put(slot, 0, 0, slot == 1 ? "aaaa" : "AAAA"));
    EXPECT_TRUE(captures.put(slot, 0, 1, slot == 1 ? "bbb" : ""));
  }
  EXPECT_TRUE(captures.put(3, 2, 0, std::string(300, 'c')));
  EXPECT_THAT(captures.values(1, 0), testing::ElementsAre("aaaa", "bbb"));
  EXPECT_THAT(captures.values(2, 0), testing::ElementsAre("AAAA", ""));
  EXPECT_THAT(captures.values(3, 2), testing::ElementsAre(std::string(300, 'c')));
  captures.clear(1, 0);
  EXPECT_THAT(captures.values(1, 0), testing::ElementsAre("", ""));
  EXPECT_THAT(captures.values(2, 0), testing::ElementsAre("AAAA", ""));
}

TEST(Captures, WhatIsTooLongIsRefusedAndTheOldValueStays) {
  const Plan plan = plan_with({{{"a", 4}}});
  Captures captures{plan, 1};
  EXPECT_TRUE(captures.put(1, 0, 0, "old"));
  EXPECT_FALSE(captures.put(1, 0, 0, "newer"));
  EXPECT_EQ(captures.get(1, 0, 0), "old");
  EXPECT_TRUE(captures.put(1, 0, 0, ""));
  EXPECT_EQ(captures.get(1, 0, 0), "");
}

}  // namespace
}  // namespace onrush
