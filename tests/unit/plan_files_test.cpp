// Files that a plan names, as who reads the plan gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/control.h"
#include "core/plan_yaml.h"

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

FileContent content(std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); }

std::string said(const PlanText& text) {
  const auto plan = read_plan(source_of(text));
  return plan ? "a good plan" : render("t.yaml", plan.error());
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

}  // namespace
}  // namespace onrush
