// wss in virtual time: TLS over a network that cuts, delays and ends whatever it likes. A failure prints its
// seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sanitized.h"
#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

constexpr const char* kMixed = R"(
name: secure
target: wss://127.0.0.1:443/echo
connection: {tls: {verify: false, resume: true}}
scenarios:
  talker:
    weight: 3
    script:
      - connect
      - repeat: {times: 4, do: [{request: {text: "${user} ${sequence}", reply: {text: "${user} ${sequence}"}, timeout: 5s}}, {think: 300ms}]}
  sender: {script: [connect, {repeat: {every: 50ms, do: [{send: {bytes: 3000}}]}}]}
stages:
  - {name: up, users: 40, over: 3s, for: 4s}
  - {name: down, users: 0, rate: 20/s}
)";

TEST(SimulatedTls, EveryUserTalksAndNothingIsHeldAfterTheEnd) {
  for (const std::uint32_t workers : {1U, 2U}) {
    Simulation run{kMixed, {.seed = workers, .workers = workers}};
    run.run();
    EXPECT_EQ(run.count(Counter::failed), 0U);
    EXPECT_EQ(run.count(Counter::lost), 0U);
    EXPECT_EQ(run.count(Counter::failed_requests), 0U);
    EXPECT_EQ(run.count(Counter::opened), run.world().handshakes());
    const Measured total = run.aggregate().total();
    EXPECT_EQ(total.samples(Time::tls), run.count(Counter::opened));
    // Whoever's script ended began again, and resumed.
    EXPECT_EQ(total.samples(Time::tls_resumed), run.count(Counter::opened) - 40);
    EXPECT_GT(total.samples(Time::tls_resumed), 0U);
  }
}

// The books are checked after every step and at the end by the simulation itself.
TEST(SimulatedTls, TheBooksBalanceWhateverTheNetworkDoes) {
  const std::uint64_t runs = seeds(40);
  std::uint64_t opened = 0;
  std::uint64_t failed = 0;
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE(seed);
    Faults faults;
    faults.refuse = faults.silent = faults.status_503 = 0.02;
    faults.reset_mid_frame = faults.close_1011 = faults.mute_on_close = 0.1;
    faults.one_byte_reads = seed % 2 == 0 ? 0.3 : 0;
    faults.short_writes = 0.3;
    Simulation run{kMixed, {.seed = seed, .agents = 2, .faults = faults}};
    run.run(seed % 5 == 0 ? std::optional{2.5} : std::nullopt);
    opened += run.count(Counter::opened);
    failed += run.count(Counter::failed);
    lost += run.count(Counter::lost);
    if (HasFailure()) return;
  }
  EXPECT_GT(opened, 20 * runs);
  EXPECT_GT(failed, 0U);
  EXPECT_GT(lost, 0U);
}

// P031: what lies half-read inside TLS neither stalls nor spins.
TEST(SimulatedTls, P031AnIdleConnectionCostsNoTurns) {
  constexpr const char* kIdle = R"(
name: idle
target: wss://127.0.0.1:443/echo
connection: {tls: {verify: false}}
scenarios:
  idler: {script: [connect, {request: {text: hello, reply: {text: hello}}}, {listen: {}}]}
stages:
  - {name: up, users: 20, over: 1s, for: 60s}
)";
  Faults faults;
  faults.one_byte_reads = 0.5;
  Simulation run{kIdle, {.seed = 3, .faults = faults}};
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 20U);
  EXPECT_EQ(run.count(Counter::failed_requests), 0U);
  Simulation plain{[] {
                     std::string text = kIdle;
                     text.replace(text.find("wss"), 3, "ws");
                     return text;
                   }(),
                   {.seed = 3, .faults = faults}};
  plain.run();
  // A handshake is some 1,500 bytes more to be read one by one; the minute of idling is the same.
  EXPECT_LT(run.turns(), plain.turns() + 20 * 4000);
}

}  // namespace
}  // namespace onrush::simulation
