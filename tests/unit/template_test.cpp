#include "core/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <map>
#include <set>

#include "core/feed_table.h"

namespace onrush {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

std::string rendered(std::string_view text) {
  std::string out = ">";
  const auto compiled = Template::compile(text);
  EXPECT_TRUE(compiled.has_value()) << text;
  if (compiled) compiled->render({7, 42, 1'700'000'000'000'000}, out);
  return out;
}

TEST(Template, NamesAreReplacedAndEverythingElseIsKept) {
  EXPECT_EQ(rendered(""), ">");
  EXPECT_EQ(rendered("plain"), ">plain");
  EXPECT_EQ(rendered("${user}"), ">7");
  EXPECT_EQ(rendered("${user}-${sequence}"), ">7-42");
  EXPECT_EQ(rendered(R"({"id":"${user}-${sequence}","sent_us":${now_us}})"),
            R"(>{"id":"7-42","sent_us":1700000000000000})");
  EXPECT_EQ(rendered("$5 {user} $ ${user}$"), ">$5 {user} $ 7$");
  EXPECT_EQ(rendered("gr\u00fc\u00dfe ${user}"), ">gr\u00fc\u00dfe 7");
  EXPECT_EQ(rendered(std::string_view("a\0b", 3)), std::string(">a\0b", 4));
}

TEST(Template, ADoubledDollarStandsForTheTextItself) {
  EXPECT_EQ(rendered("$${user}"), ">${user}");
  EXPECT_EQ(rendered("a $${x} ${user} $${"), ">a ${x} 7 ${");
}

TEST(Template, TheLargestValuesFit) {
  std::string out;
  Template::compile("${user} ${sequence} ${now_us}")->render({UINT64_MAX, UINT64_MAX, INT64_MIN}, out);
  EXPECT_EQ(out, "18446744073709551615 18446744073709551615 -9223372036854775808");
}

TEST(Template, MistakesSayWhereAndWhat) {
  const auto unknown = Template::compile("id ${usr}");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().offset, 3u);
  EXPECT_EQ(unknown.error().message, "unknown name 'usr' in '${...}'; did you mean '${user}'?");
  EXPECT_EQ(Template::compile("open ${user").error().offset, 5u);
  EXPECT_FALSE(Template::compile("${}").has_value());
  EXPECT_FALSE(Template::compile("${ user }").has_value());
  EXPECT_FALSE(Template::compile("${${user}}").has_value());
}

TEST(Template, TheSourceIsKeptAsWritten) {
  EXPECT_EQ(Template::compile("a ${user} $${b}")->source(), "a ${user} $${b}");
}

std::string drawn(std::string_view text, std::uint64_t user, std::uint64_t sequence, std::uint64_t seed) {
  std::string out;
  Template::compile(text)->render({.user = user, .sequence = sequence, .now_us = 0, .seed = seed}, out);
  return out;
}

TEST(Template, RandomNumbersLieWithinTheirBoundsAndReachBoth) {
  std::map<std::int64_t, int> seen;
  for (std::uint64_t user = 0; user < 6000; ++user) {
    const std::string text = drawn("${random(-2, 3)}", user, 1, 1);
    std::int64_t number = 99;
    std::from_chars(text.data(), text.data() + text.size(), number);
    ++seen[number];
  }
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_EQ(seen.begin()->first, -2);
  EXPECT_EQ(seen.rbegin()->first, 3);
  for (const auto& [number, times] : seen) EXPECT_NEAR(times, 1000, 150) << number;
  EXPECT_EQ(drawn("${random(7,7)}", 1, 1, 1), "7");
  EXPECT_NE(drawn("${random(-9223372036854775808,9223372036854775807)}", 1, 1, 1),
            drawn("${random(-9223372036854775808,9223372036854775807)}", 2, 1, 1));
}

TEST(Template, ChanceFollowsSeedUserAndSequenceAndNothingElse) {
  constexpr std::string_view kText = "${random(1,1000000000)}";
  EXPECT_EQ(drawn(kText, 1, 1, 1), drawn("reply ${random(1,1000000000)}", 1, 1, 1).substr(6));
  EXPECT_NE(drawn(kText, 1, 1, 1), drawn(kText, 2, 1, 1));
  EXPECT_NE(drawn(kText, 1, 1, 1), drawn(kText, 1, 2, 1));
  EXPECT_NE(drawn(kText, 1, 1, 1), drawn(kText, 1, 1, 2));
  const std::string two = drawn("${random(1,1000000000)} ${random(1,1000000000)}", 1, 1, 1);
  EXPECT_NE(two.substr(0, two.find(' ')), two.substr(two.find(' ') + 1));
}

TEST(Template, UuidsAreOfVersion4AndNeverTheSame) {
  std::set<std::string> seen;
  for (std::uint64_t user = 1; user <= 50; ++user)
    for (std::uint64_t sequence = 0; sequence < 50; ++sequence)
      seen.insert(drawn("${uuid}", user, sequence, 1));
  EXPECT_EQ(seen.size(), 2500U);
  EXPECT_THAT(*seen.begin(),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  const std::string two = drawn("${uuid} ${uuid}", 1, 1, 1);
  EXPECT_NE(two.substr(0, 36), two.substr(37));
}

TEST(Template, ValuesOfTheUsersRowOfTheAgentAndOfCaptures) {
  TemplateNames names;
  names.feeds = {{"other", {"a"}}, {"accounts", {"user", "token.id"}}};
  names.captures = {"room"};
  const auto text =
      Template::compile("${agent} ${room} ${data.accounts.token.id} ${data.accounts.user}", names);
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(text->feeds(), std::vector<std::uint32_t>{1});
  std::vector<FeedTable> feeds{FeedTable{1}, FeedTable{2}};
  for (const char* value : {"ann", "t-1", "bob", ""}) feeds[1].add(value);
  const std::vector<std::uint32_t> rows{0, 1};
  const std::vector<std::string_view> captures{"lobby"};
  std::string out;
  text->render({.user = 1,
                .sequence = 1,
                .now_us = 1,
                .agent = 3,
                .feeds = feeds,
                .rows = rows.data(),
                .captures = captures},
               out);
  EXPECT_EQ(out, "3 lobby  bob");
}

TEST(Template, AVariableOfTheEnvironmentIsPartOfTheText) {
  TemplateNames names;
  names.variable = [](const std::string& name) -> std::optional<std::string> {
    if (name == "TOKEN") return "a${user}";
    if (name == "BROKEN") return "\xff";
    return std::nullopt;
  };
  std::string out;
  Template::compile("<${env.TOKEN}>", names)->render({1, 1, 1}, out);
  EXPECT_EQ(out, "<a${user}>");  // it is no template itself
  EXPECT_THAT(Template::compile("${env.NONE}", names).error().message, HasSubstr("'NONE' is not set"));
  EXPECT_THAT(Template::compile("${env.BROKEN}", names).error().message, HasSubstr("is not UTF-8"));
  EXPECT_TRUE(Template::compile("${env.TOKEN}", names)->is_fixed());
}

TEST(Template, NamesThatStandForNothingSayWhatThereIs) {
  TemplateNames names;
  names.feeds = {{"accounts", {"user", "token"}}};
  names.parameters = {"rate"};
  const auto mistake = [&](std::string_view text) { return Template::compile(text, names).error().message; };
  EXPECT_EQ(mistake("${rat}"), "unknown name 'rat' in '${...}'; did you mean '${rate}'?");
  EXPECT_EQ(mistake("${data.acounts.user}"), "the plan has no feed 'acounts'; did you mean 'accounts'?");
  EXPECT_EQ(mistake("${data.accounts.tokn}"), "feed 'accounts' has no column 'tokn'; did you mean 'token'?");
  EXPECT_THAT(mistake("${data.accounts}"), HasSubstr("names no column"));
  for (const char* bad : {"${random(1)}", "${random(2,1)}", "${random(a,b)}", "${random(1,2}", "${random(}",
                          "${random(1,9223372036854775808)}", "${random(1,2,3)}"})
    EXPECT_THAT(mistake(bad), HasSubstr("is not readable")) << bad;
}

TEST(Template, TextsPutTogetherAreOneText) {
  Template whole;
  whole.append("a: ");
  whole.append(*Template::compile("${uuid}"));
  whole.append("; b: ");
  whole.append(*Template::compile("${uuid}${random(1,9)}"));
  std::string together;
  whole.render({1, 1, 1}, together);
  std::string at_once;
  Template::compile("a: ${uuid}; b: ${uuid}${random(1,9)}")->render({1, 1, 1}, at_once);
  EXPECT_EQ(together, at_once);
  EXPECT_EQ(whole.source(), "a: ${uuid}; b: ${uuid}${random(1,9)}");
  EXPECT_FALSE(whole.is_fixed());
}

TEST(Template, PartsOfOneMessageDrawAsOneText) {
  const std::vector<std::string> parts{"${random(1,1000000)} ${uuid}", "none", "${uuid}",
                                       "${random(1,1000000)}"};
  std::string whole;
  std::string apart;
  Template::Draws so_far;
  for (const std::string& part : parts) {
    whole += part;
    Template text = *Template::compile(part);
    text.draw_behind(so_far);
    text.render({.user = 1, .sequence = 1, .now_us = 1}, apart);
  }
  EXPECT_EQ(apart, drawn(whole, 1, 1, 0));
  EXPECT_EQ(so_far.randoms, 2u);
  EXPECT_EQ(so_far.uuids, 2u);
}

}  // namespace
}  // namespace onrush
