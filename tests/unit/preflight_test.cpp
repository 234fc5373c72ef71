#include "core/preflight.h"

#include <gmock/gmock.h>

#include "core/plan_yaml.h"
#include "core/user_tables.h"

namespace onrush {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

PlanNeed need(std::uint64_t peak) { return {"c1000k.yaml", peak, 10'000, peak}; }

AgentPlace place(std::uint64_t connections) {
  AgentPlace place;
  place.agent = "agent-2";
  place.connections = connections;
  place.descriptor_limit = 1'000'000;
  place.source_addresses = 16;
  place.ports_per_address = 64'000;
  return place;
}

HostPlace host(std::uint64_t connections, std::uint32_t agents, bool target_here) {
  return {"load-1", connections, agents, target_here};
}

/// The development machine in a network namespace of its own, with what can be raised there raised.
HostFacts machine() {
  HostFacts facts;
  facts.set(Fact::memory_total, 25'276'059'648);
  facts.set(Fact::memory_available, 23'000'000'000);
  facts.set(Fact::slab_reclaimable, 300'000'000);
  facts.set(Fact::tcp_sockets, 900);
  facts.set(Fact::file_max, 2'466'165);
  facts.set(Fact::files_open, 20'000);
  facts.set(Fact::file_max_exempt, 1);
  facts.set(Fact::epoll_watches, 5'491'489);
  facts.set(Fact::accept_backlog, 65'536);
  facts.set(Fact::time_wait_max, 2'000'000);
  facts.set(Fact::connection_table, 4'194'304);
  facts.set(Fact::cores, 2);
  facts.congestion_control = "cubic";
  return facts;
}

std::vector<std::string> of(CheckGrade grade, const std::vector<Check>& checks) {
  std::vector<std::string> texts;
  for (const Check& check : checks)
    if (check.grade == grade) texts.push_back(describe(check));
  return texts;
}

std::vector<std::string> refusals(const std::vector<Check>& checks) {
  return of(CheckGrade::refused, checks);
}
std::vector<std::string> warnings(const std::vector<Check>& checks) {
  return of(CheckGrade::warning, checks);
}

const Check& named(std::string_view name, const std::vector<Check>& checks) {
  for (const Check& check : checks)
    if (check.name == name) return check;
  throw std::runtime_error{"no check " + std::string{name}};
}

TEST(Preflight, AShareThatFitsExactlyIsAcceptedAndOneMoreIsNot) {
  AgentPlace exact = place(50'000);
  exact.descriptor_limit = 50'000 + kReservedDescriptors;
  exact.source_addresses = 2;
  exact.ports_per_address = 25'000;
  EXPECT_THAT(refusals(check_agent(need(50'000), exact, {})), IsEmpty());
  exact.connections = 50'001;
  EXPECT_THAT(refusals(check_agent(need(50'001), exact, {})), SizeIs(2)) << "descriptors and ports";
  HostFacts facts;
  facts.set(Fact::memory_reserve, 1'000'000);
  facts.set(Fact::memory_available, memory_needed(50'000, false) + 2 * kAgentBytes + 1'000'000);
  EXPECT_THAT(refusals(check_host(need(50'001), host(50'000, 2, false), facts)), IsEmpty());
  EXPECT_THAT(refusals(check_host(need(50'001), host(50'001, 2, false), facts)), SizeIs(1));
}

TEST(Preflight, TlsTakesItsPartOfTheMemory) {
  PlanNeed secure = need(50'000);
  secure.user_bytes += kTlsBytes;
  HostFacts facts;
  facts.set(Fact::memory_reserve, 1'000'000);
  facts.set(Fact::memory_available, memory_needed(50'000, false) + 2 * kAgentBytes + 1'000'000);
  EXPECT_THAT(refusals(check_host(secure, host(50'000, 2, false), facts)), SizeIs(1));
  facts.set(Fact::memory_available,
            memory_needed(50'000, false) + 50'000 * kTlsBytes + 2 * kAgentBytes + 1'000'000);
  EXPECT_THAT(refusals(check_host(secure, host(50'000, 2, false), facts)), IsEmpty());
}

TEST(Preflight, ContextsOfCompressionCountIfAConnectionOwnsThem) {
  Plan plan;
  EXPECT_EQ(user_bytes_of(plan), kUserBytes);
  plan.connection.deflate = DeflateOffer{};
  EXPECT_GT(user_bytes_of(plan), kUserBytes + 150'000);
  PlanNeed compressed = need(50'000);
  compressed.user_bytes = user_bytes_of(plan);
  HostFacts facts;
  facts.set(Fact::memory_reserve, 1'000'000);
  facts.set(Fact::memory_available, memory_needed(50'000, false) + 2 * kAgentBytes + 1'000'000);
  EXPECT_THAT(refusals(check_host(compressed, host(50'000, 2, false), facts)), SizeIs(1));
  plan.connection.deflate->client_no_context_takeover = true;
  plan.connection.deflate->server_no_context_takeover = true;
  EXPECT_EQ(user_bytes_of(plan), kUserBytes);
}

std::uint64_t user_bytes(const std::string& more) {
  const auto plan = read_plan(
      {"t.yaml",
       "name: t\ntarget: ws://127.0.0.1/\n" + more + "\nstages: [{name: s, users: 1000, for: 1s}]\n",
       {},
       ""});
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : render("t.yaml", plan.error()));
  return plan ? need_of(*plan, "t.yaml").user_bytes : 0;
}

TEST(Preflight, TablesOfGraphqlAndKeptValuesTakeTheirPartOfTheMemory) {
  EXPECT_EQ(user_bytes("scenarios: {a: {script: [connect, listen]}}"), kUserBytes);
  // Of the scenario that keeps most, each value with its length.
  EXPECT_EQ(user_bytes(R"(
scenarios:
  a: {script: [connect, {set: {x: {text: hello, at_most: 1000}, y: {text: hello, at_most: 24}}}, listen]}
  b: {script: [connect, {set: {x: hello}}, listen]})"),
            kUserBytes + 1000 + 24 + 2 * kKeptLengthBytes);
  constexpr const char* kGraphql = "connection: {protocol: graphql-transport-ws}\n";
  EXPECT_EQ(
      user_bytes(std::string{kGraphql} + "scenarios: {a: {script: [connect, {query: {query: '{ a }'}}]}}"),
      kUserBytes + kGraphqlUserBytes);
  // Of the script that names most subscriptions, wherever they stand.
  EXPECT_EQ(user_bytes(std::string{kGraphql} + R"(
scenarios:
  a: {script: [connect, {subscribe: {as: one, query: 'subscription { a }'}}, listen]}
  b:
    script:
      - connect
      - repeat: {times: 2, do: [{subscribe: {as: one, query: 'subscription { a }'}}]}
      - choose:
          - {do: [{subscribe: {as: two, query: 'subscription { a }'}}]}
          - {do: [{subscribe: {as: three, query: 'subscription { a }'}}]}
      - listen)"),
            kUserBytes + kGraphqlUserBytes + 3 * kSubscriptionBytes);
}

TEST(Preflight, WhoeverListensInABranchListens) {
  const auto plan = read_plan({"t.yaml",
                               R"(
name: t
target: ws://127.0.0.1/
scenarios: {a: {script: [connect, {choose: [{do: [{think: 1s}]}, {do: [{repeat: {times: 2, do: [{listen: {for: 1s}}]}}]}]}]}}
stages: [{name: s, users: 1000, for: 1s}]
)",
                               {},
                               ""});
  ASSERT_TRUE(plan.has_value()) << render("t.yaml", plan.error());
  EXPECT_EQ(need_of(*plan, "t.yaml").listeners, 1000u);
}

TEST(Preflight, WhatIsUnknownRefusesNothingAndSaysSo) {
  const std::vector<Check> checks = check_host(need(2'000'000), host(2'000'000, 110, true), HostFacts{});
  EXPECT_THAT(refusals(checks), IsEmpty());
  EXPECT_EQ(named("memory", checks).grade, CheckGrade::unknown);
  EXPECT_EQ(named("packet backlog", checks).grade, CheckGrade::unknown);
  EXPECT_EQ(named("packet backlog", checks).found, "unknown");
}

TEST(Preflight, TooFewDescriptorsAreNamedWithBothRemedies) {  // P055
  AgentPlace few = place(50'000);
  few.descriptor_limit = 20'000;
  const std::vector<Check> checks = check_agent(need(50'000), few, {});
  EXPECT_THAT(
      refusals(checks),
      ElementsAre(
          "cannot run: agent-2 needs 50,000 sockets but may open 20,000 files (ulimit -n), 200 of them "
          "for itself\n"
          "  raise it:      ulimit -n 51000            or in the unit: LimitNOFILE=51000\n"
          "  or spread it:  onrush run c1000k.yaml --agents 3"));
  HostFacts low;
  low.set(Fact::nr_open, 40'000);
  EXPECT_THAT(refusals(check_agent(need(50'000), few, low)),
              ElementsAre(HasSubstr("\n  and before it:  sysctl -w fs.nr_open=51000\n")));
}

TEST(Preflight, ALimitThatLeavesNoSocketIsNotSpread) {
  AgentPlace none = place(200);
  none.descriptor_limit = 64;
  EXPECT_THAT(refusals(check_agent(need(200), none, {})), ElementsAre(Not(HasSubstr("--agents"))));
}

TEST(Preflight, TooFewPortsAreCountedByAddress) {  // P052
  AgentPlace one = place(60'000);
  one.source_addresses = 1;
  one.ports_per_address = 28'000;
  EXPECT_THAT(
      refusals(check_agent(need(60'000), one, {})),
      ElementsAre(StartsWith(
          "cannot run: agent-2 needs 60,000 sockets but has 28,000 local ports (1 source address x 28,000 "
          "ports)\n"
          "  add addresses:  onrush-agent --source-addresses RANGE, with 3 addresses of this host\n")));
}

TEST(Preflight, EveryTargetHasAllPortsToItself) {  // P052
  AgentPlace narrow = place(200);
  narrow.source_addresses = 1;
  narrow.ports_per_address = 64;
  EXPECT_THAT(refusals(check_agent(need(200), narrow, {})), ElementsAre(HasSubstr("has 64 local ports")));
  narrow.source_addresses = 2;
  EXPECT_THAT(refusals(check_agent(need(200), narrow, {})), ElementsAre(HasSubstr("has 128 local ports")));
  narrow.busiest_share = 0.5;
  EXPECT_THAT(refusals(check_agent(need(200), narrow, {})), IsEmpty());
  narrow.busiest_share = 0.75;
  EXPECT_THAT(refusals(check_agent(need(200), narrow, {})),
              ElementsAre(StartsWith(
                  "cannot run: agent-2 needs 200 sockets but has 170 local ports (2 source addresses "
                  "x 64 ports; one address of a target takes 75.00 % of the connections)\n")));
}

TEST(Preflight, TheBusiestTargetCounts) {
  auto plan = read_plan({"t.yaml",
                         R"(
name: t
target: [{url: "ws://a.test", weight: 3}, {url: "ws://b.test", resolve: [192.0.2.1, 192.0.2.2]}]
scenarios: {a: {script: [connect]}}
stages: [{name: s, users: 8, for: 1s}]
)",
                         {},
                         ""});
  ASSERT_TRUE(plan.has_value());
  EXPECT_DOUBLE_EQ(place_of(*plan, need_of(*plan, "t.yaml"), {0, 1}, {}).busiest_share, 0.75);
}

TEST(Preflight, PortsThatAreTakenAreNotLeft) {
  AgentPlace two = place(50'000);
  two.source_addresses = 2;
  two.ports_per_address = 25'010;
  HostFacts facts;
  facts.set(Fact::occupied_ports, 10);
  facts.set(Fact::time_waits, 1'000);
  facts.set(Fact::time_wait_reuse, 1);
  EXPECT_THAT(refusals(check_agent(need(50'000), two, facts)), IsEmpty());
  facts.set(Fact::occupied_ports, 11);
  EXPECT_THAT(refusals(check_agent(need(50'000), two, facts)),
              ElementsAre(HasSubstr("has 49,998 local ports (2 source addresses x 25,010 ports, 22 taken)")));
  facts.set(Fact::occupied_ports, 0);
  facts.set(Fact::time_wait_reuse, 2);
  EXPECT_THAT(refusals(check_agent(need(50'000), two, facts)), SizeIs(1)) << "2: only on loopback";
  two.loopback = true;
  EXPECT_THAT(refusals(check_agent(need(50'000), two, facts)), IsEmpty());
  facts.set(Fact::time_wait_reuse, 0);
  EXPECT_THAT(refusals(check_agent(need(50'000), two, facts)), SizeIs(1));
  two.chosen_by_route = false;
  EXPECT_THAT(refusals(check_agent(need(50'000), two, facts)), IsEmpty()) << "addresses of its own";
}

TEST(Preflight, MemoryIsThatOfAllAgentsOfTheHostAndOfTheTargetThere) {
  HostFacts facts;
  facts.set(Fact::memory_available, 700'000'000);
  facts.set(Fact::memory_reserve, 100'000'000);
  EXPECT_THAT(refusals(check_host(need(100'000), host(100'000, 2, false), facts)), IsEmpty()) << "541 MB";
  EXPECT_THAT(
      refusals(check_host(need(100'000), host(100'000, 2, true), facts)),
      ElementsAre(StartsWith(
          "cannot run: load-1 needs 861 MB for 100,000 connections (8.4 KB of kernel memory a pair of "
          "sockets, as the target is there too, 128 B for the user) and 2 agents, and keeps 100 MB "
          "free, but has 700 MB left\n")));
}

TEST(Preflight, TwoMillionPairsRunOnTheDevelopmentMachineAndThreeDoNot) {
  EXPECT_THAT(refusals(check_host(need(2'000'000), host(2'000'000, 110, true), machine())), IsEmpty());
  EXPECT_THAT(refusals(check_host(need(2'500'000), host(2'500'000, 127, true), machine())), IsEmpty());
  EXPECT_THAT(refusals(check_host(need(3'000'000), host(3'000'000, 152, true), machine())),
              ElementsAre(StartsWith("cannot run: load-1 needs 26 GB for 3,000,000 connections"),
                          StartsWith("cannot run: load-1 cannot watch that many sockets")));
  AgentPlace share = place(18'182);
  share.descriptor_limit = 20'000;
  share.source_addresses = 1;
  share.ports_per_address = 64'512;
  share.chosen_by_route = false;
  EXPECT_THAT(refusals(check_agent(need(2'000'000), share, machine())), IsEmpty());
}

TEST(Preflight, TheFileTableCountsBothEndsUnlessRootMayPassIt) {
  HostFacts facts = machine();
  const PlanNeed all = need(1'500'000);
  EXPECT_THAT(refusals(check_host(all, host(1'200'000, 61, true), facts)), IsEmpty());
  facts.set(Fact::file_max_exempt, 0);
  EXPECT_THAT(refusals(check_host(all, host(1'200'000, 61, true), facts)), IsEmpty()) << "2,432,200";
  EXPECT_THAT(
      refusals(check_host(all, host(1'250'000, 64, true), facts)),
      ElementsAre("cannot run: load-1 cannot open that many files (fs.file-max 2,532,800, found 2,466,165)\n"
                  "  raise it:  sysctl -w fs.file-max=2533000"));
  EXPECT_THAT(refusals(check_host(all, host(1'250'000, 64, false), facts)), IsEmpty()) << "one end";
}

TEST(Preflight, ABroadcastThatWaitsInEverySocketIsHeldAgainstTcpMem) {
  HostFacts facts = machine();
  facts.set(Fact::tcp_pages_pressure, 383'866);
  facts.set(Fact::tcp_pages, 266);
  PlanNeed quiet = need(400'000);
  EXPECT_THAT(warnings(check_host(quiet, host(377'600, 20, true), facts)), IsEmpty())
      << "with 6,000 of the sender";
  EXPECT_THAT(warnings(check_host(quiet, host(377'601, 20, true), facts)),
              ElementsAre("load-1 runs into TCP's memory pressure when a broadcast waits in all of 377,601 "
                          "sockets, and windows shrink (net.ipv4.tcp_mem 383,867, found 383,866); raise it: "
                          "sysctl -w net.ipv4.tcp_mem='288000 384000 576000'"));
  quiet.listeners = 0;
  EXPECT_THAT(warnings(check_host(quiet, host(400'000, 20, true), facts)), IsEmpty()) << "nobody listens";
}

TEST(Preflight, BacklogsAreThoseOfThePaceAndOfTheTargetsHost) {
  HostFacts facts = machine();
  facts.set(Fact::accept_backlog, 999);
  facts.set(Fact::packet_backlog, 2'999);
  EXPECT_THAT(
      warnings(check_host(need(10'000), host(10'000, 1, true), facts)),
      ElementsAre("a target that pauses for 0.1 s turns connections away at 10,000/s (net.core.somaxconn "
                  "1,000, found 999); raise it: sysctl -w net.core.somaxconn=1000",
                  StartsWith("loopback may drop packets, which are sent again after 0.2 s or more "
                             "(net.core.netdev_max_backlog 3,000, found 2,999)")));
  EXPECT_THAT(warnings(check_host(need(10'000), host(10'000, 1, false), facts)), IsEmpty())
      << "not ours to see";
  EXPECT_THAT(warnings(check_host(need(20'000), host(10'000, 1, true), facts)), SizeIs(1))
      << "half of the agents open at half the pace";
  facts = machine();
  facts.set(Fact::syn_backlog, 128);
  EXPECT_THAT(warnings(check_host(need(10'000), host(10'000, 1, true), facts)), IsEmpty())
      << "cookies are on";
  facts.set(Fact::syncookies, 0);
  EXPECT_THAT(warnings(check_host(need(10'000), host(10'000, 1, true), facts)), SizeIs(1));
}

TEST(Preflight, ClosingIsHeldAgainstTimeWaitsAndOrphans) {
  HostFacts facts = machine();
  facts.set(Fact::time_wait_max, 131'072);
  facts.set(Fact::orphans_max, 19'999);
  EXPECT_THAT(warnings(check_host(need(131'073), host(131'073, 7, true), facts)),
              ElementsAre(HasSubstr("net.ipv4.tcp_max_tw_buckets 131,073"),
                          HasSubstr("net.ipv4.tcp_max_orphans 20,000")));
  EXPECT_THAT(warnings(check_host(need(131'073), host(131'073, 7, false), facts)), SizeIs(1));
}

TEST(Preflight, ConnectionTrackingIsAWarningUntilItsTableIsFull) {
  HostFacts facts = machine();
  facts.set(Fact::conntrack_max, 262'144);
  facts.set(Fact::conntrack_count, 0);
  EXPECT_THAT(warnings(check_host(need(100'000), host(100'000, 6, true), facts)), IsEmpty())
      << "loaded, but it tracks nothing";
  facts.set(Fact::conntrack_count, 144);
  EXPECT_THAT(warnings(check_host(need(262'000), host(262'000, 14, true), facts)),
              ElementsAre(StartsWith("load-1 tracks every connection")));
  EXPECT_THAT(refusals(check_host(need(262'001), host(262'001, 14, true), facts)),
              ElementsAre(HasSubstr("net.netfilter.nf_conntrack_max 262,145, found 262,144")));
}

TEST(Preflight, BbrWithoutFqIsAWarning) {
  HostFacts facts = machine();
  facts.congestion_control = "bbr";
  facts.queueing = "fq";
  EXPECT_THAT(warnings(check_host(need(100), host(100, 1, false), facts)), IsEmpty());
  EXPECT_THAT(warnings(check_host(need(100), host(100, 1, true), facts)),
              ElementsAre(HasSubstr("net.ipv4.tcp_congestion_control=cubic")))
      << "loopback has no queue";
  facts.queueing = "pfifo_fast";
  EXPECT_THAT(warnings(check_host(need(100), host(100, 1, false), facts)),
              ElementsAre(HasSubstr("net.core.default_qdisc=fq")));
  facts.queueing = "";
  EXPECT_EQ(named("congestion control", check_host(need(100), host(100, 1, false), facts)).grade,
            CheckGrade::unknown);
}

TEST(Preflight, LongChainsOfSocketsAreAWarning) {
  HostFacts facts = machine();
  facts.set(Fact::connection_table, 262'144);
  EXPECT_THAT(warnings(check_host(need(262'144), host(262'144, 14, true), facts)), IsEmpty());
  EXPECT_THAT(warnings(check_host(need(2'000'000), host(2'000'000, 110, true), facts)),
              Contains(AllOf(HasSubstr("a chain of 15"), HasSubstr("thash_entries=2097152"))));
}

TEST(Preflight, CoresAreThoseThatAControlGroupAllows) {
  HostFacts facts = machine();
  EXPECT_THAT(warnings(check_host(need(10'000), host(10'000, 1, true), facts)), IsEmpty()) << "0.7 of 2";
  facts.set(Fact::cpu_millicores, 500);
  EXPECT_THAT(
      warnings(check_host(need(10'000), host(10'000, 1, true), facts)),
      ElementsAre("10,000 connections a second take 0.7 of CPU at both ends, and load-1 has 0.5; spread "
                  "it: start agents on more hosts"));
  EXPECT_THAT(warnings(check_host(need(10'000), host(10'000, 1, false), facts)), IsEmpty()) << "0.3 of 0.5";
}

TEST(Preflight, AgentsNeededHoldThePeakAndOneLessWouldNot) {
  EXPECT_EQ(agents_needed(0, 20'000), 1u);
  EXPECT_EQ(agents_needed(19'800, 20'000), 1u);
  EXPECT_EQ(agents_needed(19'801, 20'000), 2u);
  EXPECT_EQ(agents_needed(1'000'000, 20'000), 51u);
  EXPECT_EQ(agents_needed(10, kReservedDescriptors), 1u) << "which then says why it cannot";
}

Plan plan_of(const std::string& stages) {
  auto plan = read_plan({"p.yaml",
                         "name: p\ntarget: ws://127.0.0.1:1/\n"
                         "scenarios:\n"
                         "  ear: {script: [connect, listen]}\n"
                         "  loop: {script: [connect, {repeat: {times: 2, do: [{listen: {for: 1s}}]}}]}\n"
                         "  mute: {script: [connect, {think: 60s}]}\n"
                         "stages:\n" +
                             stages,
                         {},
                         ""});
  EXPECT_TRUE(plan) << render("p.yaml", plan.error());
  return *plan;
}

TEST(Preflight, APlansNeedIsItsPeakItsFastestPaceAndItsListeners) {
  const PlanNeed paced = need_of(plan_of("  - {name: a, users: {ear: 100, mute: 50}, rate: 20/s}\n  - {name: "
                                         "b, users: {loop: 30}, over: 1s}\n"),
                                 "p.yaml");
  EXPECT_EQ(paced.peak, 180u);
  EXPECT_DOUBLE_EQ(paced.connects_per_s, 30);
  EXPECT_EQ(paced.listeners, 130u);
  const PlanNeed burst = need_of(plan_of("  - {name: a, users: {mute: 500}, for: 1s}\n"), "p.yaml");
  EXPECT_DOUBLE_EQ(burst.connects_per_s, 5'000) << "within a tenth of a second";
  EXPECT_EQ(burst.listeners, 0u);
  EXPECT_DOUBLE_EQ(need_of(plan_of("  - {name: a, users: {mute: 1m}, for: 1s}\n"), "p").connects_per_s,
                   40'000)
      << "no faster than we can";
}

}  // namespace
}  // namespace onrush
