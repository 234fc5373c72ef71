// The screen that a run ends with, made from its summary.json.
#include "coordinator/summary_view.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "coordinator/show.h"
#include "tests/golden/golden_text.h"

namespace onrush {
namespace {

using Json = nlohmann::json;

constexpr const char* kFolder = "onrush-results/20261130-211503-c1000k/";
const std::string kView = std::string{ONRUSH_SOURCE_DIR} + "/tests/golden/view/";

Json passed() { return Json::parse(std::ifstream{kView + "passed.json"}); }

Json failed_threshold() {
  Json summary = passed();
  summary["plan"] = "open-arrivals";
  summary["target"] = "ws://127.0.0.1:8088/echo";
  summary["verdict"] = "failed";
  summary["exit_code"] = 99;
  summary["reasons"] = {"threshold failed: response_time p99 < 250ms"};
  summary["agents"] = {{{"name", "local-1"}, {"state", "finished"}}};
  summary["hosts"] = 1;
  summary["delivery"] = Json::object();
  summary["stages"] = {{{"name", "warm"},
                        {"start_s", 0},
                        {"end_s", 10},
                        {"users", 0},
                        {"connect_rate", 100.0},
                        {"counts",
                         {{"arrivals", 1000},
                          {"dropped_arrivals", 0},
                          {"opened", 1000},
                          {"failed", 0},
                          {"closed", 851},
                          {"lost", 0},
                          {"messages_sent", 9211},
                          {"messages_received", 9198}}}},
                       {{"name", "spike"},
                        {"start_s", 10},
                        {"end_s", 22},
                        {"users", 0},
                        {"counts",
                         {{"arrivals", 11200},
                          {"dropped_arrivals", 31},
                          {"opened", 11169},
                          {"failed", 0},
                          {"closed", 9104},
                          {"lost", 4},
                          {"messages_sent", 90311},
                          {"messages_received", 90027},
                          {"failed_requests", 284}}}}};
  const Json response = {{"count", 99225},    {"min_us", 61},         {"p50_us", 92},       {"p90_us", 1'204},
                         {"p99_us", 412'000}, {"p999_us", 1'020'000}, {"max_us", 1'204'000}};
  summary["times"] = {{"response_time", response}, {"round_trip_time", response}, {"send_lag", response}};
  summary["thresholds"] = {
      {{"expression", "response_time p99 < 250ms"}, {"held", false}, {"value", 412'000}},
      {{"expression", "dropped_arrivals == 0"}, {"held", false}, {"value", 31}},
      {{"expression", "round_trip_time p99 < 1s in drain"}, {"held", false}, {"value", nullptr}},
      {{"expression", "connect_rate > 50/s in warm"}, {"held", true}, {"value", 100.0}}};
  summary.erase("observed");
  return summary;
}

Json lost_agent() {
  Json summary = passed();
  summary["verdict"] = "degraded";
  summary["exit_code"] = 5;
  summary["reasons"] = {"agent-07 was lost at 151 s (its stream broke); 50,000 connections counted as lost"};
  summary["agents"][6]["state"] = "lost";
  summary["counts"]["lost"] = 50'000;
  summary["stages"][2]["counts"]["closed"] = summary["stages"][2]["counts"]["lost"] = 50'000;
  summary["stages"][2]["delivery"]["received"] = 5'800'000;
  summary["stages"][2]["delivery"]["gaps"] = 12;
  summary["failures"] = {{{"phase", "open"},
                          {"cause", "agent lost"},
                          {"ours", true},
                          {"agent", "agent-07"},
                          {"count", 50'000},
                          {"sample", ""},
                          {"first_s", 151.0},
                          {"last_s", 151.0}}};
  summary["generator"]["valid_seconds"] = 235;
  summary["generator"]["suspect_seconds"] = 4;
  summary["generator"]["invalid_seconds"] = 1;
  summary["suspect_seconds"] = {
      {{"second", 151}, {"agent", "agent-03"}, {"grade", "SUSPECT"}, {"cause", "send_lag p99 was 61.2 ms"}}};
  return summary;
}

Json failure(const char* phase, const char* cause, std::uint64_t count, const char* agent) {
  return {{"phase", phase}, {"cause", cause}, {"ours", false},  {"count", count},
          {"agent", agent}, {"sample", ""},   {"first_s", 3.1}, {"last_s", 9.8}};
}

Json failing() {
  Json summary = passed();
  summary["counts"] = {
      {"attempted", 20'000}, {"opened", 15'880}, {"failed", 4'120}, {"closed", 15'880}, {"lost", 12}};
  summary["verdict"] = "failed";
  summary["exit_code"] = 99;
  summary["agents"] = {{{"name", "a1"}}, {{"name", "a2"}}, {{"name", "a3"}}};
  summary["failures"] = Json::array();
  for (const char* agent : {"a1", "a2", "a3"}) {
    summary["failures"].push_back(failure("connect", "refused (ECONNREFUSED)", 967, agent));
    summary["failures"].push_back(failure("upgrade", "503 Service Unavailable", 271, agent));
    summary["failures"].back()["sample"] = "too many clients";
  }
  summary["failures"].push_back(failure("upgrade", "no answer in 30 s", 200, "a2"));
  summary["failures"].push_back(failure("upgrade", "no answer in 30 s", 108, "a3"));
  Json ports = failure("connect", "no port left (EADDRNOTAVAIL)", 98, "a1");
  ports["ours"] = true;
  ports["remedy"] = "add --source-addresses";
  summary["failures"].push_back(ports);
  Json closed = failure("open", "closed by peer, 1011 internal error", 12, "a2");
  closed["sample"] = "heap";
  summary["failures"].push_back(closed);
  return summary;
}

Json hostile() {
  Json summary = failing();
  const std::string evil =
      "\x1b]0;owned\x07\x1b[2J\r\n\xc2\x9b"
      "31m\xe2\x80\xae"
      "evil";
  summary["plan"] = summary["target"] = summary["run"] = evil;
  summary["stages"][0]["name"] = evil;
  summary["failures"][0]["sample"] = evil + std::string(300, 'x');
  summary["failures"][0]["cause"] = evil;
  summary["failures"][0]["agent"] = evil;
  summary["thresholds"][0]["expression"] = evil;
  summary["reasons"] = {evil, 7, {{"why", evil}}};
  summary["observed"][0]["name"] = evil;
  summary["suspect_seconds"] = {{{"second", 1}, {"agent", evil}, {"cause", evil}}};
  summary["times"][evil] = summary["times"]["handshake_time"];
  summary["verdict"] = evil;
  return summary;
}

Json huge() {
  Json summary = failing();
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (auto& [name, time] : summary["times"].items())
    for (auto& [key, value] : time.items()) value = kMost;
  summary["times"]["start_lag"]["p50_us"] = std::numeric_limits<double>::infinity();
  summary["times"]["send_lag"] = {{"count", 3}, {"max_us", 1e300}};
  for (Json& stage : summary["stages"]) stage["users"] = stage["counts"]["closed"] = stage["end_s"] = kMost;
  for (auto& [key, value] : summary["counts"].items()) value = kMost;
  for (Json& row : summary["failures"]) row["count"] = kMost / 8;
  summary["thresholds"][0]["value"] = 1e300;
  summary["thresholds"].push_back({{"expression", "opened > 5"}, {"held", true}, {"value", 1e300}});
  summary["exit_code"] = -5;
  return summary;
}

TEST(SummaryView, ShowsARunThatPassedOnOneScreen) {
  const std::string screen = render_summary(passed(), {}, kFolder);
  EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), 24);
  expect_golden("view/summary_passed.txt", screen);
}

// P070: a threshold without samples is shown, and as failed.
TEST(SummaryView, ShowsWhichThresholdsFailedAndByWhat) {
  expect_golden("view/summary_failed_threshold.txt", render_summary(failed_threshold(), {}, kFolder));
}

TEST(SummaryView, TellsWireAndPayloadApartWhereCompressionSavedBytes) {
  Json summary = passed();
  const std::string before = render_summary(summary, ViewStyle{}, kFolder);
  Json& counts = summary["counts"];
  counts["payload_bytes_sent"] = 1000;
  counts["bytes_sent"] = 1400;
  counts["payload_bytes_received"] = 3'000'000;
  counts["bytes_received"] = 600'000;
  const std::string screen = render_summary(summary, ViewStyle{}, kFolder);
  EXPECT_EQ(before.find("deflate"), std::string::npos);
  EXPECT_NE(screen.find("  deflate"), std::string::npos) << screen;
  EXPECT_NE(screen.find("received 3.0 MB of messages in 600 KB, 20"), std::string::npos) << screen;
  EXPECT_EQ(screen.find("sent 1"), std::string::npos) << "what became longer is no saving";
}

TEST(SummaryView, TellsWhoGaveUp) {
  Json summary = passed();
  summary["stages"][0]["counts"]["gave_up"] = 1'177;
  EXPECT_NE(render_summary(summary, {}, kFolder).find("1,177 gave up"), std::string::npos);
}

TEST(SummaryView, WrapsReasonsCausesAndRemedies) {
  Json summary = failing();
  summary["reasons"] = {
      "threshold missed: round_trip_time p99 < 250ms in hold (614.4 ms); 1 SUSPECT second of "
      "the generator within, whose own lateness may be in it"};
  summary["failures"][0]["cause"] = "certificate's issuer is not known: chain incomplete or CA not trusted";
  summary["failures"][0]["remedy"] =
      "name its CA in connection.tls.ca, or else let it be known to the system";
  summary["failures"][0]["count"] = 9'000;
  summary["thresholds"][0]["held"] = false;
  summary["thresholds"][0]["doubt"] =
      "1 SUSPECT second of the generator within (second 2: a1 late by 614.0 ms "
      "(p99)), whose own lateness may be in it";
  const std::string screen = render_summary(summary, {}, kFolder);
  EXPECT_EQ(screen.find("…"), std::string::npos) << screen;
  expect_golden("view/summary_wrapped.txt", screen);
}

TEST(SummaryView, NamesTheAgentThatWasLost) {
  expect_golden("view/summary_degraded.txt", render_summary(lost_agent(), {}, kFolder));
}

TEST(SummaryView, SumsFailuresOverAgentsMostFrequentFirst) {
  expect_golden("view/summary_failures.txt", render_summary(failing(), {}, kFolder));
}

TEST(SummaryView, PutsNotesBesideFailuresWhereThereIsRoom) {
  expect_golden("view/summary_failures_wide.txt", render_summary(failing(), {false, 140, true}, kFolder));
}

TEST(SummaryView, BoundsTheErrorTable) {
  Json summary = failing();
  for (int i = 0; i < 40; ++i)
    summary["failures"].push_back(failure("upgrade", ("status " + std::to_string(600 + i)).c_str(), 1, "a1"));
  expect_golden("view/summary_many_failures.txt", render_summary(summary, {}, kFolder));
}

TEST(SummaryView, MarksTheVerdictInColour) {
  expect_golden("view/summary_colour.txt", render_summary(lost_agent(), {true, 100, true}, kFolder));
}

TEST(SummaryView, GivesUpColumnsOnANarrowTerminal) {
  expect_golden("view/summary_80.txt", render_summary(failing(), {false, 80, true}, kFolder));
  expect_golden("view/summary_50.txt", render_summary(failing(), {false, 50, true}, kFolder));
}

TEST(SummaryView, NeedsNoUnicode) {
  expect_golden("view/summary_ascii.txt", render_summary(failed_threshold(), {false, 100, false}, kFolder));
}

// P043: what was not measured is not 0.
TEST(SummaryView, SaysSoIfNothingWasMeasured) {
  const Json summary = {
      {"plan", "c1000k"},
      {"run", "20261130-211503-c1000k"},
      {"verdict", "aborted"},
      {"exit_code", 4},
      {"reasons", {"connect_pace < 20% for 10s in setup"}},
      {"counts", {{"attempted", 0}}},
      {"times", {{"handshake_time", {{"count", 0}}}}},
      {"thresholds", {{{"expression", "reach > 99.9%"}, {"held", false}, {"value", nullptr}}}},
      {"stages", {{{"name", "setup"}, {"start_s", 0}}}}};
  expect_golden("view/summary_nothing.txt", render_summary(summary, {}, kFolder));
}

TEST(SummaryView, SpellsOutHostileText) {
  expect_golden("view/summary_hostile.txt", render_summary(hostile(), {}, kFolder));
}

TEST(SummaryView, TakesTheLargestNumbers) {
  expect_golden("view/summary_huge.txt", render_summary(huge(), {}, kFolder));
}

TEST(SummaryView, NeverIsWiderThanItsTerminalAndMovesNoCursor) {
  for (const Json& summary : {passed(), failed_threshold(), lost_agent(), failing(), hostile(), huge()}) {
    for (int width = 20; width <= 160; ++width) {
      std::istringstream lines{render_summary(summary, {false, width, true}, kFolder)};
      for (std::string line; std::getline(lines, line);) {
        ASSERT_LE(display_width(line), width) << line;
        for (const char c : line) ASSERT_GE(static_cast<unsigned char>(c), 0x20) << line;
      }
    }
  }
}

// Whatever an older, later or foreign version writes must still give a screen that ends with a verdict.
TEST(SummaryView, TakesAnyValueForAnyKey) {
  const std::vector<Json> values{
      nullptr, 7, -1.5, true, "text", Json::array(), Json::object(), {nullptr, 1, "x", {{"a", 1}}}};
  const Json whole = failing();
  const Json flat = whole.flatten();
  for (const auto& [path, old] : flat.items()) {
    for (const Json& value : values) {
      Json summary = whole;
      summary[Json::json_pointer{path}] = value;
      EXPECT_NE(render_summary(summary, {}, kFolder).find(kFolder), std::string::npos) << path;
    }
  }
  for (const auto& [key, old] : whole.items()) {
    for (const Json& value : values) {
      Json summary = whole;
      summary[key] = value;
      EXPECT_NE(render_summary(summary, {}, kFolder).find(kFolder), std::string::npos) << key;
    }
  }
  for (const Json& value : values) EXPECT_NE(render_summary(value, {}).find("NO VERDICT"), std::string::npos);
}

class Show : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("onrush-show-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& text) const { std::ofstream{folder_ / "summary.json"} << text; }

  std::filesystem::path folder_;
};

TEST_F(Show, RendersTheFolderOfARun) {
  write(passed().dump());
  const auto shown = show(folder_.string(), {});
  ASSERT_TRUE(shown.has_value()) << shown.error();
  EXPECT_EQ(*shown, render_summary(passed(), {}, folder_.string() + "/"));
  EXPECT_EQ(*show((folder_ / "summary.json").string(), {}), *shown);
}

TEST_F(Show, SaysWhatIsWrongWithAFolder) {
  EXPECT_NE(show((folder_ / "none").string(), {}).error().find("there is no"), std::string::npos);
  EXPECT_NE(show(folder_.string(), {}).error().find("has no summary.json"), std::string::npos);
  write("{\"verdict\": \"pas");
  EXPECT_NE(show(folder_.string(), {}).error().find("is not JSON"), std::string::npos);
  write("[1]");
  EXPECT_NE(show(folder_.string(), {}).error().find("has no verdict"), std::string::npos);
}

}  // namespace
}  // namespace onrush
