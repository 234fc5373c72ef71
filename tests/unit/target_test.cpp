// Which target is whose turn, and what the plan's addresses come to.
#include "core/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/resolver.h"

namespace onrush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Target target(const std::string& url, std::uint32_t weight = 1, std::vector<std::string> addresses = {}) {
  return {*parse_url(url), weight, std::move(addresses)};
}

std::vector<std::size_t> turns(const std::vector<Target>& targets, std::uint32_t start, std::size_t count) {
  TargetTurn turn{targets, start};
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) order.push_back(turn.next());
  return order;
}

TEST(TargetTurn, TargetsTakeTurns) {
  const std::vector<Target> two{target("ws://a.test"), target("ws://b.test")};
  EXPECT_THAT(turns(two, 0, 5), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(turns(two, 1, 5), ElementsAre(1, 0, 1, 0, 1)) << "the next worker begins with the other";
}

TEST(TargetTurn, EveryBlockOfConnectionsHasTheWeightsExactlyAndMixed) {
  const std::vector<Target> three{target("ws://a.test", 5), target("ws://b.test", 1),
                                  target("ws://c.test", 1)};
  EXPECT_THAT(turns(three, 0, 7), ElementsAre(0, 0, 1, 0, 2, 0, 0));
  for (std::uint32_t start = 0; start < 20; ++start) {
    std::vector<int> counts(3);
    for (const std::size_t t : turns(three, start, 70)) ++counts[t];
    EXPECT_THAT(counts, ElementsAre(50, 10, 10));
  }
}

TEST(Targets, HostsAreTheNamedAddressesOrTheName) {
  const std::vector<Target> targets{target("ws://a.test", 1, {"127.0.0.1", "::1"}),
                                    target("ws://b.test:9/x")};
  EXPECT_THAT(hosts_of(targets), ElementsAre("127.0.0.1", "::1", "b.test"));
  EXPECT_EQ(describe(targets), "ws://a.test, ws://b.test:9/x");
  EXPECT_TRUE(any_on_loopback(targets));
  EXPECT_FALSE(all_on_loopback(targets));
}

Lookup answers(const std::vector<std::string>& texts) {
  return [texts](const std::string&) -> Expected<std::vector<Endpoint>, std::string> {
    std::vector<Endpoint> found;
    for (const std::string& text : texts) found.push_back(*Endpoint::from_text(text, 0));
    if (found.empty()) return Unexpected{std::string{"unknown"}};
    return found;
  };
}

std::vector<std::string> found(const Target& target, const SourceBlock& source, const Lookup& look_up) {
  const auto endpoints = resolve({target}, source, look_up);
  std::vector<std::string> texts;
  if (!endpoints) return endpoints.error();
  for (const Endpoint& endpoint : endpoints->front()) texts.push_back(endpoint.text());
  return texts;
}

const SourceBlock kRoute{{""}, 1024, 65'535};
const SourceBlock kLoopback{{"127.64.0.1"}, 1024, 65'535, 1024, 2047};

TEST(Resolve, EveryAddressOfANameIsUsedOnce) {
  EXPECT_THAT(found(target("ws://a.test:81"), kRoute, answers({"127.0.0.1", "127.0.0.2", "127.0.0.1"})),
              ElementsAre("127.0.0.1:81", "127.0.0.2:81"));
}

TEST(Resolve, AddressesThatThePlanNamesAreNotLookedUp) {
  const Lookup never = [](const std::string& host) -> Expected<std::vector<Endpoint>, std::string> {
    ADD_FAILURE() << host;
    return Unexpected{std::string{"no"}};
  };
  EXPECT_THAT(found(target("ws://a.test", 1, {"127.0.0.3"}), kRoute, never), ElementsAre("127.0.0.3:80"));
  EXPECT_THAT(found(target("ws://127.0.0.4:1"), kRoute, never), ElementsAre("127.0.0.4:1"));
  EXPECT_THAT(found(target("ws://[::1]:1"), kRoute, never), ElementsAre("[::1]:1")) << "P023";
}

TEST(Resolve, AnAddressWithoutRouteIsLeftOutIfAnotherHasOne) {
  // To everybody on the network: no connection can be made to it from any machine.
  EXPECT_THAT(found(target("ws://a.test"), kRoute, answers({"255.255.255.255", "127.0.0.1"})),
              ElementsAre("127.0.0.1:80"));
  EXPECT_THAT(found(target("ws://a.test"), kRoute, answers({"255.255.255.255"})),
              ElementsAre("255.255.255.255:80"))
      << "the only one is tried, and its failures say why";
}

TEST(Resolve, SourceAddressesDecideTheFamily) {
  const SourceBlock v4{{"127.0.0.9"}, 1024, 65'535};
  EXPECT_THAT(found(target("ws://localhost"), v4, answers({"::1", "127.0.0.1"})),
              ElementsAre("127.0.0.1:80"));
  EXPECT_THAT(found(target("ws://localhost"), v4, answers({"::1"})), ElementsAre(HasSubstr("one is IPv4")));
}

TEST(Resolve, LocalhostIsBothOfItsAddresses) {
  EXPECT_THAT(found(target("ws://localhost"), kLoopback, answers({"::1", "127.0.0.1"})),
              ElementsAre("[::1]:80", "127.0.0.1:80"));
}

TEST(Resolve, EveryUnknownNameIsAReason) {
  const auto endpoints =
      resolve({target("ws://a.test"), target("ws://127.0.0.1"), target("ws://b.test")}, kRoute, answers({}));
  ASSERT_FALSE(endpoints.has_value());
  EXPECT_THAT(endpoints.error(), ElementsAre("unknown", "unknown"));
}

TEST(Resolve, P011TheResolversNoIsSaidWithItsWords) {
  const auto endpoints = look_up("no-such-host.invalid");
  ASSERT_FALSE(endpoints.has_value());
  EXPECT_THAT(endpoints.error(), HasSubstr("host 'no-such-host.invalid' is unknown: "));
}

}  // namespace
}  // namespace onrush
