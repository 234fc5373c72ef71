#include "agent/self_watch.h"

#include <gtest/gtest.h>

#include "core/health.h"

namespace onrush {
namespace {

TEST(SelfWatch, FindsAValueUnderItsHeading) {
  constexpr const char* kTable =
      "Ip: Forwarding DefaultTTL\nIp: 1 64\n"
      "Tcp: RtoAlgorithm RetransSegs InErrs\nTcp: 1 4711 3\n";
  EXPECT_EQ(value_in(kTable, "Tcp:", "RetransSegs"), 4711U);
  EXPECT_EQ(value_in(kTable, "Ip:", "DefaultTTL"), 64U);
  EXPECT_EQ(value_in(kTable, "Ip:", "RetransSegs"), 0U);
  EXPECT_EQ(value_in("Tcp: A B\nTcp: 1\n", "Tcp:", "B"), 0U);
  EXPECT_EQ(value_in("", "Tcp:", "B"), 0U);
}

TEST(SelfWatch, AddsUpThePacketsAndDropsOfAllProcessors) {
  const SoftnetCounters sum = softnet_counters_in("0000beef 00000002 00000000\n00000001 0000000a 00000000\n");
  EXPECT_EQ(sum.packets, 0xbef0U);
  EXPECT_EQ(sum.drops, 12U);
  EXPECT_EQ(softnet_counters_in("rubbish\n").drops, 0U);
}

TEST(SelfWatch, SeesThisProcessAndNothingImpossible) {
  SelfWatch watch{true, {}, nullptr};
  Health health;
  watch.look(health);
  EXPECT_GT(health.memory_bytes, 100'000U);
  EXPECT_GE(health.cpu_steal, 0);
  EXPECT_LE(health.cpu_steal, 1);
  EXPECT_LE(health.retransmits, health.segments_out);
  EXPECT_FALSE(nears_end_of_memory(health)) << "nobody watches the memory";
}

TEST(SelfWatch, TellsTheMemoryLeftAndTheReserveThatItMustNotSinkBelow) {
  HostFacts facts;
  facts.set(Fact::memory_reserve, 1'000);
  std::uint64_t available = 1'000;
  SelfWatch watch{false, facts, [&](HostFacts& now) { now.set(Fact::memory_available, available--); }};
  Health health;
  watch.look(health);
  EXPECT_EQ(health.memory_left_bytes, 1'000U);
  EXPECT_EQ(health.memory_reserve_bytes, 1'000U);
  EXPECT_FALSE(nears_end_of_memory(health));
  watch.look(health);
  EXPECT_EQ(health.memory_left_bytes, 999U);
  EXPECT_TRUE(nears_end_of_memory(health));
}

TEST(SelfWatch, DoesNotWatchAMemoryThatCannotBeRead) {
  SelfWatch watch{false, {}, [](HostFacts&) {}};
  Health health;
  watch.look(health);
  EXPECT_FALSE(nears_end_of_memory(health));
}

}  // namespace
}  // namespace onrush
