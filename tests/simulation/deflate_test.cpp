// Compressed connections in virtual time: every message comes back whole, whatever the network does to its
// bytes, and no context is held once its connection has ended.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/deflated.h"
#include "tests/sanitized.h"
#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

std::string talkers(const char* deflate, std::uint32_t users) {
  return fmt::format(R"(
name: compressed
target: ws://127.0.0.1:80/echo
connection: {{deflate: {}}}
scenarios:
  talker:
    script:
      - connect
      - repeat:
          times: 20
          every: 100ms
          do:
            - request: {{text: "user ${{user}} says ${{sequence}} and says ${{sequence}} again and again and again", timeout: 1s,
                        reply: {{text: "user ${{user}} says ${{sequence}} and says ${{sequence}} again and again and again"}}}}
            - request: {{text: "", timeout: 1s, reply: {{text: ""}}}}
      - request: {{bytes: 300, timeout: 1s}}
stages:
  - {{name: up, users: {}, rate: 200/s, for: 3s}}
  - {{name: down, users: 0, rate: 200/s}}
)",
                     deflate, users);
}

constexpr const char* kOffers[] = {
    "true",
    "{client_max_window_bits: 9}",
    "{client_max_window_bits: 8}",
    "{client_no_context_takeover: true, server_no_context_takeover: true}",
};

TEST(Deflate, EveryMessageComesBackWhole) {
  for (const char* offer : kOffers) {
    SCOPED_TRACE(offer);
    Simulation run{talkers(offer, 50), {.workers = 2}};
    run.run();
    EXPECT_EQ(run.count(Counter::opened), run.count(Counter::attempted));
    EXPECT_EQ(run.count(Counter::lost), 0U);
    EXPECT_EQ(run.count(Counter::failed_requests), 0U);
    EXPECT_GE(run.count(Counter::requests), 50U * 41);
    EXPECT_EQ(run.count(Counter::messages_received), run.world().messages_out());
    // All came back but what was on its way when its user was ended.
    EXPECT_LE(run.count(Counter::payload_bytes_received), run.count(Counter::payload_bytes_sent));
    EXPECT_GE(run.count(Counter::payload_bytes_received) + 50U * 3000,
              run.count(Counter::payload_bytes_sent));
  }
}

// A context that goes on knows the words already; without one each message has to say them anew.
TEST(Deflate, WireAndPayloadAreCountedApart) {
  const auto wire_of = [](const char* offer) {
    Simulation run{talkers(offer, 20), {}};
    run.run();
    EXPECT_GT(run.count(Counter::payload_bytes_sent), 20U * (20 * 30 + 300)) << offer;
    return static_cast<double>(run.count(Counter::bytes_received));
  };
  const double plain = wire_of("false");
  const double alone = wire_of(kOffers[3]);
  const double together = wire_of("true");
  EXPECT_LT(together, 0.9 * alone);
  EXPECT_LT(alone, 0.98 * plain);
}

// Bytes that come and go one by one, resets in mid-frame, closes instead of replies: the books balance, which
// run() checks, and what did come back was right.
TEST(Deflate, FaultsLeaveNoContextBehind) {
  Faults faults;
  faults.one_byte_reads = 0.3;
  faults.short_writes = 0.3;
  faults.reset_mid_frame = 0.3;
  faults.close_1011 = 0.2;
  faults.mute_on_close = 0.2;
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 4U : 20U); ++seed)
    for (const char* offer : {kOffers[0], kOffers[3]}) {
      SCOPED_TRACE(fmt::format("seed {} {}", seed, offer));
      Simulation run{talkers(offer, 30), {.seed = seed, .workers = 2, .faults = faults}};
      run.run();
      EXPECT_GT(run.count(Counter::requests), 100U);
      for (const FailureTotal& failure : run.aggregate().failures())
        EXPECT_NE(failure.failure.cause, Cause::bad_deflate);
    }
}

// P019: 64 KiB that would become 64 MiB, for everyone at once. Each connection is failed with 1009 and
// counted, and nothing is collected for users who only listen.
TEST(Deflate, P019ABombCostsOneCountedFailureAConnection) {
  constexpr const char* kListeners = R"(
name: bombed
target: ws://127.0.0.1:80/echo
connection: {deflate: true}
scenarios:
  listener: {script: [connect, {listen: {}}]}
stages:
  - {name: up, users: 20, rate: 200/s, for: 2s}
  - {name: down, users: 0, rate: 200/s}
)";
  const std::string bomb = frame(0xC2, raw_deflate(std::string(std::size_t{64} << 20, '\0'), 9));
  ASSERT_LT(bomb.size(), 70'000U);
  Simulation run{kListeners, {}};
  run.world().at(run.start_ns() + 1'000'000'000, [&] { run.world().say("/echo", bomb); });
  run.run();
  EXPECT_EQ(run.count(Counter::opened), 20U);
  EXPECT_EQ(run.count(Counter::lost), 20U);
  EXPECT_EQ(run.count(Counter::messages_received), 0U);
  EXPECT_LE(run.count(Counter::payload_bytes_received), 20U * Worker::kMaxMessageBytes);
  ASSERT_EQ(run.aggregate().failures().size(), 1U);
  const FailureTotal failure = run.aggregate().failures().front();
  EXPECT_EQ(failure.failure, (Failure{Phase::open, Cause::message_too_large, 0}));
  EXPECT_EQ(failure.count, 20U);
}

}  // namespace
}  // namespace onrush::simulation
