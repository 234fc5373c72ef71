#include "core/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace onrush {
namespace {

using Samples = std::vector<std::int64_t>;

Samples any_samples(std::mt19937_64& random) {
  Samples samples(random() % 400);
  for (auto& sample : samples) sample = static_cast<std::int64_t>(random() >> (random() % 36 + 28));
  return samples;
}

Histogram of(const Samples& samples) {
  Histogram histogram;
  for (const std::int64_t sample : samples) histogram.record(sample);
  return histogram;
}

Histogram merged(std::initializer_list<const Histogram*> parts) {
  Histogram whole;
  for (const Histogram* part : parts) whole.add(*part);
  return whole;
}

void expect_same(const Histogram& a, const Histogram& b) {
  EXPECT_EQ(a.encode(), b.encode());
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.sum_us(), b.sum_us());
  EXPECT_EQ(a.min_us(), b.min_us());
  EXPECT_EQ(a.max_us(), b.max_us());
  EXPECT_EQ(a.above_range(), b.above_range());
}

class HistogramProperty : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  std::mt19937_64 random_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Seeds, HistogramProperty, ::testing::Range<std::uint64_t>(1, 51));

TEST_P(HistogramProperty, MergeCommutesAndAssociates) {
  const Histogram a = of(any_samples(random_));
  const Histogram b = of(any_samples(random_));
  const Histogram c = of(any_samples(random_));
  expect_same(merged({&a, &b}), merged({&b, &a}));
  const Histogram ab = merged({&a, &b});
  const Histogram bc = merged({&b, &c});
  expect_same(merged({&ab, &c}), merged({&a, &bc}));
}

TEST_P(HistogramProperty, QuantilesOfTheMergedAreQuantilesOfTheUnion) {
  const Samples a = any_samples(random_);
  const Samples b = any_samples(random_);
  Samples both = a;
  both.insert(both.end(), b.begin(), b.end());
  if (both.empty()) return;
  const Histogram ha = of(a);
  const Histogram hb = of(b);
  const Histogram whole = merged({&ha, &hb});
  expect_same(whole, of(both));

  std::sort(both.begin(), both.end());
  for (std::size_t rank = 1; rank <= both.size(); ++rank) {
    const std::int64_t truth = both[rank - 1];
    const std::int64_t told = whole.quantile_us(static_cast<double>(rank) / static_cast<double>(both.size()));
    if (truth > Histogram::kHighest_us) {
      EXPECT_EQ(told, whole.max_us());
    } else {
      EXPECT_GE(told, truth);
      EXPECT_LE(told - truth, truth / 1000) << "rank " << rank;
    }
  }
}

TEST_P(HistogramProperty, AddingEncodedIsAddingDirectly) {
  const Histogram a = of(any_samples(random_));
  const Histogram b = of(any_samples(random_));
  Histogram by_bytes = merged({&a});
  const auto added = by_bytes.add_encoded(b.encode(), b.exact());
  ASSERT_TRUE(added) << added.error();
  expect_same(by_bytes, merged({&a, &b}));
}

TEST_P(HistogramProperty, CountsUpToAValueNeverShrinkAndEndAtTheCount) {
  const Histogram histogram = of(any_samples(random_));
  std::uint64_t before = 0;
  for (std::int64_t value = 1; value < INT64_MAX / 3; value *= 3) {
    EXPECT_GE(histogram.count_at_or_below(value), before);
    before = histogram.count_at_or_below(value);
  }
  EXPECT_EQ(histogram.count_at_or_below(INT64_MAX), histogram.count());
}

}  // namespace
}  // namespace onrush
