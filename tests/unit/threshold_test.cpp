#include "core/threshold.h"

#include <gtest/gtest.h>

namespace onrush {
namespace {

const std::vector<std::string> kStages{"setup", "hold", "for", "in"};

Expression good(std::string_view text) {
  const auto parsed = parse_expression(text, kStages);
  EXPECT_TRUE(parsed.has_value()) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : Expression{};
}

ExpressionError bad(std::string_view text) {
  const auto parsed = parse_expression(text, kStages);
  EXPECT_FALSE(parsed.has_value()) << text;
  return parsed ? ExpressionError{} : parsed.error();
}

TEST(Threshold, TheExpressionsOfTheDesignAreUnderstood) {
  const Expression p99 = good("round_trip_time p99 < 250ms in hold");
  EXPECT_EQ(std::get<TimeStatistic>(p99.subject).time, Time::round_trip);
  EXPECT_DOUBLE_EQ(std::get<TimeStatistic>(p99.subject).quantile, 0.99);
  EXPECT_EQ(p99.comparison, Comparison::less);
  EXPECT_DOUBLE_EQ(p99.value, 250'000);
  EXPECT_EQ(p99.stage, "hold");
  EXPECT_EQ(p99.text, "round_trip_time p99 < 250ms in hold");

  const Expression failed = good("failed_connections < 0.1%");
  EXPECT_EQ(std::get<Figure>(failed.subject), Figure::failed_connections);
  EXPECT_TRUE(failed.share);
  EXPECT_DOUBLE_EQ(failed.value, 0.001);

  const Expression rate = good("connect_rate < 5000/s for 10s in setup");
  EXPECT_EQ(rate.for_ns, 10'000'000'000);
  EXPECT_DOUBLE_EQ(rate.value, 5000);
  EXPECT_EQ(good("connect_rate < 5000/s in setup for 10s").stage, "setup");

  EXPECT_DOUBLE_EQ(good("connect_pace < 20% for 10s in setup").value, 0.2);
  EXPECT_DOUBLE_EQ(good("connect_pace < 120%").value, 1.2);
  EXPECT_DOUBLE_EQ(good("reach > 99.9% in hold").value, 0.999);
  EXPECT_EQ(std::get<Counter>(good("dropped_arrivals == 0").subject), Counter::dropped_arrivals);
  EXPECT_DOUBLE_EQ(good("opened >= 10k").value, 10'000);
  EXPECT_DOUBLE_EQ(good("failed_connections != 3").value, 3);
}

TEST(Threshold, EveryMetricOfTheTableMayBeNamed) {
  for (std::size_t i = 0; i < kTimes; ++i) {
    const std::string name(describe(static_cast<Time>(i)).name);
    EXPECT_EQ(std::get<TimeStatistic>(good(name + " p99.9 < 1s").subject).time, static_cast<Time>(i));
    EXPECT_EQ(good(name + " count > 5").value, 5);
    for (const char* statistic : {" mean", " min", " max", " p100", " p0.1"})
      good(name + statistic + " <= 1.5ms");
  }
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    const Expression e = good(std::string(describe(counter).name) + " < 5");
    // This one has a share too, so it is a figure.
    if (counter == Counter::failed_requests)
      EXPECT_EQ(std::get<Figure>(e.subject), Figure::failed_requests);
    else
      EXPECT_EQ(std::get<Counter>(e.subject), counter) << e.text;
  }
}

TEST(Threshold, BlanksAroundTheComparisonMayBeLeftOut) {
  EXPECT_EQ(good("reach>99%").comparison, Comparison::greater);
  EXPECT_EQ(good("round_trip_time p99<=1s").comparison, Comparison::less_equal);
  EXPECT_EQ(good("  reach   >=\t99% ").comparison, Comparison::greater_equal);
  EXPECT_EQ(good("open > 5 in for").stage, "for");
  EXPECT_EQ(good("open > 5 in in").stage, "in");
}

TEST(Threshold, AValueWithoutItsUnitIsToldTheUnit) {
  EXPECT_EQ(bad("round_trip_time p99 < 250").message,
            "p99 of 'round_trip_time' is compared with 250, which has no unit; write 250ms");
  EXPECT_EQ(bad("round_trip_time p99 < 250").offset, 22u);
  EXPECT_EQ(bad("connect_rate < 500").message,
            "'connect_rate' is compared with 500, which has no unit; write 500/s");
  EXPECT_EQ(bad("reach > 99.9").message, "'reach' is compared with 99.9, which has no unit; write 99.9%");
}

TEST(Threshold, MisspeltNamesAreMistakes) {  // P070
  EXPECT_EQ(bad("round_trip p99 < 250ms").message,
            "unknown metric 'round_trip'; did you mean 'round_trip_time'?");
  EXPECT_EQ(bad("failed_conections < 1%").message,
            "unknown metric 'failed_conections'; did you mean 'failed_connections'?");
  EXPECT_EQ(bad("open > 5 in stup").message, "unknown stage 'stup'; did you mean 'setup'?");
  EXPECT_EQ(bad("open > 5 in stup").offset, 12u);
}

TEST(Threshold, WhatIsNoExpressionIsRefused) {
  for (const char* text : {"",
                           " ",
                           "reach",
                           "reach >",
                           "> 5",
                           "reach 99%",
                           "reach = 99%",
                           "reach => 99%",
                           "reach < 99% 5",
                           "reach < 99% in",
                           "reach < 99% for",
                           "reach < 99% in hold in hold",
                           "reach < 99% for 5s for 5s",
                           "reach < 99% for 0s",
                           "reach < 99% for 1500ms",
                           "reach < -1%",
                           "reach < 101%",
                           "reach < .nan%",
                           "reach < %",
                           "round_trip_time < 5ms",
                           "round_trip_time p < 5ms",
                           "round_trip_time p-1 < 5ms",
                           "round_trip_time p0 < 5ms",
                           "round_trip_time p100.1 < 5ms",
                           "round_trip_time p99 < 5%",
                           "round_trip_time p99 < 1:30",
                           "round_trip_time count < 5ms",
                           "opened < 5%",
                           "opened < 1e9",
                           "opened < -1",
                           "opened < 5s",
                           "connect_rate < 5%",
                           "connect_rate < 5s",
                           "opened p99 < 5",
                           "open < 5 in hold extra"})
    bad(text);
  bad(std::string(5000, 'a'));
}

TEST(Threshold, ComparisonsCompare) {
  EXPECT_TRUE(compare(1, Comparison::less, 2));
  EXPECT_FALSE(compare(2, Comparison::less, 2));
  EXPECT_TRUE(compare(2, Comparison::less_equal, 2));
  EXPECT_TRUE(compare(3, Comparison::greater, 2));
  EXPECT_TRUE(compare(2, Comparison::greater_equal, 2));
  EXPECT_TRUE(compare(2, Comparison::equal, 2));
  EXPECT_TRUE(compare(1, Comparison::not_equal, 2));
  EXPECT_FALSE(compare(2, Comparison::not_equal, 2));
}

TEST(Metrics, NamesAreUniqueAndPrometheusNamesFollowTheRules) {
  std::vector<Metric> all;
  for (std::size_t i = 0; i < kTimes; ++i) all.push_back(describe(static_cast<Time>(i)));
  for (std::size_t i = 0; i < kCounters; ++i) all.push_back(describe(static_cast<Counter>(i)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string prometheus(all[i].prometheus);
    EXPECT_EQ(prometheus.rfind("onrush_", 0), 0u) << prometheus;
    const std::string end = all[i].kind == Kind::histogram ? "_seconds" : "_total";
    EXPECT_TRUE(prometheus.size() > end.size() && prometheus.substr(prometheus.size() - end.size()) == end)
        << prometheus;
    EXPECT_EQ(all[i].help.back(), '.') << all[i].name;
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      EXPECT_NE(all[i].name, all[j].name);
      EXPECT_NE(all[i].prometheus, all[j].prometheus);
    }
  }
  EXPECT_EQ(time_named("handshake_time"), Time::handshake);
  EXPECT_EQ(counter_named("reordered"), Counter::reordered);
  EXPECT_FALSE(time_named("handshake").has_value());
  EXPECT_FALSE(counter_named("handshake_time").has_value());
}

}  // namespace
}  // namespace onrush
