#include "core/template.h"

#include <gtest/gtest.h>

namespace onrush {
namespace {

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
  EXPECT_EQ(Template::compile("${uuid}").error().message, "'${uuid}' is not yet supported");
  EXPECT_EQ(Template::compile("${data.a.b}").error().message, "'${data.a.b}' is not yet supported");
  EXPECT_FALSE(Template::compile("${}").has_value());
  EXPECT_FALSE(Template::compile("${ user }").has_value());
  EXPECT_FALSE(Template::compile("${${user}}").has_value());
}

TEST(Template, TheSourceIsKeptAsWritten) {
  EXPECT_EQ(Template::compile("a ${user} $${b}")->source(), "a ${user} $${b}");
}

}  // namespace
}  // namespace onrush
