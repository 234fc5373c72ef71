#include "core/histogram.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <vector>

#include "tests/sanitized.h"

namespace onrush {
namespace {

constexpr double kQuantiles[] = {0, 0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1};

Histogram of(const std::vector<std::int64_t>& values) {
  Histogram histogram;
  for (const std::int64_t value : values) histogram.record(value);
  return histogram;
}

void expect_ordered_within_extremes(const Histogram& histogram) {
  std::int64_t before = histogram.min_us();
  for (const double quantile : kQuantiles) {
    EXPECT_GE(histogram.quantile_us(quantile), before) << quantile;
    before = histogram.quantile_us(quantile);
  }
  EXPECT_EQ(histogram.quantile_us(0), histogram.min_us());
  EXPECT_EQ(histogram.quantile_us(1), histogram.max_us());
}

// P043, P093
TEST(Histogram, OneSampleIsEveryQuantileExactly) {
  for (const std::int64_t value : {0l, 1l, 100l, 7'770l, 40'001l, 241'470l, 3'599'999'999l, 3'600'000'000l}) {
    const Histogram histogram = of({value});
    for (const double quantile : kQuantiles) EXPECT_EQ(histogram.quantile_us(quantile), value);
    EXPECT_EQ(histogram.mean_us(), static_cast<double>(value));
  }
}

// P043
TEST(Histogram, TwoEqualSamplesAreEveryQuantileExactly) {
  const Histogram histogram = of({241'470, 241'470});
  for (const double quantile : kQuantiles) EXPECT_EQ(histogram.quantile_us(quantile), 241'470);
}

// P043
TEST(Histogram, WithoutSamplesEverythingIsZeroAndCountSaysSo) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min_us(), 0);
  EXPECT_EQ(histogram.max_us(), 0);
  EXPECT_EQ(histogram.quantile_us(0.5), 0);
  EXPECT_EQ(histogram.count_at_or_below(INT64_MAX), 0u);
}

// P044
TEST(Histogram, SamplesAboveTheRangeAreCountedAndTheirMaximumIsExact) {
  constexpr std::int64_t kTwoHours_us = 7'200'000'000;
  Histogram a;
  a.record_many(1'000, 1'000'000);
  Histogram b;
  b.record_many(kTwoHours_us, 10);
  Histogram ab;
  ab.add(a);
  ab.add(b);
  Histogram ba;
  ba.add(b);
  ba.add(a);
  for (const Histogram* merged : {&ab, &ba}) {
    EXPECT_EQ(merged->count(), 1'000'010u);
    EXPECT_EQ(merged->quantile_us(0.99), 1'000);
    EXPECT_EQ(merged->max_us(), kTwoHours_us);
    EXPECT_EQ(merged->above_range(), 10u);
    EXPECT_EQ(merged->sum_us(), 1e9 + 10.0 * kTwoHours_us);
    EXPECT_EQ(merged->quantile_us(0.999999), kTwoHours_us);
  }
  EXPECT_EQ(ab.encode(), ba.encode());
}

TEST(Histogram, QuantilesStayOrderedBetweenMinimumAndMaximumForAnySamples) {
  std::mt19937_64 random{7};
  for (int round = 0; round < 200; ++round) {
    Histogram histogram;
    const auto samples = 1 + random() % 50;
    for (std::uint64_t i = 0; i < samples; ++i)
      histogram.record(static_cast<std::int64_t>(random() >> random() % 64));
    expect_ordered_within_extremes(histogram);
  }
}

TEST(Histogram, EveryBucketIsWithinAThousandthOfItsSamples) {
  for (std::int64_t value = 1; value < Histogram::kHighest_us; value = value * 21 / 20 + 1) {
    const Histogram histogram = of({0, value, Histogram::kHighest_us});
    EXPECT_GE(histogram.quantile_us(0.5), value);
    EXPECT_LE(histogram.quantile_us(0.5) - value, value / 1000) << value;
  }
}

TEST(Histogram, AQuantileThatFloatingPointOvershootsStillNamesTheRankMeant) {
  std::vector<std::int64_t> hundred;
  for (std::int64_t i = 1; i <= 100; ++i) hundred.push_back(i);
  const Histogram histogram = of(hundred);
  for (int percent = 1; percent <= 100; ++percent) EXPECT_EQ(histogram.quantile_us(percent / 100.0), percent);
}

TEST(Histogram, ANegativeSampleCountsAsZeroAndAQuantileThatIsNoNumberIsTheMinimum) {
  const Histogram histogram = of({-5, 3});
  EXPECT_EQ(histogram.min_us(), 0);
  EXPECT_EQ(histogram.sum_us(), 3);
  EXPECT_EQ(histogram.quantile_us(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(Histogram, ClearingForgetsEverything) {
  Histogram histogram = of({0, 5, 1'000'000, INT64_MAX});
  histogram.clear();
  EXPECT_EQ(histogram.encode(), Histogram{}.encode());
  histogram.record(9);
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.quantile_us(0.5), 9);
  EXPECT_EQ(histogram.count_at_or_below(8), 0u);
}

TEST(Histogram, CountsSamplesUpToABucketBound) {
  const Histogram histogram = of({50, 100, 101, 5'000'000, 7'200'000'000});
  EXPECT_EQ(histogram.count_at_or_below(49), 0u);
  EXPECT_EQ(histogram.count_at_or_below(100), 2u);
  EXPECT_EQ(histogram.count_at_or_below(60'000'000), 4u);
  EXPECT_EQ(histogram.count_at_or_below(Histogram::kHighest_us), 4u);
  EXPECT_EQ(histogram.count_at_or_below(INT64_MAX), 5u);
}

std::size_t resident_pages() {
  std::ifstream statm{"/proc/self/statm"};
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident;
}

TEST(Histogram, AThousandIdleHistogramsTouchNoPageOfTheirCounts) {
  std::vector<Histogram> idle;
  idle.reserve(1000);
  const std::size_t before = resident_pages();
  for (int i = 0; i < 1000; ++i) idle.emplace_back();
  for (Histogram& histogram : idle) {
    histogram.clear();
    histogram.add(idle.front());
    EXPECT_EQ(histogram.encode().size(), 41u);
  }
  // Their counts are 46 pages each; what may come is the vector's own elements, the page tables' accounting,
  // and what a sanitizer keeps of its own about all of these.
  EXPECT_LT(resident_pages() - before, kSanitized ? 5000u : 500u);
}

TEST(HistogramEncoding, BytesAreHdrHistogramsV2) {
  const std::string v2 = of({1, 1, 3}).encode();
  const std::string header{
      "\x1c\x84\x93\x13\0\0\0\x04\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x01\0\0\0\0\xd6\x93\xa4\0"
      "\x3f\xf0\0\0\0\0\0\0",
      40};
  // one empty bucket, then 2, one empty, 1: a single empty bucket is 0, counts are doubled by ZigZag.
  EXPECT_EQ(v2, header + std::string("\0\x04\0\x02", 4));
}

TEST(HistogramEncoding, SurvivesTheWayThereAndBackExactly) {
  std::mt19937_64 random{11};
  for (int round = 0; round < 100; ++round) {
    Histogram sent;
    for (std::uint64_t i = random() % 300; i > 0; --i)
      sent.record_many(static_cast<std::int64_t>(random() >> (random() % 40 + 24)), 1 + random() % 1'000'000);
    Histogram received;
    const auto added = received.add_encoded(sent.encode(), sent.exact());
    ASSERT_TRUE(added) << added.error();
    EXPECT_EQ(*added, sent.count());
    EXPECT_EQ(received.encode(), sent.encode());
    EXPECT_EQ(received.exact().sum_us, sent.exact().sum_us);
    for (const double quantile : kQuantiles)
      EXPECT_EQ(received.quantile_us(quantile), sent.quantile_us(quantile));
    const auto from_text = Histogram::decode_base64(sent.encode_base64());
    ASSERT_TRUE(from_text) << from_text.error();
    EXPECT_EQ(from_text->encode(), sent.encode());
  }
}

std::string why_not(const std::string& v2, const Histogram::Exact& exact) {
  Histogram histogram = of({17});
  const std::string before = histogram.encode();
  const auto added = histogram.add_encoded(v2, exact);
  EXPECT_EQ(histogram.encode(), before) << "a refused encoding must add nothing";
  return added ? "" : added.error();
}

TEST(HistogramEncoding, RefusesWhatIsNotOursAndSaysWhy) {
  const Histogram sound = of({1, 1, 3});
  const std::string v2 = sound.encode();
  const Histogram::Exact exact = sound.exact();
  const auto with = [&](std::size_t at, char byte) {
    std::string changed = v2;
    changed[at] = byte;
    return changed;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(why_not("", exact), HasSubstr("shorter than its header"));
  EXPECT_THAT(why_not(v2.substr(0, 39), exact), HasSubstr("shorter than its header"));
  EXPECT_THAT(why_not(with(3, '\x01'), exact), HasSubstr("not an HdrHistogram V2"));
  EXPECT_THAT(why_not(v2 + '\0', exact), HasSubstr("its length"));
  EXPECT_THAT(why_not(v2.substr(0, 43), exact), HasSubstr("its length"));
  EXPECT_THAT(why_not(with(11, '\x01'), exact), HasSubstr("shifted"));
  EXPECT_THAT(why_not(with(15, '\x02'), exact), HasSubstr("precision"));
  EXPECT_THAT(why_not(with(23, '\x02'), exact), HasSubstr("range"));
  EXPECT_THAT(why_not(with(31, '\x01'), exact), HasSubstr("range"));
  EXPECT_THAT(why_not(with(32, '\x40'), exact), HasSubstr("scaled"));
  EXPECT_THAT(why_not(with(43, '\x80'), exact), HasSubstr("within a number"));
}

std::string with_payload(const std::string& payload) {
  std::string v2 = Histogram{}.encode().substr(0, 40) + payload;
  v2[7] = static_cast<char>(payload.size());
  return v2;
}

TEST(HistogramEncoding, RefusesBucketsThatCannotBe) {
  const Histogram::Exact zero{0, 0, 0, 0};
  using ::testing::HasSubstr;
  EXPECT_THAT(why_not(with_payload("\x81\xf0\x02"), zero), HasSubstr("more buckets"));  // a run of 23,553
  EXPECT_THAT(why_not(with_payload(std::string(9, '\xff')), zero), HasSubstr("more buckets"));
  const std::string most = "\xfe\xff\xff\xff\xff\xff\xff\xff\xff";  // INT64_MAX
  EXPECT_THAT(why_not(with_payload(most + '\x02'), zero), HasSubstr("overflow"));
  EXPECT_THAT(why_not(with_payload(most), zero), HasSubstr("overflow"));  // with the one that is there
  EXPECT_THAT(why_not(with_payload(std::string{"\xfb\xea\x02\x02"}), zero), HasSubstr("above its range"));
}

TEST(HistogramEncoding, NamesTheExactFigureThatDoesNotFit) {
  const std::string v2 = of({10, 20'000}).encode();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using ::testing::HasSubstr;
  EXPECT_THAT(why_not(v2, {20'010, 11, 20'000, 0}), HasSubstr("minimum or maximum"));
  EXPECT_THAT(why_not(v2, {20'010, 10, 30'000, 0}), HasSubstr("minimum or maximum"));
  EXPECT_THAT(why_not(v2, {20'010, -1, 20'000, 0}), HasSubstr("minimum or maximum"));
  EXPECT_THAT(why_not(v2, {20'010, 10, 20'000, 1}), HasSubstr("above the range"));
  EXPECT_THAT(why_not(v2, {19, 10, 20'000, 0}), HasSubstr("sum"));
  EXPECT_THAT(why_not(v2, {nan, 10, 20'000, 0}), HasSubstr("sum"));
  EXPECT_THAT(why_not(Histogram{}.encode(), {1, 0, 0, 0}), HasSubstr("without samples"));
}

TEST(HistogramEncoding, RefusesBrokenText) {
  const std::string text = of({1, 2, 3'000'000}).encode_base64();
  EXPECT_TRUE(Histogram::decode_base64(text));
  EXPECT_FALSE(Histogram::decode_base64(""));
  EXPECT_FALSE(Histogram::decode_base64("===="));
  EXPECT_FALSE(Histogram::decode_base64(text.substr(1)));
  EXPECT_FALSE(Histogram::decode_base64(text.substr(0, text.size() - 4)));
  EXPECT_FALSE(Histogram::decode_base64(text + "AAAA"));
  EXPECT_FALSE(Histogram::decode_base64(std::string(1'000'000, 'A')));
}

TEST(HistogramEncoding, NeverFailsOtherThanByAnErrorWhateverTheBytes) {
  std::mt19937_64 random{13};
  const Histogram sound = of({3, 400, 50'000, 6'000'000, 7'200'000'000});
  const std::string v2 = sound.encode();
  const std::string text = sound.encode_base64();
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = v2;
    for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    Histogram histogram;
    if (!histogram.add_encoded(bytes, sound.exact())) ++refused;
    expect_ordered_within_extremes(histogram);
    std::string letters = text;
    letters[random() % letters.size()] = "ABab01+/=x"[random() % 10];
    const auto decoded = Histogram::decode_base64(letters);
    if (decoded) expect_ordered_within_extremes(*decoded);
  }
  EXPECT_GT(refused, 15'000);
}

}  // namespace
}  // namespace onrush
