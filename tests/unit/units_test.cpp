#include "core/units.h"

#include <gtest/gtest.h>

namespace onrush {
namespace {

TEST(Units, CountsAreDecimalWithUnderscoresAndSuffixes) {  // P034
  const std::pair<const char*, std::uint64_t> kGood[] = {
      {"0", 0},         {"10", 10},
      {"1_000", 1'000}, {"1_000_000", 1'000'000},
      {"50k", 50'000},  {"1m", 1'000'000},
      {"2.5k", 2'500},  {"0.5k", 500},
      {"1_0k", 10'000}, {"999999999999999999", 999'999'999'999'999'999}};
  for (const auto& [text, value] : kGood) {
    const auto count = parse_count(text);
    ASSERT_TRUE(count.has_value()) << text;
    EXPECT_EQ(*count, value) << text;
  }
  for (const char* bad : {"",
                          "010",
                          "00",
                          "0o17",
                          "0x10",
                          "0b1",
                          "+5",
                          "-1",
                          "1e3",
                          "1e999",
                          ".nan",
                          ".inf",
                          "NaN",
                          "inf",
                          "1:30",
                          "on",
                          "true",
                          "1__0",
                          "_1",
                          "1_",
                          "1.5",
                          "1,000",
                          "5K",
                          "5M",
                          "1 000",
                          " 5",
                          "5 ",
                          "5kk",
                          ".5k",
                          "5.",
                          "9999999999999999999",
                          "99999999999999999999999999",
                          "999999999999999999m",
                          "five",
                          "~"})
    EXPECT_FALSE(parse_count(bad).has_value()) << bad;
}

TEST(Units, DurationsHaveUnitsInFallingOrder) {  // P035, P089
  const std::pair<const char*, std::int64_t> kGood[] = {
      {"10s", 10'000'000'000}, {"250ms", 250'000'000},     {"500us", 500'000},
      {"2m", 120'000'000'000}, {"1h", 3'600'000'000'000},  {"1m30s", 90'000'000'000},
      {"1.5s", 1'500'000'000}, {"1s500ms", 1'500'000'000}, {"0s", 0},
      {"0.1us", 100},          {"2min", 120'000'000'000},  {"1_000ms", 1'000'000'000}};
  for (const auto& [text, ns] : kGood) {
    const auto duration = parse_duration(text);
    ASSERT_TRUE(duration.has_value()) << text;
    EXPECT_EQ(*duration, ns) << text;
  }
  for (const char* bad : {"",          "10",      "1:30", "0:90",     "-3s",
                          "+3s",       "s",       "10 s", "10S",      "30s1m",
                          "1m1m",      "1.5m30s", "1e3s", ".5s",      "1h.5m",
                          "10d",       ".inf",    "nans", "9999999h", "999999999999999999h",
                          "0.00001us", "10s ",    "on"})
    EXPECT_FALSE(parse_duration(bad).has_value()) << bad;
}

TEST(Units, ASexagesimalNumberIsRefusedWithTheWantedForm) {  // P035
  EXPECT_EQ(parse_duration("1:30").error(), "'1:30' is not a duration; write 1m30s");
  EXPECT_EQ(parse_duration("0:90").error(), "'0:90' is not a duration; write 1m30s");
  EXPECT_EQ(parse_duration("2:00").error(), "'2:00' is not a duration; write 2m");
  EXPECT_EQ(parse_duration("0:00").error(), "'0:00' is not a duration; write 0s");
  EXPECT_NE(parse_count("8081:22").error().find("'8081:22' is not a count"), std::string::npos);
}

TEST(Units, RatesNameTheirTime) {  // P050
  const std::pair<const char*, double> kGood[] = {
      {"500/s", 500}, {"0.1/s", 0.1}, {"10k/s", 10'000},    {"1 per 7s", 1.0 / 7},  {"60/min", 1},
      {"3600/h", 1},  {"0/s", 0},     {"5_000_000/s", 5e6}, {"200 per 2000s", 0.1}, {"1 per 1m30s", 1.0 / 90},
      {"6/m", 0.1}};
  for (const auto& [text, rate] : kGood) {
    const auto parsed = parse_rate(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_DOUBLE_EQ(*parsed, rate) << text;
  }
  for (const char* bad : {"", "500", "-5/s", "/s", "5/", "5/x", "5 /s", "1 per", "1 per 0s", "1 per 7",
                          "1e9/s", ".inf", "nan/s", "2000000001/s", "1per7s", "0.00000000001/s", "5/s/s"})
    EXPECT_FALSE(parse_rate(bad).has_value()) << bad;
}

TEST(Units, ARefusalSaysWhyAndWhatToWrite) {
  EXPECT_EQ(parse_count("010").error(),
            "'010' has a leading zero, which some readers take for octal; write a count such as 500, 50_000 "
            "or 50k");
  EXPECT_EQ(parse_duration("10").error(), "'10' has no unit; write 10s or 10ms");
  EXPECT_EQ(parse_rate("500").error(), "'500' has no unit; write 500/s");
  EXPECT_EQ(parse_count("5K").error(), "'5K' has a capital suffix; write k for thousands, m for millions");
}

}  // namespace
}  // namespace onrush
