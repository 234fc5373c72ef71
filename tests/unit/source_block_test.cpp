#include "core/source_block.h"

#include <gmock/gmock.h>

#include <set>

namespace onrush {
namespace {

using testing::ElementsAre;

std::vector<std::string> expand(std::string_view ranges) {
  const auto all = expand_addresses(ranges);
  return all ? *all : std::vector<std::string>{"error: " + all.error()};
}

TEST(SourceBlock, RangesAndNetworksBecomeSingleAddresses) {
  EXPECT_THAT(expand("10.0.0.1"), ElementsAre("10.0.0.1"));
  EXPECT_THAT(expand("10.0.0.254-10.0.1.1"), ElementsAre("10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"));
  EXPECT_THAT(expand("10.0.0.6/30"), ElementsAre("10.0.0.4", "10.0.0.5", "10.0.0.6", "10.0.0.7"));
  EXPECT_THAT(expand("2001:db8::ff-2001:db8::100,10.0.0.1"),
              ElementsAre("2001:db8::ff", "2001:db8::100", "10.0.0.1"));
}

TEST(SourceBlock, WhatIsNoRangeIsRefusedWithItsText) {
  for (const char* wrong : {"", "10.0.0", "10.0.0.1-", "10.0.0.2-10.0.0.1", "10.0.0.1-::1", "10.0.0.0/33",
                            "10.0.0.0/x", "10.0.0.0/8", "10.0.0.1,,10.0.0.2", "eth0"})
    EXPECT_FALSE(expand_addresses(wrong)) << wrong;
}

Hello agent(const std::string& boot_id, std::vector<std::string> addresses = {}) {
  Hello hello;
  hello.boot_id = boot_id;
  hello.source_addresses = std::move(addresses);
  return hello;
}

// Every (address, port) of a host may be in one block only.
void expect_disjoint(const std::vector<Hello>& agents, const std::string& target) {
  const std::vector<SourceBlock> blocks = deal_source_blocks(agents, {target});
  ASSERT_EQ(blocks.size(), agents.size());
  std::set<std::tuple<std::string, std::string, int>> taken;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (const std::string& address : blocks[i].addresses)
      for (int port = blocks[i].first_port; port <= blocks[i].last_port; port += 97)
        EXPECT_TRUE(taken.emplace(agents[i].boot_id, address, port).second) << address << ":" << port;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (int port = blocks[i].first_shared_port; port != 0 && port <= blocks[i].last_shared_port; port += 97)
      EXPECT_TRUE(taken.emplace(agents[i].boot_id, "", port).second) << "shared:" << port;
}

TEST(SourceBlock, AgentsOfOneHostGetDisjointBlocks) {
  for (const std::size_t count : {1U, 2U, 3U, 7U, 110U}) {
    const std::vector<Hello> agents(count, agent("one"));
    expect_disjoint(agents, "127.0.0.1");
    expect_disjoint(agents, "198.51.100.5");
    expect_disjoint(agents, "::1");
    expect_disjoint(std::vector<Hello>(count, agent("one", {"10.0.0.1-10.0.0.3"})), "198.51.100.5");
  }
  expect_disjoint({agent("one"), agent("two"), agent("one")}, "198.51.100.5");
}

TEST(SourceBlock, TowardsLoopbackEachProcessHasAnAddressToItselfAndLeaves127_0_0_1Alone) {
  std::vector<Hello> agents(3, agent("one"));
  agents[0].pid = 1;
  agents[1].pid = 4'194'303;  // the highest that Linux gives
  agents[2].pid = 1;          // in a process namespace of its own
  const auto blocks = deal_source_blocks(agents, {"127.0.0.1"});
  EXPECT_THAT(blocks[0].addresses, ElementsAre("127.64.0.1"));
  EXPECT_THAT(blocks[1].addresses, ElementsAre("127.127.255.255"));
  EXPECT_THAT(blocks[2].addresses, ElementsAre("127.64.0.2"));
  EXPECT_EQ(blocks[0].last_port, 65'535);
}

// Two runs at once, each with a coordinator of its own, know nothing of each other.
TEST(SourceBlock, TowardsLoopbackAgentsOfTwoRunsOnAHostHaveDifferentAddresses) {
  std::set<std::string> addresses;
  for (const std::uint32_t pid : {1U, 249U, 250U, 62'499U, 62'500U, 4'194'303U}) {
    Hello alone = agent("one");
    alone.pid = pid;
    const std::string address = deal_source_blocks({alone}, {"127.0.0.1"}).front().addresses.front();
    EXPECT_TRUE(addresses.insert(address).second) << address;
    EXPECT_EQ(expand(address), std::vector<std::string>{address});
  }
}

// localhost has ::1 too, and of several targets only some may be here.
TEST(SourceBlock, BesideItsLoopbackAddressEachAgentHasPartOfTheSharedPorts) {
  for (const std::vector<std::string>& hosts :
       {std::vector<std::string>{"localhost"}, {"198.51.100.5", "127.0.0.1"}}) {
    const auto blocks = deal_source_blocks({agent("one"), agent("one"), agent("two")}, hosts);
    EXPECT_EQ(blocks[0].first_port, 1024);
    EXPECT_EQ(blocks[0].last_port, 65'535);
    EXPECT_EQ(blocks[0].first_shared_port, 1024);
    EXPECT_EQ(blocks[1].first_shared_port, blocks[0].last_shared_port + 1);
    EXPECT_EQ(blocks[2].last_shared_port, 65'535);
  }
  EXPECT_EQ(deal_source_blocks({agent("one", {"10.0.0.1"})}, {"localhost"})[0].first_shared_port, 0)
      << "its owner has said what it connects from";
}

TEST(SourceBlock, AgentsOfDifferentHostsMayUseTheSamePorts) {
  const auto blocks = deal_source_blocks({agent("one"), agent("two")}, {"198.51.100.5"});
  EXPECT_EQ(blocks[0].first_port, blocks[1].first_port);
  EXPECT_EQ(blocks[0].last_port, 65'535);
}

}  // namespace
}  // namespace onrush
