#include "core/schedule.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace onrush {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

std::vector<std::uint64_t> items(const Schedule& schedule) {
  std::vector<std::uint64_t> all;
  for (auto k = schedule.first(); k; k = schedule.after(*k)) all.push_back(*k);
  return all;
}

std::vector<double> due_seconds(const Schedule& schedule) {
  std::vector<double> due;
  for (const std::uint64_t k : items(schedule)) due.push_back(static_cast<double>(schedule.due_ns(k)) / 1e9);
  return due;
}

TEST(Schedule, TotalsAreExactlyTheIntegral) {
  struct Case {
    Ramp ramp;
    std::size_t total;
  };
  for (const Case& c : {Case{{10, 10, 60}, 600}, Case{{0, 200, 10}, 1000}, Case{{200, 1000, 2}, 1200},
                        Case{{1000, 0, 3}, 1500}, Case{{0, 0, 5}, 0}, Case{{1, 1, 0.5}, 1},
                        Case{{0.1, 0.1, 3000}, 300}, Case{{0.1, 0.3, 30}, 6}, Case{{1e-9, 0, 1}, 0}})
    EXPECT_EQ(items(Schedule(c.ramp, 0, {0, 1})).size(), c.total)
        << c.ramp.from_per_s << " to " << c.ramp.to_per_s << " in " << c.ramp.length_s;
}

TEST(Schedule, ItemsOfAConstantRateAreEvenlySpaced) {  // P097: no bursts at the turn of a second
  const auto due = due_seconds(Schedule({10, 10, 60}, 0, {0, 1}));
  ASSERT_EQ(due.size(), 600u);
  for (std::size_t i = 0; i < due.size(); ++i) EXPECT_DOUBLE_EQ(due[i], static_cast<double>(i) / 10);
}

TEST(Schedule, ARampFromRestStartsOneItemAtOnceAndThenLagsByTheSquareRoot) {
  EXPECT_THAT(
      due_seconds(Schedule({0, 8, 2}, 0, {0, 1})),
      testing::Pointwise(testing::DoubleNear(1e-9), {0.0, std::sqrt(0.5), 1.0, std::sqrt(1.5), std::sqrt(2.0),
                                                     std::sqrt(2.5), std::sqrt(3.0), std::sqrt(3.5)}));
}

TEST(Schedule, ARampToRestMirrorsOneFromRest) {  // its last items are due where the root's argument nears 0
  const double length_s = 10;
  const Schedule down({1'000'000, 0, length_s}, 0, {0, 1});
  const std::uint64_t total = 5'000'000;
  for (std::uint64_t left = 1; left <= 1000; ++left) {
    const double before_end_s = std::sqrt(static_cast<double>(left) * 2 * length_s / 1'000'000);
    EXPECT_NEAR(static_cast<double>(down.due_ns(total - left)), (length_s - before_end_s) * 1e9, 2) << left;
  }
  EXPECT_FALSE(down.after(total - 1));
}

TEST(Schedule, FractionalRatesStartOnTimeOnEightAgents) {  // P050
  for (const double rate : {0.1, 1.0 / 3, 1.0 / 7}) {
    std::vector<double> due;
    for (std::uint32_t agent = 0; agent < 8; ++agent)
      for (const double t : due_seconds(Schedule({rate, rate, 2000}, 0, {agent, 8}))) due.push_back(t);
    std::sort(due.begin(), due.end());
    ASSERT_EQ(due.size(), static_cast<std::size_t>(std::ceil(rate * 2000 - 1e-6)));
    for (std::size_t k = 0; k < due.size(); ++k) EXPECT_NEAR(due[k], static_cast<double>(k) / rate, 1e-8);
  }
}

TEST(Schedule, AnItemDueExactlyAtTheBorderBelongsToTheLaterRamp) {
  const Schedule first({10, 10, 1}, 0, {0, 1});
  const Schedule second({10, 10, 1}, first.ended(), {0, 1});
  EXPECT_EQ(items(first).back(), 9u);
  EXPECT_EQ(items(second).front(), 10u);
  EXPECT_EQ(second.due_ns(10), 0);
}

TEST(Schedule, AFractionOfAnItemIsCarriedOver) {
  const Schedule first({0.3, 0.3, 5}, 0, {0, 1});  // 1.5 items: 0 at 0 s, 1 at 3.33 s
  const Schedule second({0.3, 0.3, 5}, first.ended(), {0, 1});
  EXPECT_EQ(items(first).size(), 2u);
  EXPECT_EQ(items(second).size(), 1u);
  EXPECT_NEAR(static_cast<double>(second.due_ns(2)) / 1e9, 2 / 0.3 - 5, 1e-8);
}

TEST(Schedule, NoiseInTheSumsNeitherLosesNorDoublesAnItem) {
  double begun = 0;
  std::uint64_t next = 0;
  for (int stage = 0; stage < 10'000; ++stage) {  // 0.1 cannot be written in binary
    const Schedule schedule({0.1, 0.1, 10}, begun, {0, 1});
    EXPECT_THAT(items(schedule), testing::ElementsAre(next++));
    EXPECT_EQ(schedule.due_ns(next - 1) / 100'000, 0) << "due at the stage's begin";
    begun = schedule.ended();
  }
}

TEST(Schedule, ARateWithoutEndHasAlwaysANextItem) {
  const Schedule schedule({5, 5, kForever}, 0, {2, 3});
  EXPECT_EQ(schedule.first(), 2u);
  EXPECT_EQ(schedule.after(3'000'000'002), 3'000'000'005u);
  EXPECT_EQ(schedule.due_ns(3'000'000'002), 600'000'000'400'000'000);
}

TEST(Schedule, NoRateHasNoItemsHoweverLong) {
  EXPECT_FALSE(Schedule({0, 0, kForever}, 3.7, {0, 1}).first());
  EXPECT_EQ(Schedule({0, 0, kForever}, 3.7, {0, 1}).ended(), 3.7);
}

TEST(Schedule, FiveMillionASecondIsExact) {  // P097
  const Schedule whole({5e6, 5e6, 5}, 0, {0, 1});
  EXPECT_EQ(whole.ended(), 25e6);
  EXPECT_TRUE(whole.after(24'999'998));
  EXPECT_FALSE(whole.after(24'999'999));
  for (std::uint64_t k = 0; k < 25'000'000; k += 9973)
    EXPECT_EQ(whole.due_ns(k), static_cast<std::int64_t>(k) * 200);
}

TEST(Schedule, ASecondSoFarAwayThatItCannotBeCountedIsNever) {
  EXPECT_EQ(Schedule({1e-12, 1e-12, kForever}, 0, {0, 1}).due_ns(1),
            std::numeric_limits<std::int64_t>::max());
}

TEST(Schedule, ArrivalsUntilAMomentFollowTheIntegral) {
  EXPECT_DOUBLE_EQ(arrivals_until({0, 200, 10}, 5), 250);
  EXPECT_DOUBLE_EQ(arrivals_until({0, 200, 10}, 10), 1000);
  EXPECT_DOUBLE_EQ(arrivals_until({0, 200, 10}, 11), 1000);
  EXPECT_DOUBLE_EQ(arrivals_until({0, 200, 10}, -1), 0);
  EXPECT_DOUBLE_EQ(arrivals_until({7, 7, kForever}, 3), 21);
  EXPECT_DOUBLE_EQ(arrivals_until({0, 0, kForever}, kForever), 0);
}

}  // namespace
}  // namespace onrush
