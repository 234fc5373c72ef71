#include "agent/port_allocator.h"

#include <gtest/gtest.h>

#include <set>

namespace onrush {
namespace {

Endpoint endpoint(std::string_view address, std::uint16_t port) {
  return *Endpoint::from_text(address, port);
}

PortAllocator make(const SourceBlock& block, Share part = {0, 1},
                   const std::vector<std::uint16_t>& skipped = {},
                   const Endpoint& target = endpoint("127.0.0.1", 80)) {
  auto made = PortAllocator::make(block, part, target, skipped);
  EXPECT_TRUE(made);
  return std::move(*made);
}

TEST(PortAllocator, ATargetAtAnAddressOfThisHostIsKnownByIt) {
  EXPECT_TRUE(is_own_address(endpoint("127.0.0.1", 80)));
  EXPECT_FALSE(is_own_address(endpoint("198.51.100.7", 80)));
}

TEST(PortAllocator, GivesEveryEndpointOnceThenNone) {
  PortAllocator ports = make({{"127.0.0.2", "127.0.0.3"}, 1000, 1009});
  EXPECT_EQ(ports.size(), 20U);
  std::set<std::string> seen;
  while (const auto taken = ports.take()) seen.insert(taken->endpoint.text());
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_TRUE(seen.contains("127.0.0.3:1009"));
}

TEST(PortAllocator, LetsFreedEndpointsRestLongest) {
  PortAllocator ports = make({{"127.0.0.2"}, 1000, 1002});
  const auto first = ports.take();
  ports.give_back(first->ticket);
  EXPECT_EQ(ports.take()->endpoint.port(), 1001);
  EXPECT_EQ(ports.take()->endpoint.port(), 1002);
  EXPECT_EQ(ports.take()->endpoint.port(), 1000);
  EXPECT_FALSE(ports.take());
}

TEST(PortAllocator, SharesOfWorkersAreDisjointAndComplete) {
  for (const std::uint32_t workers : {1U, 2U, 3U, 7U}) {
    std::multiset<std::string> seen;
    for (std::uint32_t w = 0; w < workers; ++w) {
      PortAllocator ports = make({{"127.0.0.2", "127.0.0.3", "127.0.0.4"}, 2000, 2020}, {w, workers});
      while (const auto taken = ports.take()) seen.insert(taken->endpoint.text());
    }
    EXPECT_EQ(seen.size(), 63U) << workers;
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 63U) << workers;
  }
}

TEST(PortAllocator, OneOfSeveralKeepsWhatItsWorkerCanUse) {
  PortAllocator ports = make({{"127.0.0.2"}, 1000, 1999});
  ports.keep_at_most(3);
  EXPECT_EQ(ports.size(), 3U);
  const auto first = ports.take();
  EXPECT_TRUE(ports.take() && ports.take());
  EXPECT_FALSE(ports.take());
  ports.give_back(first->ticket);
  EXPECT_EQ(ports.take()->endpoint.port(), first->endpoint.port());
}

TEST(PortAllocator, WhatItsAddressesCannotReachIsReachedFromTheSharedPorts) {
  const SourceBlock block{{"127.64.0.1"}, 1000, 1009, 2000, 2004};
  EXPECT_EQ(make(block).size(), 10U);
  for (const char* target : {"::1", "198.51.100.5"}) {
    PortAllocator ports = make(block, {0, 1}, {}, endpoint(target, 80));
    EXPECT_EQ(ports.size(), 5U) << target;
    EXPECT_TRUE(ports.take()->endpoint.is_unspecified());
    EXPECT_TRUE(has_to_share(block, endpoint(target, 80)));
    EXPECT_FALSE(why_out_of_reach(block, endpoint(target, 80)));
  }
  EXPECT_FALSE(has_to_share(block, endpoint("127.0.0.1", 80)));
  EXPECT_TRUE(why_out_of_reach({{"127.64.0.1"}, 1000, 1009}, endpoint("::1", 80)));
}

// P053: a socket bound to the target's own endpoint would connect to itself.
TEST(PortAllocator, NeverGivesOutTheTargetsOwnEndpoint) {
  const Endpoint target = endpoint("127.0.0.1", 1001);
  EXPECT_EQ(make({{"127.0.0.1"}, 1000, 1002}, {0, 1}, {}, target).size(), 2U);
  EXPECT_EQ(make({{""}, 1000, 1002}, {0, 1}, {}, target).size(), 2U);
  EXPECT_EQ(make({{"127.0.0.2"}, 1000, 1002}, {0, 1}, {}, target).size(), 3U);
}

TEST(PortAllocator, SkipsPortsThatAreNotForUs) {
  PortAllocator ports = make({{"127.0.0.2"}, 1000, 1003}, {0, 1}, {1001, 1003, 9});
  EXPECT_EQ(ports.take()->endpoint.port(), 1000);
  EXPECT_EQ(ports.take()->endpoint.port(), 1002);
  EXPECT_FALSE(ports.take());
}

TEST(PortAllocator, LeavesPortsToTheKernelWithoutABlock) {
  PortAllocator ports = make({{"127.0.0.2", "127.0.0.3"}, 0, 0});
  EXPECT_EQ(ports.take()->endpoint.text(), "127.0.0.2:0");
  EXPECT_EQ(ports.take()->endpoint.text(), "127.0.0.3:0");
  EXPECT_EQ(ports.take()->endpoint.text(), "127.0.0.2:0");
}

TEST(PortAllocator, TakesSixAddressesTowardsASixTarget) {
  PortAllocator ports = make({{"::1"}, 4000, 4001}, {0, 1}, {}, endpoint("::1", 80));
  EXPECT_EQ(ports.take()->endpoint.text(), "[::1]:4000");
  EXPECT_FALSE(PortAllocator::make({{"127.0.0.1"}, 1, 2}, {0, 1}, endpoint("::1", 80), {}));
  EXPECT_FALSE(PortAllocator::make({{"nowhere"}, 1, 2}, {0, 1}, endpoint("::1", 80), {}));
}

// P052: each connection from it would fail as if ports had run out.
TEST(PortAllocator, AnAddressThatIsNoneOfThisHostIsNamedBeforeTheStart) {
  EXPECT_FALSE(foreign_address({{"", "127.0.0.1", "127.68.27.54"}, 1024, 65'535}));
  const std::optional<std::string> foreign = foreign_address({{"127.0.0.1", "198.51.100.7"}, 1024, 65'535});
  ASSERT_TRUE(foreign);
  EXPECT_NE(foreign->find("source address 198.51.100.7 is no address of this host"), std::string::npos);
}

TEST(PortAllocator, UsesTheHighestPortToo) {
  PortAllocator ports = make({{"127.0.0.2"}, 65'535, 65'535});
  EXPECT_EQ(ports.take()->endpoint.port(), 65'535);
}

}  // namespace
}  // namespace onrush
