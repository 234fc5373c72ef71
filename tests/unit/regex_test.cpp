#include "core/regex.h"

#include <gtest/gtest.h>

#include <chrono>

namespace onrush {
namespace {

Regex good(std::string_view text) {
  auto regex = Regex::compile(text);
  EXPECT_TRUE(regex) << text;
  return std::move(*regex);
}

TEST(Regex, MatchesAnywhereUnlessAnchored) {
  EXPECT_TRUE(good("a+").matches("xxaayy"));
  EXPECT_FALSE(good("^a+$").matches("xxaayy"));
  EXPECT_TRUE(good("^$").matches(""));
  EXPECT_TRUE(good("(?i)Welcome").matches("say WELCOME"));
  EXPECT_TRUE(good("gr\\x{fc}n").matches("gr\xc3\xbcn"));
}

TEST(Regex, FindsItsFirstGroupOrAllOfTheMatch) {
  EXPECT_EQ(good("id=(\\d+)").find("a id=17 b id=18"), "17");
  EXPECT_EQ(good("id=\\d+").find("a id=17 b"), "id=17");
  EXPECT_EQ(good("id=(\\d*)").find("id="), "");
  EXPECT_EQ(good("(a)?b").find("b"), "") << "a group that takes no part is empty";
  EXPECT_EQ(good("id=(\\d+)").find("id="), std::nullopt);
  EXPECT_EQ(good("(a)(b)").groups(), 2);
}

TEST(Regex, WhatIsNoExpressionIsRefusedWithTheReason) {
  for (const char* wrong : {"(", "a**", "[", "\\", "(?P<a", "a{1001}", "(?=a)", "\\1"}) {
    const auto regex = Regex::compile(wrong);
    ASSERT_FALSE(regex) << wrong;
    EXPECT_FALSE(regex.error().empty());
  }
  EXPECT_FALSE(Regex::compile(std::string(1001, 'a')));
  EXPECT_FALSE(Regex::compile("((a{100}){100}){100}")) << "it would be too large";
}

TEST(Regex, BytesThatAreNoTextDoNotMatchAndDoNoHarm) {
  const std::string bytes("\x00\xff\xfe id=5\x80", 9);
  EXPECT_EQ(good("id=(\\d)").find(bytes), "5");
  EXPECT_FALSE(good("^.*$").matches("\xff"));
}

// The expression that takes other engines minutes.
TEST(Regex, TimeIsLinearInTheMessage) {
  const Regex regex = good("^(a|a)*(a|aa)+(a*)*b$");
  const std::string text(1 << 20, 'a');
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(regex.matches(text));
  EXPECT_EQ(regex.find(text), std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
}

}  // namespace
}  // namespace onrush
