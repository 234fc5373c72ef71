// What a plan adds to the upgrade request, and what the server may choose of it.
#include "core/upgrade_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/control.h"
#include "core/handshake.h"
#include "core/plan_yaml.h"

namespace onrush {
namespace {

using testing::HasSubstr;
using testing::Not;

Template text(std::string_view written, const TemplateNames& names = {}) {
  return *Template::compile(written, names);
}

UpgradeFields fields(std::vector<UpgradeField> headers, std::vector<UpgradeField> cookies = {},
                     std::vector<std::string> subprotocols = {}) {
  return {std::nullopt, std::move(headers), std::move(cookies), std::move(subprotocols)};
}

std::string lines(const UpgradeHead& head, std::uint64_t user) {
  std::string out;
  EXPECT_TRUE(head.render({user, 0, 0}, out));
  return out;
}

TEST(UpgradeHead, WithoutAnythingItAddsNothing) {
  const UpgradeHead head(UpgradeFields{}, UpgradeFields{});
  EXPECT_TRUE(head.is_fixed());
  EXPECT_EQ(head.fixed(), "");
  EXPECT_FALSE(head.has_host());
}

TEST(UpgradeHead, LinesStandInTheOrderOfThePlan) {
  const UpgradeHead head(fields({{"X-A", text("1")}, {"X-B", text("")}}, {{"s", text("a")}, {"t", text("b")}},
                                {"chat.v2", "chat.v1"}),
                         UpgradeFields{});
  EXPECT_TRUE(head.is_fixed());
  EXPECT_EQ(head.fixed(),
            "X-A: 1\r\nX-B: \r\nCookie: s=a; t=b\r\nSec-WebSocket-Protocol: chat.v2, chat.v1\r\n");
}

TEST(UpgradeHead, AStepReplacesWhatThePlanSaysOfTheSameNameAndAddsTheRest) {
  const UpgradeHead head(
      fields({{"X-A", text("1")}, {"X-B", text("2")}}, {{"s", text("a")}}, {"old"}),
      fields({{"x-a", text("3")}, {"X-C", text("4")}}, {{"S", text("b")}, {"s", text("c")}}, {"new"}));
  EXPECT_EQ(head.fixed(),
            "x-a: 3\r\nX-B: 2\r\nX-C: 4\r\nCookie: s=c; S=b\r\nSec-WebSocket-Protocol: new\r\n");
}

TEST(UpgradeHead, WhatDependsOnTheUserIsRenderedForEach) {
  const UpgradeHead head(fields({{"Authorization", text("Bearer ${user}")}}, {{"id", text("${user}")}}),
                         UpgradeFields{});
  EXPECT_FALSE(head.is_fixed());
  EXPECT_EQ(lines(head, 7), "Authorization: Bearer 7\r\nCookie: id=7\r\n");
  EXPECT_EQ(lines(head, 8), "Authorization: Bearer 8\r\nCookie: id=8\r\n");
}

TEST(UpgradeHead, TwoHeadersDoNotDrawTheSameUuid) {
  const UpgradeHead head(fields({{"A", text("${uuid}")}, {"B", text("${uuid}")}}), UpgradeFields{});
  const std::string both = lines(head, 1);
  EXPECT_NE(both.substr(3, 36), both.substr(44, 36));
}

TEST(UpgradeHead, AValueThatWouldBreakItsLineIsRefused) {
  TemplateNames names;
  names.captures = {"token"};
  const UpgradeHead head(fields({{"A", text("${token}", names)}, {"B", text("b")}}), UpgradeFields{});
  const auto fits = [&](std::string_view value) {
    const std::vector<std::string_view> captures{value};
    TemplateValues values{1, 1, 1};
    values.captures = captures;
    std::string out;
    return head.render(values, out);
  };
  for (const std::string_view bad : {"a\r\nEvil: x", "a\nb", "a\rb", "\r\n", "a\x01", "a\x7f", "\r\n\r\n"})
    EXPECT_FALSE(fits(bad)) << bad;
  EXPECT_TRUE(fits("a\tb \xc3\xa9"));
}

TEST(UpgradeHead, AHostOfThePlanReplacesTheTargetsOnce) {
  const Url url = *parse_url("ws://127.0.0.1:8088/echo");
  const UpgradeHead head(fields({{"host", text("b.test")}}), UpgradeFields{});
  ASSERT_TRUE(head.has_host());
  std::string request;
  encode_request(url, "dGhlIHNhbXBsZSBub25jZQ==", request,
                 {.lines = head.fixed(), .has_host = head.has_host()});
  EXPECT_THAT(request, HasSubstr("\r\nhost: b.test\r\n"));
  EXPECT_THAT(request, Not(HasSubstr("Host: 127.0.0.1")));
  EXPECT_EQ(find_head_end(request, 0), request.size());
}

TEST(UpgradeHead, APathOfTheUsersOwnReplacesTheTargetsAndCannotBreakTheRequestLine) {
  TemplateNames names;
  names.captures = {"room"};
  UpgradeFields own;
  own.path = text("/room/${room}?user=${user}", names);
  const UpgradeHead head(UpgradeFields{}, own);
  EXPECT_FALSE(head.is_fixed());
  const std::vector<std::string_view> captures{"a b\r\n#\xc3\xa9%20\""};
  TemplateValues values{7, 0, 0};
  values.captures = captures;
  std::string path;
  head.render_path(values, path);
  EXPECT_EQ(path, "/room/a%20b%0D%0A%23%C3%A9%20%22?user=7");
  std::string request;
  encode_request(*parse_url("ws://127.0.0.1:8088/echo"), "dGhlIHNhbXBsZSBub25jZQ==", request, {.path = path});
  EXPECT_TRUE(request.starts_with("GET " + path + " HTTP/1.1\r\n"));
}

TEST(UpgradeHead, PathAndHeadersDrawEachANumberOfTheirOwn) {
  UpgradeFields own = fields({{"X-Draw", text("/${random(1,1000000000000)}")}});
  own.path = text("/${random(1,1000000000000)}");
  const UpgradeHead head(UpgradeFields{}, own);
  std::string path;
  head.render_path({7, 0, 0}, path);
  EXPECT_NE("X-Draw: " + path + "\r\n", lines(head, 7));
}

TEST(UpgradeHead, AStepsPathGoesBeforeThePlans) {
  UpgradeFields general;
  general.path = text("/general");
  UpgradeFields own;
  own.path = text("/own");
  EXPECT_EQ(UpgradeHead(general, own).fixed_path(), "/own");
  EXPECT_EQ(UpgradeHead(general, UpgradeFields{}).fixed_path(), "/general");
  EXPECT_EQ(UpgradeHead(UpgradeFields{}, UpgradeFields{}).fixed_path(), "");
}

constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";

HandshakeVerdict answered(const std::string& protocol_lines, const std::vector<std::string>& offered) {
  const std::string head =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" +
      protocol_lines + "\r\n";
  return check_response(head, kKey, {offered});
}

TEST(Subprotocols, TheServerChoosesOneOfThoseOffered) {
  const std::vector<std::string> offered{"chat.v2", "chat.v1"};
  const HandshakeVerdict first = answered("Sec-WebSocket-Protocol: chat.v2\r\n", offered);
  EXPECT_EQ(first.failure.cause, Cause::none);
  EXPECT_EQ(first.subprotocol, 0U);
  const HandshakeVerdict second = answered("sec-websocket-protocol:chat.v1 \r\n", offered);
  EXPECT_EQ(second.failure.cause, Cause::none);
  EXPECT_EQ(second.subprotocol, 1U);
}

TEST(Subprotocols, AnythingElseFailsTheHandshakeWithItsOwnCause) {
  const std::vector<std::string> offered{"chat.v2", "chat.v1"};
  for (const char* line : {"Sec-WebSocket-Protocol: chat.v3\r\n", "Sec-WebSocket-Protocol: CHAT.V1\r\n",
                           "Sec-WebSocket-Protocol: chat.v2, chat.v1\r\n",
                           "Sec-WebSocket-Protocol: chat.v2\r\nSec-WebSocket-Protocol: chat.v2\r\n"})
    EXPECT_EQ(answered(line, offered).failure.cause, Cause::unasked_protocol) << line;
  EXPECT_EQ(answered("", offered).failure.cause, Cause::missing_protocol);
  EXPECT_EQ(answered("Sec-WebSocket-Protocol:\r\n", offered).failure.cause, Cause::missing_protocol);
  EXPECT_EQ(answered("", {}).failure.cause, Cause::none);
  EXPECT_EQ(answered("Sec-WebSocket-Protocol: chat\r\n", {}).failure.cause, Cause::unasked_protocol);
}

TEST(Subprotocols, APlanThatOffersOneNeedsNoList) {
  const PlanText plan{"t.yaml",
                      "name: t\ntarget: ws://127.0.0.1:1/\nconnection: {subprotocols: chat}\nscenarios: "
                      "{a: {script: [connect: {subprotocols: [x, y]}, close]}}\nstages: [{name: s, users: 1, "
                      "for: 1s}]\n",
                      {},
                      ""};
  const auto read = read_plan(source_of(plan));
  ASSERT_TRUE(read.has_value()) << render("t.yaml", read.error());
  EXPECT_EQ(read->connection.upgrade.subprotocols, std::vector<std::string>{"chat"});
  const auto& connect = std::get<ConnectStep>(read->scenarios[0].script[0].what);
  EXPECT_EQ(connect.upgrade.subprotocols, (std::vector<std::string>{"x", "y"}));
}

}  // namespace
}  // namespace onrush
