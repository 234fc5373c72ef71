// Members of JSON messages by pointer: what is found, and that nothing hostile gives more than nothing.
#include "core/json_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onrush {
namespace {

using testing::Eq;
using testing::Optional;

// A message with exactly the padding that the reader may look at.
class Message {
 public:
  explicit Message(std::string_view text, char padding = '\0') : size_{text.size()} {
    bytes_.assign(text.begin(), text.end());
    bytes_.insert(bytes_.end(), kJsonPadding, static_cast<std::uint8_t>(padding));
    bytes_.shrink_to_fit();
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return std::span{bytes_}.first(size_); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t size_;
};

JsonPointer at(std::string_view pointer) { return JsonPointer::parse(pointer).value(); }

class JsonField : public testing::Test {
 protected:
  std::optional<std::uint64_t> number(std::string_view json, std::string_view pointer) {
    begin(json);
    return reader_.number(at(pointer));
  }
  std::optional<std::string> text(std::string_view json, std::string_view pointer) {
    begin(json);
    const auto found = reader_.text(at(pointer));
    return found ? std::optional<std::string>{*found} : std::nullopt;
  }
  bool begin(std::string_view json) {
    message_.emplace_back(json);
    return reader_.begin(message_.back().bytes());
  }

  JsonReader reader_{1 << 20};
  std::vector<Message> message_;
};

constexpr std::string_view kBroadcast =
    R"({"seq":7,"batch_us":1767225600000001,"sent_us":1767225600000123,"pad":"xxxxxxxx"})";

TEST_F(JsonField, TheNumbersOfABroadcastAreReadInAnyOrderAndAgain) {
  ASSERT_TRUE(begin(kBroadcast));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(reader_.number(at("/sent_us")), Optional(1767225600000123u));
    EXPECT_THAT(reader_.number(at("/seq")), Optional(7u));
    EXPECT_THAT(reader_.number(at("/batch_us")), Optional(1767225600000001u));
    EXPECT_EQ(reader_.number(at("/absent")), std::nullopt);
    EXPECT_EQ(reader_.number(at("/pad")), std::nullopt);
    EXPECT_EQ(reader_.number(at("/seq/deeper")), std::nullopt);
    EXPECT_THAT(reader_.text(at("/pad")), Optional(Eq("xxxxxxxx")));
  }
}

TEST_F(JsonField, TheNextMessageReplacesTheLast) {
  EXPECT_THAT(number(R"({"a":1})", "/a"), Optional(1u));
  EXPECT_EQ(number(R"({"b":2})", "/a"), std::nullopt);
  EXPECT_EQ(number("", "/a"), std::nullopt);
  EXPECT_THAT(number(R"({"a":3})", "/a"), Optional(3u));
}

// RFC 6901 section 5.
TEST_F(JsonField, PointersOfTheRfcsExampleFindTheirValues) {
  const std::string_view json =
      R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})";
  EXPECT_THAT(text(json, "/foo/0"), Optional(Eq("bar")));
  EXPECT_THAT(text(json, "/foo/1"), Optional(Eq("baz")));
  EXPECT_THAT(number(json, "/"), Optional(0u));
  EXPECT_THAT(number(json, "/a~1b"), Optional(1u));
  EXPECT_THAT(number(json, "/c%d"), Optional(2u));
  EXPECT_THAT(number(json, "/e^f"), Optional(3u));
  EXPECT_THAT(number(json, "/g|h"), Optional(4u));
  EXPECT_THAT(number(json, "/ "), Optional(7u));
  EXPECT_THAT(number(json, "/m~0n"), Optional(8u));
  EXPECT_EQ(text(json, "/foo"), std::nullopt);
  EXPECT_EQ(text(json, ""), std::nullopt);
  EXPECT_EQ(text(json, "/foo/2"), std::nullopt);
  EXPECT_EQ(text(json, "/foo/00"), std::nullopt);
  EXPECT_EQ(text(json, "/foo/-"), std::nullopt);
  EXPECT_EQ(text(json, "/foo/99999999999999999999999"), std::nullopt);
}

TEST_F(JsonField, DeepMembersAreReached) {
  const std::string_view json =
      R"( { "data" : { "list" : [ [], {"x":[1,2,{"id":"a"}]}, 5 ] } , "z" : [ 9 ] } )";
  EXPECT_THAT(text(json, "/data/list/1/x/2/id"), Optional(Eq("a")));
  EXPECT_THAT(number(json, "/data/list/2"), Optional(5u));
  EXPECT_THAT(number(json, "/z/0"), Optional(9u));
  EXPECT_THAT(number(R"([[[42]]])", "/0/0/0"), Optional(42u));
}

TEST_F(JsonField, TextIsWhatAStringSaysAndHowAScalarIsWritten) {
  EXPECT_THAT(text(R"({"id":"a\"\u00e9\n"})", "/id"), Optional(Eq("a\"\xC3\xA9\n")));
  EXPECT_THAT(text(R"({"id":""})", "/id"), Optional(Eq("")));
  for (const char* scalar :
       {"17", "-0", "1.50", "1e3", "true", "false", "null", "123456789012345678901234567890"}) {
    EXPECT_THAT(text("{\"id\": " + std::string{scalar} + " \n}", "/id"), Optional(Eq(scalar)));
    EXPECT_THAT(text("[" + std::string{scalar} + ",1]", "/0"), Optional(Eq(scalar)));
    EXPECT_THAT(text(scalar, ""), Optional(Eq(scalar)));
  }
  for (const char* wrong : {"truth", "nul", "12x", "tru"})
    EXPECT_EQ(text("{\"id\":" + std::string{wrong} + "}", "/id"), std::nullopt) << wrong;
}

TEST_F(JsonField, NumbersAreWholeNotNegativeAndFit) {
  EXPECT_THAT(number(R"({"n":0})", "/n"), Optional(0u));
  EXPECT_THAT(number(R"({"n":18446744073709551615})", "/n"), Optional(UINT64_MAX));
  EXPECT_THAT(number("12", ""), Optional(12u));
  EXPECT_THAT(number("\n12" + std::string(40, ' '), ""), Optional(12u));
  for (const char* wrong :
       {"18446744073709551616", "-1", "1.5", "1e3", "\"1\"", "null", "[1]", "{}", "01", "1x", "+1"})
    EXPECT_EQ(number("{\"n\":" + std::string{wrong} + "}", "/n"), std::nullopt) << wrong;
}

TEST_F(JsonField, RealTakesFractions) {
  ASSERT_TRUE(begin(R"({"s":1767225600.25,"n":-3,"i":7,"t":"1","huge":1e999})"));
  EXPECT_THAT(reader_.real(at("/s")), Optional(1767225600.25));
  EXPECT_THAT(reader_.real(at("/n")), Optional(-3.0));
  EXPECT_THAT(reader_.real(at("/i")), Optional(7.0));
  EXPECT_EQ(reader_.real(at("/t")), std::nullopt);
  EXPECT_EQ(reader_.real(at("/huge")), std::nullopt);
  EXPECT_THAT(reader_.real(at("/i")), Optional(7.0));
}

TEST_F(JsonField, OfDuplicateMembersTheFirstCounts) {
  EXPECT_THAT(number(R"({"a":1,"a":2})", "/a"), Optional(1u));
  EXPECT_THAT(number(R"({"x":{"a":9},"a":1,"a":{"a":2}})", "/a"), Optional(1u));
}

TEST_F(JsonField, HostileMessagesGiveNothing) {
  const std::string deep(10'000, '[');
  std::string deep_objects;
  for (int i = 0; i < 10'000; ++i) deep_objects += "{\"a\":";
  for (const std::string& json : {deep,
                                  deep_objects,
                                  std::string{"{\"seq\":"},
                                  std::string{"{\"seq\""},
                                  std::string{"{"},
                                  std::string{"\""},
                                  std::string{"{\"seq\":5"},
                                  std::string{"[1,2"},
                                  std::string{"hello"},
                                  std::string{"\xFF\xFE"},
                                  std::string{"{\"seq\":\"\\ud800\"}"},
                                  std::string{"{\"seq\":\"\\q\"}"},
                                  std::string{"{\"s\":\"\xC3\x28\"}"},
                                  std::string(3, '\0'),
                                  std::string{" \n "},
                                  std::string{"{]"},
                                  std::string{"}{"},
                                  std::string{"{\"seq\" 5}"},
                                  std::string{"{\"other\":1 \"seq\":5}"},
                                  std::string{"{seq:5}"},
                                  std::string{"{\"seq\":--5}"},
                                  "{\"seq\":" + std::string(100'000, '9') + "}"}) {
    begin(json);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(reader_.number(at("/seq")), std::nullopt) << json.substr(0, 40);
      EXPECT_EQ(reader_.number(at("/0/0/0")), std::nullopt) << json.substr(0, 40);
      EXPECT_EQ(reader_.number(at("/a/a/a/a")), std::nullopt) << json.substr(0, 40);
      EXPECT_EQ(reader_.real(at("/seq")), std::nullopt) << json.substr(0, 40);
    }
  }
  EXPECT_THAT(number(kBroadcast, "/seq"), Optional(7u));
}

TEST_F(JsonField, ADeepMemberBesideTheWayIsPassedOver) {
  const std::string json = "{\"deep\":" + std::string(10'000, '[') + std::string(10'000, ']') + ",\"seq\":5}";
  EXPECT_THAT(number(json, "/seq"), Optional(5u));
}

TEST_F(JsonField, EveryTruncationOfABroadcastIsSafe) {
  for (std::size_t size = 0; size < kBroadcast.size(); ++size) {
    EXPECT_EQ(number(kBroadcast.substr(0, size), "/absent"), std::nullopt);
    EXPECT_EQ(text(kBroadcast.substr(0, size), "/pad"), std::nullopt) << size;
  }
}

TEST_F(JsonField, WhatStandsInThePaddingDoesNotCount) {
  for (const char padding : {'\0', '}', '9', '"', '{'}) {
    const Message message{R"({"seq":5)", padding};
    reader_.begin(message.bytes());
    EXPECT_EQ(reader_.number(at("/seq")), std::nullopt) << padding;
    const Message scalar{"5", padding};
    reader_.begin(scalar.bytes());
    EXPECT_THAT(reader_.number(at("")), Optional(5u)) << padding;
  }
}

TEST_F(JsonField, MessagesOverTheReadersLimitGiveNothing) {
  JsonReader small{64};
  const Message fits{R"({"a":1,"b":")" + std::string(50, 'b') + "\"}"};
  const Message too_long{R"({"a":1,"b":")" + std::string(51, 'b') + "\"}"};
  ASSERT_EQ(fits.bytes().size(), 64u);
  EXPECT_TRUE(small.begin(fits.bytes()));
  EXPECT_FALSE(small.begin(too_long.bytes()));
  EXPECT_EQ(small.number(at("/a")), std::nullopt);
}

TEST(JsonPointerText, MistakesAreNamed) {
  using testing::HasSubstr;
  EXPECT_THAT(JsonPointer::parse("id").error(), HasSubstr("write /id"));
  EXPECT_THAT(JsonPointer::parse("/a~").error(), HasSubstr("~0"));
  EXPECT_THAT(JsonPointer::parse("/a~2").error(), HasSubstr("~0"));
  std::string deep;
  for (int i = 0; i < 65; ++i) deep += "/a";
  EXPECT_THAT(JsonPointer::parse(deep).error(), HasSubstr("64"));
  EXPECT_TRUE(JsonPointer::parse(""));
  EXPECT_TRUE(JsonPointer::parse("/"));
}

}  // namespace
}  // namespace onrush
