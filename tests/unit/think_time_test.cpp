#include "core/think_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace onrush {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr int kDraws = 200'000;

std::vector<double> draws_s(const Duration& time, std::uint64_t seed = 1) {
  Random random{seed};
  std::vector<double> all(kDraws);
  for (double& one : all) one = static_cast<double>(draw(time, random)) / 1e9;
  return all;
}

double mean_of(const std::vector<double>& all) {
  double sum = 0;
  for (const double one : all) sum += one;
  return sum / static_cast<double>(all.size());
}

double deviation_of(const std::vector<double>& all) {
  const double mean = mean_of(all);
  double sum = 0;
  for (const double one : all) sum += (one - mean) * (one - mean);
  return std::sqrt(sum / static_cast<double>(all.size()));
}

double share_up_to(const std::vector<double>& all, double limit) {
  const auto below = std::count_if(all.begin(), all.end(), [&](double one) { return one <= limit; });
  return static_cast<double>(below) / static_cast<double>(all.size());
}

TEST(ThinkTime, ANormalTimeHasTheMeanAndDeviationStated) {
  const Duration time{Duration::Kind::normal, 0, 10 * kSecond_ns, 2 * kSecond_ns, kSecond_ns / 2};
  const std::vector<double> all = draws_s(time);
  EXPECT_NEAR(mean_of(all), 2, 0.01);
  EXPECT_NEAR(deviation_of(all), 0.5, 0.01);
  EXPECT_NEAR(share_up_to(all, 2), 0.5, 0.005);
  EXPECT_NEAR(share_up_to(all, 2.5), 0.8413, 0.005);  // one deviation
  EXPECT_NEAR(share_up_to(all, 1), 0.0228, 0.002);    // two
  EXPECT_DOUBLE_EQ(mean_s(time), 2);
}

TEST(ThinkTime, ALogNormalTimeHasTheMeanAndDeviationStatedOfItselfNotOfItsLogarithm) {
  const Duration time{Duration::Kind::log_normal, 0, 1000 * kSecond_ns, 2 * kSecond_ns, kSecond_ns};
  const std::vector<double> all = draws_s(time);
  EXPECT_NEAR(mean_of(all), 2, 0.02);
  EXPECT_NEAR(deviation_of(all), 1, 0.03);
  // The median is mean / sqrt(1 + (deviation / mean)^2).
  EXPECT_NEAR(share_up_to(all, 2 / std::sqrt(1.25)), 0.5, 0.005);
  EXPECT_GT(*std::min_element(all.begin(), all.end()), 0);
}

TEST(ThinkTime, WhatLiesOutsideItsBoundsBecomesTheNearerOfThem) {
  for (const auto kind : {Duration::Kind::normal, Duration::Kind::log_normal}) {
    const std::vector<double> all =
        draws_s({kind, kSecond_ns, 3 * kSecond_ns, 2 * kSecond_ns, 5 * kSecond_ns});
    EXPECT_EQ(*std::min_element(all.begin(), all.end()), 1);
    EXPECT_EQ(*std::max_element(all.begin(), all.end()), 3);
  }
  const std::vector<double> wide =
      draws_s({Duration::Kind::normal, 0, 60 * kSecond_ns, kSecond_ns, 5 * kSecond_ns});
  EXPECT_EQ(*std::min_element(wide.begin(), wide.end()), 0);
}

TEST(ThinkTime, TheSameSeedGivesTheSameTimes) {
  const Duration time{Duration::Kind::log_normal, 0, 1000 * kSecond_ns, 2 * kSecond_ns, kSecond_ns};
  EXPECT_EQ(draws_s(time, 7), draws_s(time, 7));
  EXPECT_NE(draws_s(time, 7), draws_s(time, 8));
}

}  // namespace
}  // namespace onrush
