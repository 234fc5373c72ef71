#include "core/preflight.h"

#include <gmock/gmock.h>

namespace onrush {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

AgentNeed need(std::uint64_t connections) {
  return {"agent-2", connections, connections, connections, "c1000k.yaml"};
}

AgentLimits ample() { return {1'000'000, 16, 64'000, 64'000'000'000, false}; }

TEST(Preflight, AShareThatFitsExactlyIsAccepted) {
  AgentLimits limits = ample();
  limits.descriptor_limit = 50'000 + kReservedDescriptors;
  limits.source_addresses = 2;
  limits.ports_per_address = 25'000;
  limits.memory_available_bytes = memory_needed(50'000, false);
  EXPECT_THAT(preflight(need(50'000), limits), IsEmpty());
  EXPECT_EQ(preflight(need(50'001), limits).size(), 3u) << "one more breaks all three";
  EXPECT_THAT(preflight(need(0), limits), IsEmpty());
}

TEST(Preflight, TooFewDescriptorsAreNamedWithBothRemedies) {  // P055
  AgentLimits limits = ample();
  limits.descriptor_limit = 20'000;
  EXPECT_THAT(
      preflight(need(50'000), limits),
      ElementsAre(
          "cannot run: agent-2 needs 50,000 sockets but may open 20,000 files (ulimit -n), 200 of them "
          "for itself\n"
          "  raise it:     ulimit -n 51000            or in the unit: LimitNOFILE=51000\n"
          "  or spread it: onrush run c1000k.yaml --agents 3"));
}

TEST(Preflight, ALimitThatLeavesNoSocketIsNotSpread) {
  AgentLimits limits = ample();
  limits.descriptor_limit = 64;
  EXPECT_THAT(preflight(need(200), limits), ElementsAre(testing::Not(testing::HasSubstr("--agents"))));
}

TEST(Preflight, TooFewPortsAreCountedByAddress) {  // P052
  AgentLimits limits = ample();
  limits.source_addresses = 1;
  limits.ports_per_address = 28'000;
  EXPECT_THAT(
      preflight(need(60'000), limits),
      ElementsAre(StartsWith(
          "cannot run: agent-2 needs 60,000 sockets but has 28,000 local ports (1 source address x 28,000 "
          "ports)\n"
          "  add addresses: onrush-agent --source-addresses RANGE, with 3 addresses of this host\n")));
}

TEST(Preflight, MemoryIsThatOfAllAgentsOfTheHostAndOfTheTargetThere) {
  AgentLimits limits = ample();
  limits.memory_available_bytes = 700'000'000;
  AgentNeed two_agents = need(50'000);
  two_agents.connections_on_host = two_agents.peak = 100'000;
  EXPECT_THAT(preflight(two_agents, limits), IsEmpty()) << "433 MB";
  limits.target_on_host = true;
  EXPECT_THAT(preflight(two_agents, limits),
              ElementsAre(StartsWith(
                  "cannot run: the host of agent-2 needs 853 MB for 100,000 connections (8.4 KB of "
                  "kernel memory a pair of sockets, as the target is there too, 128 B for the user) "
                  "but has 700 MB available\n")));
}

TEST(Preflight, AgentsNeededHoldThePeakAndOneLessWouldNot) {
  EXPECT_EQ(agents_needed(0, 20'000), 1u);
  EXPECT_EQ(agents_needed(19'800, 20'000), 1u);
  EXPECT_EQ(agents_needed(19'801, 20'000), 2u);
  EXPECT_EQ(agents_needed(1'000'000, 20'000), 51u);
  EXPECT_EQ(agents_needed(10, kReservedDescriptors), 1u) << "which then says why it cannot";
}

}  // namespace
}  // namespace onrush
