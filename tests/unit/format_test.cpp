#include "core/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace onrush {
namespace {

TEST(Format, CountsHaveThousandsCommas) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1'000'001), "1,000,001");
  EXPECT_EQ(format_count(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Format, TimesHaveThreeDigitsAndTheUnitThatSuits) {
  EXPECT_EQ(format_time_us(0), "0 us");
  EXPECT_EQ(format_time_us(999), "999 us");
  EXPECT_EQ(format_time_us(1000), "1.00 ms");
  EXPECT_EQ(format_time_us(2836), "2.84 ms");
  EXPECT_EQ(format_time_us(9996), "10.0 ms");
  EXPECT_EQ(format_time_us(41'230), "41.2 ms");
  EXPECT_EQ(format_time_us(99'960), "100 ms");
  EXPECT_EQ(format_time_us(999'499), "999 ms");
  EXPECT_EQ(format_time_us(999'500), "1.00 s");
  EXPECT_EQ(format_time_us(6'420'000), "6.42 s");
  EXPECT_EQ(format_time_us(1'020'000'000), "1,020 s");
  EXPECT_EQ(format_time_us(-12'300), "-12.3 ms");
  EXPECT_EQ(format_time_us(std::numeric_limits<std::int64_t>::max()), "9,223,372,036,855 s");
}

TEST(Format, BytesGoUpByThousands) {
  EXPECT_EQ(format_bytes(131), "131 B");
  EXPECT_EQ(format_bytes(8320), "8.3 KB");
  EXPECT_EQ(format_bytes(9960), "10 KB");
  EXPECT_EQ(format_bytes(84'008'400), "84 MB");
  EXPECT_EQ(format_bytes(999'600), "1.0 MB");
  EXPECT_EQ(format_bytes(5'100'000'000), "5.1 GB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "18 EB");
}

TEST(Format, RatesAreWholeFromAHundredAndNeverRoundedAway) {
  EXPECT_EQ(format_rate(0), "0/s");
  EXPECT_EQ(format_rate(10'000), "10,000/s");
  EXPECT_EQ(format_rate(99.96), "100/s");
  EXPECT_EQ(format_rate(10), "10/s");
  EXPECT_EQ(format_rate(2.5), "2.5/s");
  EXPECT_EQ(format_rate(0.1), "0.1/s");
  EXPECT_EQ(format_rate(1.0 / 3), "0.333/s");
  EXPECT_EQ(format_rate(0.00012), "0.00012/s");
}

TEST(Format, ASharesEndsAreOnlyForNoneAndAll) {
  EXPECT_EQ(format_share(0), "0.00 %");
  EXPECT_EQ(format_share(1), "100.00 %");
  EXPECT_EQ(format_share(0.145), "14.50 %");
  EXPECT_EQ(format_share(1e-6), "<0.01 %");
  EXPECT_EQ(format_share(0.999999), ">99.99 %");
  EXPECT_EQ(format_share(1.5), "150.00 %");
}

TEST(Format, AClockHasHoursMinutesSeconds) {
  EXPECT_EQ(format_clock(61'999'999), "00:01:01");
  EXPECT_EQ(format_clock(-5), "00:00:00");
  EXPECT_EQ(format_clock(400'000'000'000), "111:06:40");
}

TEST(Format, LengthsReadLikeAPlan) {
  EXPECT_EQ(format_length(90'000'000'000), "1m30s");
  EXPECT_EQ(format_length(250'000'000), "250ms");
  EXPECT_EQ(format_length(3'600'000'000'000), "1h");
  EXPECT_EQ(format_length(0), "0s");
  EXPECT_EQ(format_length(1'500'000'000), "1s500ms");
}

TEST(Format, SecondsInAColumnKeepOnlyDigitsThatMatter) {
  EXPECT_EQ(format_seconds(30), "30 s");
  EXPECT_EQ(format_seconds(100.23), "100.2 s");
  EXPECT_EQ(format_seconds(0.50005), "0.5 s");
  EXPECT_EQ(format_seconds(3000), "3,000 s");
}

}  // namespace
}  // namespace onrush
