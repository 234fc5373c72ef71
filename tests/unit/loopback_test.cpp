// The engine over the kernel's own network: real sockets, real time, one process.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "agent/worker.h"
#include "tests/echo_peer.h"
#include "tests/loopback_run.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ONRUSH_COUNTS_ALLOCATIONS 0  // the sanitizers' own allocator must stay in place
#else
#define ONRUSH_COUNTS_ALLOCATIONS 1
#endif

#if ONRUSH_COUNTS_ALLOCATIONS
namespace {
thread_local std::uint64_t allocations = 0;
}  // namespace

// What every `new` of this program comes to; malloc itself is called by nothing in the engine.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace onrush {
namespace {

TEST(Loopback, EveryUserConnectsTalksAndCloses) {
  EchoPeer peer;
  const std::string plan = fmt::format(R"(
name: loopback
target: ws://127.0.0.1:{}/echo
scenarios:
  chatter: {{script: [connect, {{repeat: {{every: 50ms, do: [{{request: {{text: "${{user}} ${{sequence}}", reply: {{text: "${{user}} ${{sequence}}"}}}}}}]}}}}]}}
stages:
  - {{name: up, users: 100, rate: 500/s, for: 500ms}}
  - {{name: down, users: 0, rate: 1000/s}}
)",
                                       peer.port());
  const Aggregate aggregate = run_to_the_end(plan, 2);
  const Counters counters = aggregate.counters();
  EXPECT_EQ(at(counters, Counter::attempted), 100U);
  EXPECT_EQ(at(counters, Counter::opened), 100U);
  EXPECT_EQ(at(counters, Counter::closed), 100U);
  EXPECT_EQ(at(counters, Counter::lost), 0U);
  EXPECT_GE(at(counters, Counter::messages_sent), 500U);
  EXPECT_EQ(at(counters, Counter::messages_sent), peer.messages());
  EXPECT_EQ(peer.handshakes(), 100U);
  EXPECT_TRUE(aggregate.broken_identities().empty());
}

TEST(Loopback, EachOfThePingsThatComeTogetherIsAnswered) {
  std::string pings;
  for (int i = 0; i < 10; ++i) pings += std::string{"\x89\x01", 2} + static_cast<char>('0' + i);
  EchoPeer peer{pings};
  const std::string plan = fmt::format(R"(
name: pinged
target: ws://127.0.0.1:{}/echo
scenarios:
  talker: {{script: [connect, {{request: {{text: hello, reply: {{text: hello}}}}}}, {{listen: {{}}}}]}}
stages:
  - {{name: up, users: 20, rate: 500/s, for: 300ms}}
  - {{name: down, users: 0, rate: 1000/s}}
)",
                                       peer.port());
  const Aggregate aggregate = run_to_the_end(plan, 2);
  EXPECT_EQ(at(aggregate.counters(), Counter::opened), 20U);
  EXPECT_EQ(at(aggregate.counters(), Counter::requests), 20U);
  EXPECT_EQ(at(aggregate.counters(), Counter::lost), 0U);
  EXPECT_EQ(peer.pongs(), 200U);
}

TEST(Loopback, ARefusedConnectionIsNamedByItsErrno) {
  std::uint16_t port = 0;
  { port = EchoPeer{}.port(); }  // nobody listens there any more
  const std::string plan = fmt::format(R"(
name: refused
target: ws://127.0.0.1:{}/echo
scenarios:
  user: {{script: [connect, {{listen: {{}}}}]}}
stages:
  - {{name: up, users: 10, rate: 500/s}}
)",
                                       port);
  const Aggregate aggregate = run_to_the_end(plan, 1);
  EXPECT_EQ(at(aggregate.counters(), Counter::failed), 10U);
  const std::vector<FailureTotal> failures = aggregate.failures();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].failure, (Failure{Phase::connect, Cause::system, ECONNREFUSED}));
}

#if ONRUSH_COUNTS_ALLOCATIONS
void expect_no_allocation(const std::string& steps) {
  SCOPED_TRACE(steps);
  EchoPeer peer;
  const std::string plan = fmt::format(R"(
name: allocations
target: ws://127.0.0.1:{}/echo
scenarios:
  chatter: {{script: [connect, {{repeat: {{every: 5ms, do: [{}]}}}}]}}
stages:
  - {{name: up, users: 20, over: 100ms, for: 10s}}
)",
                                       peer.port(), steps);
  AgentSettings settings;
  settings.descriptor_limit = 1000;
  settings.threads = settings.watch_host = false;
  auto run = AgentRun::prepare(prepare_run(plan), settings, epoll_networks());
  ASSERT_TRUE(run);
  Worker& worker = *(*run)->workers().front();
  const std::int64_t start_ns = now_ns();
  (*run)->start(start_ns);
  while (now_ns() < start_ns + 300'000'000) worker.turn();
  const std::uint64_t messages_before = peer.messages();
  const std::uint64_t before = allocations;
  while (now_ns() < start_ns + 1'300'000'000) worker.turn();  // a hand-over lies within
  const std::uint64_t allocated = allocations - before;
  EXPECT_GT(before, 0U) << "the count itself does not work";
  EXPECT_GT(peer.messages() - messages_before, 500U);
  EXPECT_EQ(allocated, 0U);
}

TEST(Loopback, TheHotPathAllocatesNothing) {
  expect_no_allocation(
      R"({request: {text: "${user} ${sequence} ${now_us}", reply: {text: "${user} ${sequence} ${now_us}"}}})");
}

TEST(Loopback, ValuesThatAreKeptAllocateNothing) {
  expect_no_allocation(
      R"({request: {text: '{"id":"${user}"}', set: {id: {json: /id}, first: {regex: '"id":"(.)'}}}},
         {set: {both: "${id} ${first}"}},
         {request: {text: "${both}", reply: {text: "${id} ${first}"}}})");
}

TEST(Loopback, RepliesByJsonAndExpressionAllocateNothingEither) {
  expect_no_allocation(
      R"({request: {text: '{"id":"${user}","n":${sequence}}', reply: {json: {/id: "${user}", /n: "${sequence}"}}}},
         {send: {text: "id=${user} n=${sequence}"}}, {expect: {regex: 'id=(\d+) n=', group: "${user}"}})");
}
#endif

}  // namespace
}  // namespace onrush
