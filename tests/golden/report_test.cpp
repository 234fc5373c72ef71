#include "coordinator/report.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "coordinator/exposition.h"
#include "tests/golden/golden_text.h"
#include "tests/measured_run.h"

namespace onrush {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPlan = R"(
name: morning
target: ws://127.0.0.1:8088/broadcast
scenarios:
  subscriber:
    script: [connect, {listen: {sequence: /seq}}]
  talker:
    script: [connect, {repeat: {every: 1s, do: [{request: {text: hello, reply: any}}]}}]
stages:
  - {name: setup, users: {subscriber: 20, talker: 2}, rate: 10/s}
  - {name: hold, for: 2s}
  - {name: teardown, users: {subscriber: 0, talker: 0}, rate: 100/s}
thresholds:
  - failed_connections < 1%
  - reach > 90% in hold
  - response_time p99 < 250ms
observe:
  - {name: server, port: 8088}
)";

constexpr std::uint32_t kSetup = 0;
constexpr std::uint32_t kHold = 1;
constexpr std::uint32_t kTeardown = 2;
constexpr std::uint32_t kSubscriber = 0;
constexpr std::uint32_t kTalker = 1;

/// A run with something of everything: two agents, one of them lost, failures of both sides, a broadcast that
/// missed some, a suspect second, a process observed.
TestRun eventful() {
  TestRun run{kPlan, {"a1", "a2"}};
  run.stages({0, 3, 5, 6});
  run.send(0, Second{0}
                  .opened(kSetup, kSubscriber, 9, 310)
                  .opened(kSetup, kTalker, 1, 2'840)
                  .sample(kSetup, kSubscriber, Time::tcp_connect, 90, 9)
                  .open(10)
                  .listening(9)
                  .health({.busiest_worker = 0.31, .memory_bytes = 9'000'000}));
  run.send(1, Second{0}
                  .opened(kSetup, kSubscriber, 8, 330)
                  .failed(kSetup, kSubscriber, {Phase::connect, Cause::system, ECONNREFUSED}, 2)
                  .failed(kSetup, kTalker, {Phase::upgrade, Cause::refused_status, 503}, 1,
                          "HTTP/1.1 503 too many \xff clients")
                  .open(8)
                  .listening(8)
                  .health({.busiest_worker = 0.30, .memory_bytes = 8'000'000}));
  run.aggregate.observed(0, 0, 0.5, 40'000'000);
  run.send(0, Second{1}
                  .count(kHold, kTalker, Counter::requests, 3)
                  .count(kHold, kTalker, Counter::messages_sent, 3)
                  .count(kHold, kTalker, Counter::messages_received, 2)
                  .count(kHold, kTalker, Counter::failed_requests, 1)
                  .sample(kHold, kTalker, Time::round_trip, 1'500, 2)
                  .broadcast(kHold, kSubscriber, 1, 9, 9, 1'000, 400)
                  .open(10)
                  .listening(9)
                  .health({.lag_p99_us = 12'000, .busiest_worker = 0.61, .memory_bytes = 9'100'000}));
  run.send(1, Second{1}
                  .broadcast(kHold, kSubscriber, 1, 8, 7, 1'100, 900)
                  .count(kHold, kSubscriber, Counter::duplicates, 1)
                  .open(8)
                  .listening(8));
  run.aggregate.observed(0, 1, 0.25, 41'000'000);
  run.aggregate.agent_lost(1, 2'700'000);
  run.send(0, Second{2}
                  .closed(kTeardown, kSubscriber, 9, 2'000'000)
                  .closed(kTeardown, kTalker, 1, 7'200'000'000)
                  .last());
  return run;
}

RunFacts facts_of(const Aggregate& aggregate) {
  RunFacts facts{.run = "20261130-211503-morning",
                 .started = "2026-11-30T21:15:03Z",
                 .duration_us = 6'200'000,
                 .hosts = 1,
                 .clock_error_us = 0,
                 .decision = {}};
  RunEvents events;
  events.lost_agents = {"a2"};
  facts.decision = decide(events, aggregate);
  return facts;
}

TEST(Report, SummaryIsTheContract) {
  const TestRun run = eventful();
  ASSERT_THAT(run.aggregate.broken_identities(), ::testing::IsEmpty());
  expect_golden("report/summary.json", summary_json(facts_of(run.aggregate), run.aggregate));
}

TEST(Report, SeriesHasARowASecondWithTheNamesOfTheSummary) {
  expect_golden("report/series.csv", series_csv(eventful().aggregate));
}

TEST(Report, ExpositionIsWhatPrometheusScrapes) {
  const TestRun run = eventful();
  Live live = run.aggregate.live(6'200'000);
  live.run = "20261130-211503-morning";
  live.state = "finished";
  live.elapsed_us = 6'200'000;
  expect_golden("report/metrics.txt", exposition_text(run.aggregate, live, "degraded"));
  expect_golden("report/metrics_idle.txt", exposition_text_idle());
}

// P043
TEST(Report, ATimeWithoutSamplesIsAbsentAndNeverZero) {
  TestRun run{kPlan, {"a1"}};
  run.send(0, Second{0}.last());
  const Json summary = Json::parse(summary_json(facts_of(run.aggregate), run.aggregate));
  EXPECT_EQ(summary["times"], Json::object());
  EXPECT_FALSE(summary["delivery"].contains("reach"));
  EXPECT_FALSE(summary["delivery"].contains("spread_p50_us"));
  EXPECT_FALSE(summary["thresholds"][2].contains("value"));
  EXPECT_FALSE(summary["stages"][0].contains("start_s"));
  Live live = run.aggregate.live(0);
  EXPECT_THAT(exposition_text(run.aggregate, live, ""), Not(HasSubstr("_time_")));
}

TEST(Report, HistogramsDecodeToTheSummarysTimes) {
  const TestRun run = eventful();
  const Json file = Json::parse(histograms_json("r", run.aggregate));
  const Measured total = run.aggregate.total();
  EXPECT_EQ(file["times"].size(), 4u);
  EXPECT_EQ(file["stages"].size(), 3u);
  for (const auto& [time, json] : file["times"].items()) {
    const auto decoded = Histogram::decode_base64(json["v2"].get<std::string>());
    ASSERT_TRUE(decoded) << decoded.error();
    EXPECT_EQ(decoded->encode(), total.find(*time_named(time))->encode()) << time;
  }
  EXPECT_EQ(file["times"]["session_time"]["max_us"], 7'200'000'000);
}

// P064, P101: whatever target and plan do, series stay few and a family comes once.
TEST(Report, SeriesAreBoundedAndFamiliesComeOnce) {
  std::string plan =
      "name: wide\ntarget: ws://127.0.0.1:8088/echo\nscenarios: {user: {script: [connect]}}\nstages:\n";
  constexpr std::uint32_t kStages = 90;
  for (std::uint32_t i = 0; i < kStages; ++i)
    plan += "  - {name: s" + std::to_string(i) + ", users: " + std::to_string(i + 1) + ", for: 1s}\n";
  TestRun run{plan, {"a1"}};
  Second second{0};
  for (std::uint32_t stage = 0; stage < kStages; ++stage) {
    run.aggregate.stage_began(stage, stage);
    second.opened(stage, 0, 1);
  }
  for (std::uint32_t code = 3000; code < 4999; ++code)
    second.failed(0, 0, {Phase::open, Cause::peer_close, code}, 1);
  run.send(0, second);
  const std::string text = exposition_text(run.aggregate, run.aggregate.live(1'000'000), "");
  std::map<std::string, int> types;
  std::uint64_t opened = 0;
  std::uint64_t failures = 0;
  std::size_t failure_series = 0;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    const std::uint64_t value = std::strtoull(line.c_str() + line.rfind(' '), nullptr, 10);
    if (line.starts_with("# TYPE")) ++types[line];
    if (line.starts_with("onrush_connections_opened_total{")) opened += value;
    if (line.starts_with("onrush_failures_total{")) failures += value, ++failure_series;
  }
  for (const auto& [type, count] : types) EXPECT_EQ(count, 1) << type;
  EXPECT_EQ(opened, kStages);
  EXPECT_EQ(failures, 1999u);
  EXPECT_EQ(failure_series, ExpositionLimits::kFailureKinds + 1);
  EXPECT_THAT(text, HasSubstr("stage=\"(other)\""));
}

}  // namespace
}  // namespace onrush
