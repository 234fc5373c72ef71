// Whatever the ramps and however many share them: every item once, in order, on time.
#include "core/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/sanitized.h"

namespace onrush {
namespace {

/// One item of a share: its number, and when it is due in seconds of the whole run.
struct Item {
  std::uint64_t k;
  double due_s;
  friend bool operator==(const Item&, const Item&) = default;
};

std::vector<Ramp> random_ramps(std::mt19937_64& random) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::vector<Ramp> ramps;
  double rate = random() % 2 == 0 ? 0 : between(0, 50);
  for (std::uint64_t i = 0, n = 1 + random() % 6; i < n; ++i) {
    const double to = random() % 3 == 0 ? 0 : random() % 3 == 0 ? rate : std::pow(10, between(-2, 3));
    ramps.push_back({rate, to, std::pow(10, between(-3, 1.5))});
    rate = random() % 4 == 0 ? between(0, 100) : to;  // sometimes a jump
  }
  return ramps;
}

std::vector<Item> items(const std::vector<Ramp>& ramps, Share share) {
  std::vector<Item> all;
  double begun = 0;
  double begin_s = 0;
  for (const Ramp& ramp : ramps) {
    const Schedule schedule(ramp, begun, share);
    const std::size_t before = all.size();
    for (auto k = schedule.first(); k; k = schedule.after(*k)) {
      const double due_s = static_cast<double>(schedule.due_ns(*k)) / 1e9;
      EXPECT_TRUE(due_s >= 0 && due_s <= ramp.length_s + 1e-9);
      all.push_back({*k, begin_s + due_s});
    }
    EXPECT_EQ(all.size() - before, schedule.count());
    begun = schedule.ended();
    begin_s += ramp.length_s;
  }
  return all;
}

double integral_until(const std::vector<Ramp>& ramps, double t_s) {
  double sum = 0;
  for (const Ramp& ramp : ramps) {
    sum += arrivals_until(ramp, t_s);
    t_s -= ramp.length_s;
  }
  return sum;
}

constexpr std::uint64_t kSeeds = seeds(200);

TEST(ScheduleProperty, SharesOfAScheduleAreDisjointAndComplete) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::vector<Ramp> ramps = random_ramps(random);
    const std::vector<Item> whole = items(ramps, {0, 1});
    for (const std::uint32_t count : {2u, 3u, 7u, 20u, 64u}) {
      std::vector<Item> together;
      for (std::uint32_t index = 0; index < count; ++index) {
        const std::vector<Item> part = items(ramps, {index, count});
        together.insert(together.end(), part.begin(), part.end());
      }
      std::sort(together.begin(), together.end(), [](const Item& a, const Item& b) { return a.k < b.k; });
      EXPECT_TRUE(together == whole) << count << " shares";
    }
  }
}

TEST(ScheduleProperty, ConsecutiveRampsCountOnAsOne) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::vector<Ramp> ramps = random_ramps(random);
    const std::vector<Item> all = items(ramps, {0, 1});
    const double total = integral_until(ramps, 1e9);
    EXPECT_NEAR(static_cast<double>(all.size()), std::ceil(total - 1e-6), 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i].k, i);
      ASSERT_GE(all[i].due_s, (i > 0 ? all[i - 1].due_s : 0) - 1e-9) << i;
      // By its due time the integral has reached the item: within what half a nanosecond brings at 1000/s,
      // and a little.
      ASSERT_NEAR(integral_until(ramps, all[i].due_s), static_cast<double>(i), 1e-5) << i;
    }
  }
}

}  // namespace
}  // namespace onrush
