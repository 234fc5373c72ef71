// Files that a plan names, as who reads the plan gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan_text.h"

namespace onrush {
namespace {

using testing::HasSubstr;

PlanText text_with(const std::string& step, PlanFiles files = {}) {
  return {
      "t.yaml",
      "name: t\ntarget: ws://127.0.0.1:8088/echo\nscenarios:\n  a:\n    script:\n      - connect\n      - " +
          step + "\nstages: [{name: s, users: 1, for: 1s}]\n",
      {},
      "",
      std::move(files)};
}

TEST(PlanFiles, AMessageIsTheBytesOfItsFile) {
  const std::string bytes("\0\xff binary", 9);
  const PlanText text = text_with("request: {file: messages/a.bin}", {{"messages/a.bin", content(bytes)}});
  const auto plan = read_plan(source_of(text));
  ASSERT_TRUE(plan.has_value()) << render("t.yaml", plan.error());
  const Step& step = plan->scenarios[0].script[1];
  EXPECT_EQ(*std::get<FileMessage>(std::get<RequestStep>(step.what).message).content, bytes);
}

TEST(PlanFiles, OneThatIsNotThereIsAMistakeWhereItIsNamed) {
  EXPECT_THAT(
      said(text_with("send: {file: a.bin}")),
      HasSubstr("t.yaml:7:22: 'file' in 'send' of scenario 'a': the file did not come with the plan"));
}

TEST(PlanFiles, APlanThatIsReadWithoutItsFolderNamesNone) {
  const PlanText text = text_with("send: {file: a.bin}");
  const auto plan = read_plan({text.file, text.yaml, {}, ""});
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(plan.error().front().message, HasSubstr("read without its folder"));
}

TEST(PlanFiles, NamesAreKnownBeforeTheRunAndNotEmpty) {
  EXPECT_THAT(said(text_with("send: {file: \"${user}.bin\"}")),
              HasSubstr("7:23: 'file' in 'send' of scenario 'a' must be known before the run"));
  EXPECT_THAT(said(text_with("send: {file: ''}")), HasSubstr("is no name; write the name of a file"));
  EXPECT_THAT(said(text_with("send: {file: [a]}")), HasSubstr("is a list"));
}

TEST(PlanFiles, AMessageHasAtMost16MiB) {
  const auto sized = [](std::size_t bytes) {
    return said(text_with("send: {file: a}", {{"a", content(std::string(bytes, 'x'))}}));
  };
  EXPECT_EQ(sized(16 << 20), "a good plan");
  EXPECT_THAT(sized((16 << 20) + 1), HasSubstr("'a' has 16777217 bytes; a message has at most 16 MiB"));
}

TEST(PlanFiles, AMessageIsOneThing) {
  EXPECT_THAT(said(text_with("send: {text: a, file: b}", {{"b", content("")}})),
              HasSubstr("'file' in 'send' of scenario 'a' beside 'text'; a message is one of them"));
}

TEST(PlanEnvironmentTest, AVariableStandsWhereverAParameterMayAndIsNoTemplateItself) {
  PlanText text{"t.yaml",
                "name: t\ntarget: ws://${env.HOST}:${port}/echo\nparameters: {port: "
                "'${env.PORT}'}\nscenarios: {a: {script: [connect, {send: {text: "
                "'${env.TEXT}'}}]}}\nstages: [{name: s, users: '${env.USERS}', for: 1s}]\n",
                {},
                ""};
  text.environment = {{"HOST", "127.0.0.1"}, {"PORT", "8088"}, {"USERS", "12"}, {"TEXT", "${user} $${x} $"}};
  const auto plan = read_plan(source_of(text));
  ASSERT_TRUE(plan.has_value()) << render("t.yaml", plan.error());
  EXPECT_EQ(plan->targets[0].url.host, "127.0.0.1");
  EXPECT_EQ(plan->stages[0].users.at(0), 12U);
  std::string out;
  std::get<TextMessage>(std::get<SendStep>(plan->scenarios[0].script[1].what).message)
      .text.render({1, 1, 1}, out);
  EXPECT_EQ(out, "${user} $${x} $");
  text.environment.erase("USERS");
  EXPECT_THAT(said(text), HasSubstr("t.yaml:5:28: environment variable 'USERS' is not set"));
}

PlanText text_with_feed(const std::string& feed, PlanFiles files, const std::string& text = "${data.f.id}") {
  return {"t.yaml",
          "name: t\ntarget: ws://127.0.0.1:8088/echo\ndata:\n  f: {" + feed +
              "}\nscenarios:\n  a: {script: [connect, {send: {text: '" + text +
              "'}}]}\n  b: {script: [connect, {send: {text: b}}]}\nstages: [{name: s, users: 1, for: 1s}]\n",
          {},
          "",
          std::move(files)};
}

TEST(PlanData, AFeedKnowsItsColumnsAndRowsAndWhoNamesIt) {
  const PlanText text = text_with_feed("json_lines: a, take: once, on_end: stop",
                                       {{"a", content("{\"id\": 1}\n{\"id\": 2}\n")}});
  const auto plan = read_plan(source_of(text));
  ASSERT_TRUE(plan.has_value()) << render("t.yaml", plan.error());
  ASSERT_EQ(plan->data.size(), 1U);
  EXPECT_EQ(plan->data[0].rows, 2U);
  EXPECT_EQ(plan->data[0].columns, std::vector<std::string>{"id"});
  EXPECT_EQ(plan->data[0].take, Feed::Take::once);
  EXPECT_EQ(plan->data[0].on_end, Feed::OnEnd::stop);
  EXPECT_EQ(plan->scenarios[0].feeds, std::vector<std::uint32_t>{0});
  EXPECT_TRUE(plan->scenarios[1].feeds.empty());
  EXPECT_TRUE(plan->files.empty()) << "agents get shares of it, not the file";
}

TEST(PlanData, WhatTheConnectionNamesIsEverybodys) {
  PlanText text = text_with_feed("csv: a", {{"a", content("id\n1\n")}});
  text.yaml += "connection: {headers: {X-Id: '${data.f.id}'}}\n";
  const auto plan = read_plan(source_of(text));
  ASSERT_TRUE(plan.has_value()) << render("t.yaml", plan.error());
  EXPECT_EQ(plan->scenarios[1].feeds, std::vector<std::uint32_t>{0});
}

TEST(PlanData, P091_AnEmptyFeedIsAMistakeOfThePlan) {
  EXPECT_THAT(said(text_with_feed("csv: a", {{"a", content("")}})),
              HasSubstr("t.yaml:4:12: 'csv' in feed 'f': 'a', line 1: the file is empty"));
  EXPECT_THAT(said(text_with_feed("csv: a", {{"a", content("id\n")}})),
              HasSubstr("t.yaml:4:12: 'csv' in feed 'f': 'a', line 1: there is a header, but no row"));
}

TEST(PlanData, AFaultyFileIsToldOnceWithItsLine) {
  EXPECT_EQ(said(text_with_feed("csv: a", {{"a", content("id\n\"1")}})),
            "t.yaml:4:12: 'csv' in feed 'f': 'a', line 2: a quote that begins here is never closed\n"
            "1 mistake in t.yaml; nothing was started\n");
}

TEST(PlanData, AColumnThatIsNotThereIsAMistakeWhereItIsNamed) {
  EXPECT_THAT(
      said(text_with_feed("csv: a", {{"a", content("id,token\n1,2\n")}}, "${data.f.tokn}")),
      HasSubstr("t.yaml:6:40: 'text' in 'send' of scenario 'a': feed 'f' has no column 'tokn'; did you "
                "mean 'token'?"));
}

TEST(PlanData, P040_TheByteOrderMarkDoesNotHideTheFirstColumn) {
  EXPECT_EQ(said(text_with_feed("csv: a", {{"a", content("\xef\xbb\xbfid,name\r\n7,Ann\r\n")}})),
            "a good plan");
}

TEST(PlanData, P059_AFileThatIsMissingIsToldBeforeAnythingStarts) {
  EXPECT_THAT(said(text_with_feed("csv: a", {})),
              HasSubstr("t.yaml:4:12: 'csv' in feed 'f': the file did not come with the plan"));
}

}  // namespace
}  // namespace onrush
