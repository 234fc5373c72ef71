#include "core/clock_offset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

namespace onrush {
namespace {

/// An agent whose clock and whose way to the coordinator are known.
struct Wire {
  std::int64_t offset_ns;
  ClockOffset& clock;
  bool send(std::int64_t t1_ns, std::int64_t there_ns, std::int64_t back_ns) const {
    const std::int64_t t2 = t1_ns + there_ns + offset_ns;
    const std::int64_t t3 = t2 + 20'000;
    return clock.probe(t1_ns, t2, t3, t3 + back_ns - offset_ns);
  }
};

TEST(ClockOffset, NothingIsKnownBeforeTheFirstProbe) { EXPECT_FALSE(ClockOffset{}.at(5)); }

TEST(ClockOffset, EqualWaysGiveTheOffsetExactly) {
  ClockOffset clock;
  EXPECT_TRUE((Wire{90'000'000'000, clock}.send(1000, 50'000, 50'000)));
  EXPECT_EQ(clock.at(121'000)->offset_ns, 90'000'000'000);
  EXPECT_EQ(clock.at(121'000)->bound_ns, 50'000);
}

TEST(ClockOffset, UnequalWaysMissByNoMoreThanTheBound) {
  for (const std::int64_t offset_ns : std::vector<std::int64_t>{-90'000'000'000, -1, 0, 1, 7'000'000}) {
    for (const auto& [there_ns, back_ns] :
         {std::pair{0, 2'000'001}, {2'000'001, 0}, {1'000'000, 10'000}, {1, 0}}) {
      ClockOffset clock;
      (Wire{offset_ns, clock}.send(5'000'000'000, there_ns, back_ns));
      const ClockEstimate estimate = clock.at(0).value();
      EXPECT_LE(std::llabs(estimate.offset_ns - offset_ns), estimate.bound_ns)
          << there_ns << " there, " << back_ns;
    }
  }
}

TEST(ClockOffset, TheShortestRoundTripWins) {
  ClockOffset clock;
  const Wire wire{1'000'000, clock};
  wire.send(0, 5'000'000, 100'000);
  wire.send(10'000'000, 100'000, 100'000);
  wire.send(20'000'000, 100'000, 9'000'000);
  EXPECT_EQ(clock.at(20'000'000)->offset_ns, 1'000'000);
  EXPECT_LE(clock.at(20'000'000)->bound_ns, 101'000);
}

TEST(ClockOffset, AnOldProbeGivesWayOnceDriftHasSpoiltIt) {
  ClockOffset clock;
  (Wire{1'000'000, clock}.send(0, 100'000, 100'000));
  (Wire{1'050'000, clock}.send(1'000'000'000, 150'000, 150'000));  // a second later: 100 us of drift at most
  EXPECT_EQ(clock.at(1'000'000'000)->offset_ns, 1'050'000);
}

TEST(ClockOffset, TheBoundGrowsWithTheAgeOfTheProbe) {
  ClockOffset clock;
  (Wire{0, clock}.send(0, 1000, 1000));
  EXPECT_GT(clock.at(60'000'000'000)->bound_ns, 5'900'000);
  EXPECT_LT(clock.at(60'000'000'000)->bound_ns, 6'100'000);
}

TEST(ClockOffset, TimesThatContradictEachOtherAreNotUsed) {
  ClockOffset clock;
  EXPECT_FALSE(clock.probe(100, 50, 60, 90)) << "back before it was sent";
  EXPECT_FALSE(clock.probe(100, 60, 50, 200)) << "answered before it came";
  EXPECT_FALSE(clock.probe(100, 50, 500, 200)) << "answering took longer than the whole round trip";
  EXPECT_FALSE(clock.at(0));
}

TEST(ClockOffset, OneKernelHasOneClock) {
  ClockOffset clock;
  clock.same_kernel();
  (Wire{5'000'000, clock}.send(0, 1000, 1000));
  EXPECT_EQ(clock.at(1'000'000'000'000)->offset_ns, 0);
  EXPECT_EQ(clock.at(1'000'000'000'000)->bound_ns, 0);
}

TEST(ClockOffset, TheBoundHoldsUnderNoiseAndDriftForEverySeed) {  // P046
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> delay_us(1.0 / 300);
    const double drift = std::uniform_real_distribution<double>(-100e-6, 100e-6)(random);
    const double offset_ns = std::uniform_real_distribution<double>(-1e11, 1e11)(random);
    ClockOffset clock;
    for (std::int64_t now_ns = 0; now_ns < 120'000'000'000; now_ns += 1'000'000'000) {
      const auto ns = [&] { return static_cast<std::int64_t>(50'000 + delay_us(random) * 1000); };
      const auto now_offset_ns = std::llround(offset_ns + drift * static_cast<double>(now_ns));
      (Wire{now_offset_ns, clock}.send(now_ns, ns(), ns()));
      const ClockEstimate estimate = clock.at(now_ns).value();
      ASSERT_LE(std::llabs(estimate.offset_ns - now_offset_ns), estimate.bound_ns + 2) << "at " << now_ns;
      ASSERT_LT(estimate.bound_ns, 30'000'000);
    }
  }
}

}  // namespace
}  // namespace onrush
