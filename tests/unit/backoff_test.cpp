#include "core/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace onrush {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(Backoff, ThePauseGrowsByItsFactorUpToItsBound) {
  Random random{1};
  const Backoff plain{100 * kMs, 10'000 * kMs, 2, Jitter::none};
  std::vector<std::int64_t> pauses;
  for (std::uint32_t n = 1; n <= 9; ++n) pauses.push_back(pause_ns(plain, n, random) / kMs);
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{100, 200, 400, 800, 1600, 3200, 6400, 10'000, 10'000}));
  const Backoff constant{1000 * kMs, 1000 * kMs, 1, Jitter::none};
  EXPECT_EQ(pause_ns(constant, 1, random), pause_ns(constant, 1'000'000, random));
}

TEST(Backoff, NeitherManyAttemptsNorAGreatFactorOverflow) {
  const Backoff steep{1, 8'760LL * 3'600'000 * kMs, 100, Jitter::none};
  EXPECT_EQ(longest_pause_ns(steep, 1), 1);
  EXPECT_EQ(longest_pause_ns(steep, 1'000'000), steep.high_ns);
  EXPECT_EQ(longest_pause_ns(steep, 0), 1);
}

TEST(Backoff, JitterSpreadsOverItsRangeAndNeverBeyond) {
  for (const Jitter jitter : {Jitter::equal, Jitter::full}) {
    const Backoff backoff{100 * kMs, 10'000 * kMs, 2, jitter};
    const std::int64_t longest = 400 * kMs;
    const std::int64_t least = jitter == Jitter::full ? 0 : longest / 2;
    Random random{7};
    std::int64_t low = longest, high = 0;
    double sum = 0;
    constexpr int kDraws = 20'000;
    for (int i = 0; i < kDraws; ++i) {
      const std::int64_t pause = pause_ns(backoff, 3, random);
      ASSERT_GE(pause, least);
      ASSERT_LE(pause, longest);
      low = std::min(low, pause), high = std::max(high, pause);
      sum += static_cast<double>(pause);
    }
    EXPECT_LT(low, least + longest / 100);
    EXPECT_GT(high, longest - longest / 100);
    EXPECT_NEAR(sum / kDraws, static_cast<double>(least + longest) / 2, static_cast<double>(longest) / 100);
  }
}

TEST(Backoff, TheSameSeedGivesTheSamePauses) {
  const Backoff backoff;
  Random one{3}, other{3}, third{4};
  bool differs = false;
  for (std::uint32_t n = 1; n <= 20; ++n) {
    const std::int64_t pause = pause_ns(backoff, n, one);
    EXPECT_EQ(pause, pause_ns(backoff, n, other));
    differs |= pause != pause_ns(backoff, n, third);
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace onrush
