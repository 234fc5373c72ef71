// The block and the line that a user sees while a run is under way.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>

#include "coordinator/view.h"
#include "tests/golden/golden_text.h"

namespace onrush {
namespace {

constexpr const char* kHttp = "http://127.0.0.1:7080";

Live at_setup() {
  Live live;
  live.run = "20261130-211503-c1000k";
  live.plan = "c1000k";
  live.state = "running";
  live.stages = {"setup", "idle", "broadcast", "teardown"};
  live.elapsed_us = 61'200'000;
  live.left_us = 39'000'000;
  live.stage_progress = 0.6124;
  live.wanted = 1'000'000;
  live.open = 612'398;
  live.opening = 2;
  live.connect_rate = 9'998;
  live.asked_rate = 10'000;
  live.handshakes = 612'398;
  live.handshake_p50_us = 310;
  live.handshake_p99_us = 2'840;
  live.handshake_max_us = 41'200;
  live.agents_alive = live.agents = 20;
  live.lag_p99_us = 400;
  live.busiest_agent = "agent-07";
  live.busiest_worker = 0.61;
  live.observed = {{"server", 0.82, 5'100'000'000}};
  return live;
}

Live at_broadcast() {
  Live live = at_setup();
  live.stage = 2;
  live.elapsed_us = 151'000'000;
  live.left_us = 72'000'000;
  live.stage_progress = 0.35;
  live.wanted = 1'000'001;
  live.open = 1'000'001;
  live.opening = 0;
  live.connect_rate = 0;
  live.asked_rate = 0;
  live.handshakes = 1;
  live.handshake_p50_us = live.handshake_p99_us = live.handshake_max_us = 290;
  live.delivered = 1'999'874;
  live.expected = 2'000'000;
  live.receive_rate = 152'340;
  live.send_rate = 0.1;
  return live;
}

Live in_the_open_model() {
  Live live = at_setup();
  live.plan = "open-arrivals";
  live.stages = {"warm", "steady", "spike", "calm", "drain"};
  live.stage = 2;
  live.elapsed_us = 38'000'000;
  live.left_us.reset();
  live.stage_progress = 0.667;
  live.wanted = 0;
  live.open = 3'411;
  live.opening = 12;
  live.arrivals = 13'702;
  live.dropped_arrivals = 31;
  live.connect_rate = 988;
  live.asked_rate = 1'000;
  live.handshakes = 7'702;
  live.round_trips = 61'310;
  live.round_trip_p50_us = 84;
  live.round_trip_p99_us = 1'310;
  live.round_trip_max_us = 1'020'000;
  live.receive_rate = live.send_rate = 10'311;
  live.agents_alive = live.agents = 3;
  live.observed.clear();
  return live;
}

Live when_connections_fail() {
  Live live = at_setup();
  live.failed = 4'120;
  live.lost = 12;
  live.agents_alive = 19;
  live.lag_p99_us = 12'300;
  live.busiest_worker = 0.97;
  live.suspect_seconds = 3;
  live.failures = {{"connect", "refused (ECONNREFUSED)", 2'900, false},
                   {"upgrade", "503 Service Unavailable", 812, false},
                   {"upgrade", "no answer in 30 s", 310, false},
                   {"connect", "no port left (EADDRNOTAVAIL)", 98, true},
                   {"open", "closed by peer, 1011 internal error", 12, false}};
  return live;
}

Live with_hostile_names() {
  Live live = when_connections_fail();
  live.plan = "c1000k\x1b]0;owned\x07";
  live.stages = {"一二三四五六七八九十一二三四五", "\xff\xfe", "broadcast\nsecond line",
                 std::string(300, 'x')};
  live.failures = {{"open", "closed by peer, 1008 \x1b[2J\x1b[31mgo\u202eaway", 5, false}};
  live.busiest_agent = "agent\r\x9b";
  return live;
}

Live with_huge_numbers() {
  Live live = in_the_open_model();
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
  live.wanted = live.open = live.opening = live.failed = live.lost = live.arrivals = live.dropped_arrivals =
      kMost;
  live.connect_rate = live.asked_rate = live.receive_rate = live.send_rate = 1e15;
  live.round_trip_max_us = live.handshake_max_us = live.lag_p99_us = live.elapsed_us = kLongest;
  live.left_us = kLongest;
  live.stage_progress = std::numeric_limits<double>::quiet_NaN();
  live.delivered = live.expected = kMost;
  live.observed = {{"server", 1e300, kMost}};
  live.failures = {{"connect", "refused (ECONNREFUSED)", kMost, false}};
  return live;
}

TEST(LiveView, ShowsAClosedModelRunAtSetup) {
  expect_golden("view/live_setup.txt", render_live(at_setup(), {}, kHttp));
}

TEST(LiveView, ShowsABroadcastUnderWay) {
  expect_golden("view/live_broadcast.txt", render_live(at_broadcast(), {}, kHttp));
}

TEST(LiveView, ShowsAnOpenModelRun) {
  expect_golden("view/live_open_model.txt", render_live(in_the_open_model(), {}, kHttp));
}

TEST(LiveView, ShowsFailuresByCauseAndWhoseTheyAre) {
  expect_golden("view/live_failures.txt", render_live(when_connections_fail(), {}, kHttp));
}

TEST(LiveView, MarksWhatMattersInColour) {
  expect_golden("view/live_colour.txt", render_live(when_connections_fail(), {true, 100, true}, kHttp));
}

TEST(LiveView, FitsANarrowTerminal) {
  expect_golden("view/live_80.txt", render_live(when_connections_fail(), {false, 80, true}, kHttp));
  expect_golden("view/live_40.txt", render_live(when_connections_fail(), {false, 40, true}, kHttp));
}

TEST(LiveView, NeedsNoUnicode) {
  expect_golden("view/live_ascii.txt", render_live(at_broadcast(), {false, 100, false}, kHttp));
}

TEST(LiveView, SpellsOutHostileText) {
  expect_golden("view/live_hostile.txt", render_live(with_hostile_names(), {}, kHttp));
}

TEST(LiveView, TakesTheLargestNumbers) {
  expect_golden("view/live_huge.txt", render_live(with_huge_numbers(), {}, kHttp));
}

TEST(LiveView, SaysWhatItWaitsForBeforeTheRunBegins) {
  Live live = at_setup();
  live.state = "preparing";
  live.agents_alive = 7;
  expect_golden("view/live_preparing.txt", render_live(live, {}, kHttp));
}

TEST(LiveView, CountsTheStagesThatDoNotFit) {
  Live live = at_setup();
  live.stages.clear();
  for (int i = 0; i < 200; ++i) live.stages.push_back("step-" + std::to_string(i));
  live.stage = 120;
  expect_golden("view/live_many_stages.txt", render_live(live, {}, kHttp));
}

// Every state at every width: a wrapped line would make the block creep over the screen.
TEST(LiveView, NeverIsWiderThanItsTerminal) {
  for (const Live& live : {at_setup(), at_broadcast(), in_the_open_model(), when_connections_fail(),
                           with_hostile_names(), with_huge_numbers()}) {
    for (int width = 20; width <= 200; ++width) {
      for (const bool unicode : {true, false}) {
        std::istringstream lines{render_live(live, {false, width, unicode}, kHttp)};
        for (std::string line; std::getline(lines, line);) ASSERT_LE(display_width(line), width) << line;
      }
    }
  }
}

TEST(LiveView, HoldsNoControlCharacterWithoutColour) {
  for (const char c : render_live(with_hostile_names(), {}, kHttp) + render_live_line(with_hostile_names()))
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(LiveLine, SaysTheSameInOneLine) {
  const std::string lines = render_live_line(at_setup()) + "\n" + render_live_line(at_broadcast()) + "\n" +
                            render_live_line(in_the_open_model()) + "\n" +
                            render_live_line(when_connections_fail()) + "\n" +
                            render_live_line(with_hostile_names()) + "\n";
  expect_golden("view/live_lines.txt", lines);
}

}  // namespace
}  // namespace onrush
