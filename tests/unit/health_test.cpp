#include "core/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace onrush {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kMillisecond_us = 1000;

TEST(Health, AQuietSecondIsValidAndHasNoCause) {
  const Judgement quiet = judge({});
  EXPECT_EQ(quiet.grade, Grade::valid);
  EXPECT_THAT(quiet.cause, IsEmpty());
  const Judgement busy = judge({.lag_p99_us = 10 * kMillisecond_us,
                                .turn_max_us = 100 * kMillisecond_us,
                                .busiest_worker = 0.95,
                                .cpu_wait = 0.60,
                                .cpu_wait_mean_us = 1000,
                                .cpu_steal = 0.10});
  EXPECT_EQ(busy.grade, Grade::valid) << busy.cause;
  EXPECT_EQ(judge({.cpu_wait = 0.10, .cpu_wait_mean_us = 40'000}).grade, Grade::valid) << "seldom";
}

TEST(Health, EveryLimitThatIsPassedIsNamedWithItsFigure) {
  const struct {
    Health health;
    Grade grade;
    const char* cause;
  } cases[] = {
      {{.lag_p99_us = 10'001}, Grade::suspect, "late by 10.0 ms (p99)"},
      {{.lag_p99_us = 1'000'001}, Grade::invalid, "late by 1000.0 ms (p99)"},
      {{.turn_max_us = 250'000}, Grade::suspect, "a worker's loop stood still for 250 ms"},
      {{.turn_max_us = 1'200'000}, Grade::invalid, "a worker's loop stood still for 1200 ms"},
      {{.busiest_worker = 0.97}, Grade::suspect, "a worker at 97 % of its core"},
      {{.cpu_wait = 0.8, .cpu_wait_mean_us = 12'300},
       Grade::suspect,
       "a worker without a core for 80 % of the time, 12.3 ms at a time"},
      {{.cpu_steal = 0.2}, Grade::suspect, "20 % of the CPU stolen"},
      {{.packets_in = 50'000, .softnet_drops = 60},
       Grade::suspect,
       "60 packets dropped by this host (0.1 %)"},
      {{.segments_out = 10'000, .retransmits = 100},
       Grade::suspect,
       "100 segments retransmitted by this host (1.0 %)"},
      {{.connects = 400, .listen_overflows = 40},
       Grade::suspect,
       "40 connections turned away by a full accept queue (10.0 %)"},
      {{.memory_pressures = 1}, Grade::suspect, "TCP of this host short of memory (tcp_mem)"},
      {{.cpu_steal = std::numeric_limits<double>::quiet_NaN()}, Grade::suspect, "stolen"},
  };
  for (const auto& c : cases) {
    const Judgement judgement = judge(c.health);
    EXPECT_EQ(judgement.grade, c.grade) << c.cause;
    EXPECT_THAT(judgement.cause, HasSubstr(c.cause));
  }
}

// The counters are the host's: what a neighbour or the target loses now and then says nothing about our
// second.
TEST(Health, LostPacketsCountOnlyAsAShareOfWhatTheHostSentAndIfTheyAreMoreThanAFew) {
  EXPECT_EQ(judge({.segments_out = 40'000, .retransmits = 40}).grade, Grade::valid);
  EXPECT_EQ(judge({.segments_out = 40'000, .retransmits = 41}).grade, Grade::suspect);
  EXPECT_EQ(judge({.segments_out = 100, .retransmits = 10}).grade, Grade::valid) << "a few";
  EXPECT_EQ(judge({.segments_out = 100, .retransmits = 11}).grade, Grade::suspect);
  EXPECT_EQ(judge({.packets_in = 200'000, .softnet_drops = 150}).grade, Grade::valid);
  EXPECT_EQ(judge({.packets_in = 0, .softnet_drops = 150}).grade, Grade::suspect) << "all were dropped";
  EXPECT_EQ(judge({.connects = 10'000, .listen_overflows = 10}).grade, Grade::valid);
  EXPECT_EQ(judge({.connects = 10'000, .listen_overflows = 11}).grade, Grade::suspect);
}

TEST(Health, TheWorstOfSeveralCausesGivesTheGradeAndAllAreNamed) {
  const Judgement judgement = judge({.lag_p99_us = 2'000'000, .cpu_wait = 0.9, .cpu_wait_mean_us = 90'000});
  EXPECT_EQ(judgement.grade, Grade::invalid);
  EXPECT_EQ(judgement.cause,
            "late by 2000.0 ms (p99), a worker without a core for 90 % of the time, 90.0 ms at a time");
}

}  // namespace
}  // namespace onrush
