// GraphQL without a network: documents, JSON templates, and a server's messages.
#include "core/graphql.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graphql_document.h"
#include "core/json_template.h"

namespace onrush {
namespace {

using testing::HasSubstr;

GraphqlMessage read(std::string_view text) {
  static JsonReader json{16 << 20};
  static const GraphqlReader reader;
  static std::vector<std::uint8_t> bytes;
  bytes.assign(text.begin(), text.end());
  bytes.resize(text.size() + kJsonPadding);
  return reader.read(json, std::span{bytes}.first(text.size()));
}

TEST(GraphqlReader, ReadsTypeIdAndErrorsInAnyOrder) {
  const GraphqlMessage next = read(R"( {"payload":{"data":{"a":[1,{"b":"}"}]}},"id":"12","type":"next"} )");
  EXPECT_EQ(next.type, GraphqlType::next);
  EXPECT_EQ(next.id, 12u);
  EXPECT_FALSE(next.has_errors);
  EXPECT_TRUE(
      read(R"({"type":"data","id":"1","payload":{"data":null,"errors":[{"message":"no"}]}})").has_errors);
  EXPECT_FALSE(read(R"({"type":"next","id":"1","payload":{"errors":null,"data":{}}})").has_errors);
  EXPECT_TRUE(read(R"({"type":"complete","id":"1","payload":{"data":1}})").has_payload);
  EXPECT_FALSE(read(R"({"type":"complete","id":"1"})").has_payload);
  EXPECT_EQ(read(R"({"type":"ping","payload":{"a": [1]}})").payload, R"({"a": [1]})");
}

TEST(GraphqlReader, KnowsEveryTypeOfBothProtocols) {
  for (std::size_t i = 1; i < kGraphqlTypes; ++i) {
    const auto type = static_cast<GraphqlType>(i);
    std::string message;
    append_graphql_message(type, 7, message);
    EXPECT_EQ(read(message).type, type) << message;
  }
}

TEST(GraphqlReader, OnlyAnIdThatWeCanHaveGivenIsOne) {
  for (const char* id :
       {R"("0")", R"("01")", R"("-1")", R"("1 ")", R"("")", R"("4294967296")", R"("x")", "1", "null"})
    EXPECT_EQ(read(std::string{R"({"type":"next","payload":{},"id":)"} + id + "}").id, 0u) << id;
}

TEST(GraphqlReader, WhatIsNoMessageIsNone) {
  for (const char* text : {"", "null", "7", "[]", "\"next\"", "{}", R"({"type":7})", R"({"type":"nxt"})",
                           R"({"type":"")", R"({"id":"1"})", "{\"type\":\"next", "\x01\xff"})
    EXPECT_EQ(read(text).type, GraphqlType::none) << text;
}

TEST(GraphqlReader, JsonNestedTenThousandDeepIsNoMessage) {
  const std::string open(10'000, '['), close(10'000, ']');
  EXPECT_EQ(read(R"({"type":"next","id":"1","payload":)" + open + close + "}").type, GraphqlType::none);
  EXPECT_EQ(read(R"({"type":"next","id":"1","payload":)" + open).type, GraphqlType::none);
  // Brackets in texts nest nothing.
  EXPECT_EQ(read(R"({"type":"next","id":"1","payload":{"data":"\"[[)" + open + R"("}})").type,
            GraphqlType::next);
}

TEST(GraphqlNames, EachProtocolAllowsItsOwnWordsToAServer) {
  EXPECT_TRUE(server_may_send(Subprotocol::graphql_transport_ws, GraphqlType::next));
  EXPECT_FALSE(server_may_send(Subprotocol::graphql_transport_ws, GraphqlType::data));
  EXPECT_FALSE(server_may_send(Subprotocol::graphql_transport_ws, GraphqlType::ka));
  EXPECT_TRUE(server_may_send(Subprotocol::graphql_ws, GraphqlType::ka));
  EXPECT_FALSE(server_may_send(Subprotocol::graphql_ws, GraphqlType::ping));
  for (const auto type :
       {GraphqlType::subscribe, GraphqlType::start, GraphqlType::stop, GraphqlType::connection_init})
    for (const auto protocol : {Subprotocol::graphql_transport_ws, Subprotocol::graphql_ws})
      EXPECT_FALSE(server_may_send(protocol, type)) << name(type);
  for (const std::uint32_t code : {4400u, 4401u, 4403u, 4406u, 4408u, 4409u, 4429u, 4500u})
    EXPECT_NE(graphql_close_words(code), nullptr) << code;
}

TEST(JsonTemplate, EscapesTextsAndKeepsNumbers) {
  JsonTemplate json;
  json.append_json("{\"a\":");
  json.append_text(Template::compile("\"${user}\"\n\x01\\ü").value());
  json.append_json(",\"b\":");
  json.append_number(Template::compile("${sequence}").value());
  json.append_json(",\"c\":");
  json.append_number(Template::compile("0${user}").value());
  json.append_json("}");
  std::string scratch, out;
  json.render({7, 3, 0}, scratch, out);
  EXPECT_EQ(out, "{\"a\":\"\\\"7\\\"\\n\\u0001\\\\ü\",\"b\":3,\"c\":\"07\"}");
}

TEST(JsonTemplate, TwoValuesOfOneDocumentDrawDifferentNumbers) {
  JsonTemplate json;
  json.append_number(Template::compile("${random(0,1000000)}").value());
  json.append_json(",");
  json.append_text(Template::compile("${random(0,1000000)}").value());
  std::string scratch, out, as_one_text;
  json.render({7, 3, 0}, scratch, out);
  Template::compile("${random(0,1000000)},\"${random(0,1000000)}\"")->render({7, 3, 0}, as_one_text);
  EXPECT_EQ(out, as_one_text);
}

TEST(JsonTemplate, KnowsANumber) {
  for (const char* number : {"0", "-0", "12", "1.5", "-1.5e+3", "1E9"})
    EXPECT_TRUE(is_json_number(number)) << number;
  for (const char* text : {"", "-", "01", "1.", ".5", "+1", "1e", "0x1", "1 ", "NaN", "1_000"})
    EXPECT_FALSE(is_json_number(text)) << text;
}

TEST(GraphqlDocument, SaysTheOperationAndItsVariables) {
  const auto parsed = parse_graphql(
      "\xEF\xBB\xBF# query { comment\nfragment F on T @a(b: \"}\") { x }\n"
      "mutation M($a: [String!]!, $b: Float = 1.5e3 @d, $c: In = {x: [1, \"\"\"}\\\"\"\"\"\"\"]}) @live { "
      "a(b: $a) { ...F } }");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(parsed->operation, GraphqlOperation::mutation);
  ASSERT_EQ(parsed->variables.size(), 3u);
  EXPECT_EQ(parsed->variables[0].type, "String");
  EXPECT_TRUE(parsed->variables[0].required);
  EXPECT_EQ(parsed->variables[1].type, "Float");
  EXPECT_FALSE(parsed->variables[1].required);
  EXPECT_EQ(parsed->find("c")->type, "In");
  EXPECT_EQ(parse_graphql("{ a }")->operation, GraphqlOperation::query);
  EXPECT_EQ(parse_graphql("subscription { a }")->operation, GraphqlOperation::subscription);
}

TEST(GraphqlDocument, ToldWhereAndWhat) {
  const auto said = [](std::string_view text) {
    const auto parsed = parse_graphql(text);
    return parsed ? std::string{"nothing"}
                  : std::to_string(parsed.error().offset) + ": " + parsed.error().message;
  };
  EXPECT_EQ(said(""), "0: there is no operation; write query { ... }");
  EXPECT_THAT(said("{ a } { b }"), HasSubstr("6: there is a second operation"));
  EXPECT_THAT(said("{ a "), HasSubstr("has no end"));
  EXPECT_THAT(said("query ($a: ) { a }"), HasSubstr("a type is a name"));
  EXPECT_THAT(said("query q"), HasSubstr("a selection"));
  EXPECT_THAT(said("{ a(b: \"x) }"), HasSubstr("7: a string without its end"));
  EXPECT_THAT(said(std::string(1000, '{')), HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(said(std::string(kLongestGraphql + 1, ' ')), HasSubstr("longer than"));
}

}  // namespace
}  // namespace onrush
