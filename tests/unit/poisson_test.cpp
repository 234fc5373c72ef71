#include "core/poisson.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace onrush {
namespace {

struct Arrival {
  std::uint64_t number;
  std::int64_t due_ns;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

std::vector<Arrival> all_of(const Pace& pace, std::uint64_t first, std::uint64_t key, Share share) {
  std::vector<Arrival> all;
  for (PoissonArrivals arrivals(pace, first, key, share); !arrivals.over(); arrivals.next())
    all.push_back({arrivals.number(), arrivals.due_ns()});
  return all;
}

constexpr Pace kPaces[] = {{0, 200, 10, 10}, {200, 200, 0, 10}, {50, 400, 4, 12}, {400, 0, 5, 9}};

TEST(Poisson, SharesAddUpToTheWholeForAnyNumberOfThem) {
  for (const Pace& pace : kPaces) {
    const std::vector<Arrival> whole = all_of(pace, 17, 5, {0, 1});
    for (const std::uint32_t count : {2U, 3U, 7U, 20U}) {
      std::vector<Arrival> sum;
      for (std::uint32_t i = 0; i < count; ++i)
        for (const Arrival& a : all_of(pace, 17, 5, {i, count})) sum.push_back(a);
      std::sort(sum.begin(), sum.end(),
                [](const Arrival& a, const Arrival& b) { return a.number < b.number; });
      EXPECT_EQ(sum, whole);
    }
  }
}

TEST(Poisson, EveryShareKnowsWhereTheNextStageGoesOn) {
  for (const Pace& pace : kPaces)
    for (const double t_s : {0.0, 1.5, pace.length_s}) {
      const std::vector<Arrival> whole = all_of(pace, 17, 5, {0, 1});
      const auto before = std::count_if(whole.begin(), whole.end(), [&](const Arrival& a) {
        return static_cast<double>(a.due_ns) < t_s * 1e9;
      });
      for (std::uint32_t i = 0; i < 4; ++i) {
        PoissonArrivals arrivals(pace, 17, 5, {i, 4});
        while (!arrivals.over() && static_cast<double>(arrivals.due_ns()) < t_s * 1e9) arrivals.next();
        EXPECT_EQ(arrivals.number_at(t_s), 17U + static_cast<std::uint64_t>(before));
      }
    }
}

// Counts in equal intervals of a Poisson process: variance = mean; of a regular one the variance would be 0.
TEST(Poisson, CountsAndGapsAreThoseOfAPoissonProcess) {
  const std::vector<Arrival> all = all_of({100, 100, 0, 2000}, 0, 9, {0, 1});
  EXPECT_NEAR(static_cast<double>(all.size()), 200'000, 4 * std::sqrt(200'000));
  std::vector<double> counts(2000);
  double gaps = 0, squares = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    counts[std::min<std::size_t>(1999, static_cast<std::size_t>(all[i].due_ns / 1'000'000'000))] += 1;
    if (i == 0) continue;
    const double gap = static_cast<double>(all[i].due_ns - all[i - 1].due_ns) / 1e9;
    ASSERT_GE(gap, 0);
    gaps += gap, squares += gap * gap;
  }
  double mean = 0, variance = 0;
  for (const double c : counts) mean += c / 2000;
  for (const double c : counts) variance += (c - mean) * (c - mean) / 1999;
  EXPECT_NEAR(variance / mean, 1, 0.15);
  const double n = static_cast<double>(all.size() - 1);
  EXPECT_NEAR(gaps / n, 0.01, 0.0002);
  EXPECT_NEAR(squares / n - gaps / n * (gaps / n), 0.0001, 0.000005);  // exponential: variance = mean squared
}

TEST(Poisson, ARampFollowsItsIntegral) {
  const std::vector<Arrival> all = all_of({0, 2000, 10, 20}, 0, 3, {0, 1});
  const auto by = [&](double t_s) {
    return static_cast<double>(std::count_if(
        all.begin(), all.end(), [&](const Arrival& a) { return static_cast<double>(a.due_ns) < t_s * 1e9; }));
  };
  EXPECT_NEAR(by(5), 2500, 250);
  EXPECT_NEAR(by(10), 10'000, 500);
  EXPECT_NEAR(by(20), 30'000, 900);
}

TEST(Poisson, NothingArrivesWithoutARateAndAnEndlessStageGoesOn) {
  EXPECT_TRUE(all_of({0, 0, 0, 10}, 0, 3, {0, 1}).empty());
  PoissonArrivals endless({5, 5, 0, std::numeric_limits<double>::infinity()}, 0, 3, {1, 2});
  for (int i = 0; i < 1000; ++i) endless.next();
  EXPECT_FALSE(endless.over());
  EXPECT_EQ(endless.number(), 2001U);
}

}  // namespace
}  // namespace onrush
