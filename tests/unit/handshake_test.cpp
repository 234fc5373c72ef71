// The upgrade's request, and the verdict on every kind of answer, each found at every cut of its bytes.
#include "core/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/upgrade_answer.h"

namespace onrush {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// The example of RFC 6455 section 1.3.
constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr std::string_view kAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

Arrival arrive(const std::vector<std::string>& chunks) { return onrush::arrive(chunks, kKey); }

Arrival arrive_at_every_cut(const std::string& bytes) {
  Arrival whole = arrive({bytes});
  std::vector<std::string> singles;
  for (const char byte : bytes) singles.emplace_back(1, byte);
  std::vector<Arrival> others = {arrive(singles)};
  for (std::size_t cut = 1; cut < bytes.size(); cut += bytes.size() / 500 + 1)
    others.push_back(arrive({bytes.substr(0, cut), bytes.substr(cut)}));
  for (const Arrival& other : others) {
    EXPECT_EQ(other.failure, whole.failure);
    EXPECT_EQ(other.complete, whole.complete);
    EXPECT_EQ(other.behind, whole.behind);
  }
  return whole;
}

std::string good(const std::string& more = "",
                 const std::string& status = "HTTP/1.1 101 Switching Protocols") {
  return status +
         "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + std::string{kAccept} +
         "\r\n" + more + "\r\n";
}

// A head of these lines and the accept that is due.
std::string head(const std::vector<std::string>& lines, bool with_accept = true) {
  std::string text = "HTTP/1.1 101 Switching Protocols\r\n";
  for (const std::string& line : lines) text += line + "\r\n";
  if (with_accept) text += "Sec-WebSocket-Accept: " + std::string{kAccept} + "\r\n";
  return text + "\r\n";
}

Cause cause_of(const std::string& bytes) {
  const Arrival arrival = arrive_at_every_cut(bytes);
  EXPECT_TRUE(arrival.complete);
  EXPECT_EQ(arrival.failure.phase, Phase::upgrade);
  return arrival.failure.cause;
}

TEST(Handshake, AcceptIsTheHashOfTheRfcsExample) {
  EXPECT_EQ(accept_of(kKey), kAccept);
  EXPECT_EQ(accept_of("x3JJHMbDL1EzLkh9GBhXDw=="), "HSmrc0sMlYUkAGmm5OPpG2HaGWk=");  // Wikipedia's
}

TEST(Handshake, KeysAreSixteenBytesInBase64) {
  EXPECT_EQ(make_key(0x7468652073616D70, 0x6C65206E6F6E6365), kKey);  // "the sample nonce"
  EXPECT_EQ(make_key(0, 0), "AAAAAAAAAAAAAAAAAAAAAA==");
  EXPECT_EQ(make_key(~0ULL, ~0ULL), "/////////////////////w==");
}

TEST(Handshake, TheRequestIsExactlyThis) {
  Url url;
  url.host = "::1";
  url.port = 9000;
  url.host_header = "[::1]:9000";
  url.path = "/stra%C3%9Fe?q=1";
  std::string out = "before";
  encode_request(url, kKey, out);
  EXPECT_EQ(out,
            "beforeGET /stra%C3%9Fe?q=1 HTTP/1.1\r\nHost: [::1]:9000\r\nUpgrade: websocket\r\nConnection: "
            "Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
}

TEST(Handshake, TheRequestOffersTheExtensionsThatItIsGiven) {
  Url url;
  url.host_header = "a.test";
  url.path = "/";
  std::string out;
  encode_request(url, kKey, out, {.extensions = offer_text({})});
  EXPECT_THAT(
      out, testing::EndsWith("\r\nSec-WebSocket-Version: 13\r\n"
                             "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"));
}

TEST(HandshakeDeathTest, P026NoRawByteGetsIntoTheRequest) {
  for (const char* path : {"/stra\xC3\x9F"
                           "e",
                           "/a b", "/a\r\nX: y", "/\x7F"}) {
    Url url;
    url.host_header = "a.test";
    url.path = path;
    std::string out;
    EXPECT_DEATH(encode_request(url, kKey, out), "internal error") << path;
  }
}

TEST(Handshake, FramesBehindTheHeadAreLeft) {
  const Arrival arrival = arrive_at_every_cut(good() + "\x81\x02hi");
  EXPECT_EQ(arrival.failure.cause, Cause::none);
  EXPECT_EQ(arrival.behind, "\x81\x02hi");
}

TEST(Handshake, P001ConnectionIsAListOfTokens) {
  const std::string upgrade = "Upgrade: websocket";
  for (const char* line :
       {"Connection: Upgrade, Keep-Alive", "connection: keep-alive,upgrade", "CONNECTION:UPGRADE",
        "Connection: ,, upgrade ,", "Connection:\tkeep-alive\t,\tUpgrade\t"})
    EXPECT_EQ(cause_of(head({upgrade, line})), Cause::none) << line;
  EXPECT_EQ(cause_of(head({"Connection: keep-alive", upgrade, "Connection: Upgrade"})), Cause::none);
  EXPECT_EQ(cause_of(head({"Connection: Upgrade", upgrade, "Connection: keep-alive"})), Cause::none);
  for (const char* line :
       {"Connection: Upgradex", "Connection: xUpgrade", "Connection: keep-alive",
        "Connection:", "Connection: Upgrade keep-alive", "X-Connection: Upgrade", "Connection: \"Upgrade\""})
    EXPECT_EQ(cause_of(head({upgrade, line})), Cause::missing_connection) << line;
  EXPECT_EQ(cause_of(head({upgrade})), Cause::missing_connection);
}

TEST(Handshake, P002TheReasonPhraseDoesNotCount) {
  for (const char* status : {"HTTP/1.1 101", "HTTP/1.1 101 ", "HTTP/1.1 101 Whatever", "HTTP/1.1 101 200 OK",
                             "HTTP/1.1 101 \xC3\x9C", "HTTP/1.2 101 x"})
    EXPECT_EQ(cause_of(good("", status)), Cause::none) << status;
}

TEST(Handshake, P073NamesAndWebsocketAreComparedWithoutCase) {
  const std::string accept = ": " + std::string{kAccept};
  EXPECT_EQ(
      cause_of(head({"upgrade: WEBSOCKET", "connection: UPGRADE", "sec-websocket-accept" + accept}, false)),
      Cause::none);
  EXPECT_EQ(
      cause_of(head({"UPGRADE: WebSocket", "CONNECTION: upgrade", "SEC-WEBSOCKET-ACCEPT" + accept}, false)),
      Cause::none);
  EXPECT_EQ(
      cause_of(
          head({"Sec-WebSocket-Accept" + accept, "X: y", "Connection: Upgrade", "Upgrade:websocket"}, false)),
      Cause::none);
}

TEST(Handshake, UpgradeIsWebsocketAndNothingElse) {
  for (const char* line :
       {"Upgrade: websockets", "Upgrade: websocket, h2c", "Upgrade: h2c", "Upgrade:", "X: websocket"})
    EXPECT_EQ(cause_of(head({line, "Connection: Upgrade"})), Cause::missing_upgrade) << line;
  EXPECT_EQ(cause_of(head({"Upgrade: websocket", "Upgrade: websocket", "Connection: Upgrade"})),
            Cause::missing_upgrade);
}

TEST(Handshake, AcceptIsThereOnceAndRight) {
  const std::vector<std::string> lines = {"Upgrade: websocket", "Connection: Upgrade"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), lines.begin(), lines.end());
    return head(more, false);
  };
  const std::string right{kAccept};
  EXPECT_EQ(cause_of(with({})), Cause::missing_accept);
  EXPECT_EQ(cause_of(with({"Sec-WebSocket-Accept:  " + right + " \t"})), Cause::none);
  for (const std::string& wrong :
       {std::string{}, std::string{"x"}, right + "=", right.substr(1), "\"" + right + "\"",
        right + ", " + right, std::string{"S3PPLMBITXAQ9KYGZZHZRBK+XOO="}, std::string{kKey}})
    EXPECT_EQ(cause_of(with({"Sec-WebSocket-Accept: " + wrong})), Cause::wrong_accept) << wrong;
  EXPECT_EQ(cause_of(with({"Sec-WebSocket-Accept: " + right, "Sec-WebSocket-Accept: " + right})),
            Cause::wrong_accept);
}

// P077: where no extension was offered, any is refused at the handshake, however it is written.
TEST(Handshake, P077UnaskedExtensionsAndSubprotocolsAreRefused) {
  for (const char* value : {"permessage-deflate", "permessage-deflate; client_max_window_bits=8",
                            "permessage-deflate; server_max_window_bits=\"10\"", "x-unknown"})
    EXPECT_EQ(cause_of(good("Sec-WebSocket-Extensions: " + std::string{value} + "\r\n")),
              Cause::unasked_extension);
  EXPECT_EQ(cause_of(good("sec-websocket-protocol: chat\r\n")), Cause::unasked_protocol);
  // An empty list names nothing.
  EXPECT_EQ(cause_of(good("Sec-WebSocket-Extensions: \r\nSec-WebSocket-Protocol:\r\n")), Cause::none);
}

// P077: what an answer to an offer may say is a table of deflate_test.cpp; here, that the head's verdict is
// its.
TEST(Handshake, P077TheAnswerToAnOfferIsPartOfTheVerdict) {
  const DeflateOffer offer;
  const std::string field = "Sec-WebSocket-Extensions: ";
  HandshakeVerdict verdict = check_response(good(), kKey, {.deflate = &offer});
  EXPECT_EQ(verdict.failure.cause, Cause::none);
  EXPECT_FALSE(verdict.deflate) << "the server may decline";
  verdict = check_response(good(field + "permessage-deflate; server_max_window_bits=\"10\"\r\n"), kKey,
                           {.deflate = &offer});
  EXPECT_EQ(verdict.failure.cause, Cause::none);
  ASSERT_TRUE(verdict.deflate);
  EXPECT_EQ(verdict.deflate->server_window_bits, 10);
  verdict = check_response(good(field + "permessage-deflate\r\n\tx\r\n"), kKey, {.deflate = &offer});
  EXPECT_EQ(verdict.failure.cause, Cause::bad_extension) << "a folded line is part of the value";
  const std::string once = field + "permessage-deflate\r\n";
  verdict = check_response(good(once + once), kKey, {.deflate = &offer});
  EXPECT_EQ(verdict.failure, (Failure{Phase::upgrade, Cause::bad_extension, 0}));
  EXPECT_EQ(verdict.sample, field + "permessage-deflate");
  EXPECT_EQ(check_response(good(once + field + "x-unknown\r\n"), kKey, {.deflate = &offer}).failure.cause,
            Cause::unasked_extension);
}

TEST(Handshake, P010ABodyOfA101IsIgnored) {
  for (const char* more : {"Content-Length: 0\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
                           "Content-Length: x\r\n"}) {
    const Arrival arrival = arrive_at_every_cut(good(more) + "\x81\x01x");
    EXPECT_EQ(arrival.failure.cause, Cause::none) << more;
    EXPECT_EQ(arrival.behind, "\x81\x01x");
  }
}

TEST(Handshake, OtherHeadersDoNotMatter) {
  EXPECT_EQ(cause_of(good("Server: x\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nX-Empty:\r\nX-High: \xFC\r\n"
                          "Sec-WebSocket-Version: 13\r\n!#$%&'*+-.^_`|~09: token\r\n")),
            Cause::none);
}

TEST(Handshake, P008OnlyA101OpensAndTheStatusIsKept) {
  struct Case {
    const char* line;
    std::uint32_t status;
  };
  for (const Case& c :
       {Case{"HTTP/1.0 503 Service Unavailable", 503}, Case{"HTTP/1.1 200 OK", 200},
        Case{"HTTP/1.1 403 x", 403}, Case{"HTTP/1.1 429", 429}, Case{"HTTP/1.1 100 Continue", 100},
        Case{"HTTP/1.0 101 Switching Protocols", 101}, Case{"HTTP/1.1 000 x", 0}}) {
    const Arrival arrival = arrive_at_every_cut(good("", c.line));
    EXPECT_EQ(arrival.failure, (Failure{Phase::upgrade, Cause::refused_status, c.status})) << c.line;
    EXPECT_EQ(arrival.sample, c.line);
  }
  // A refusal is a refusal whatever its fields look like.
  EXPECT_EQ(cause_of("HTTP/1.1 500 x\r\nno colon\r\n\r\n"), Cause::refused_status);
}

TEST(Handshake, P008WhatIsNotHttpFailsAtItsFirstBytes) {
  const std::string random = "\x16\x03\x01\x02";
  for (const std::string& bytes :
       {std::string{"HTTP/2 101\r\n\r\n"}, std::string{"HTTP/2.0 101 x\r\n\r\n"}, random,
        std::string{"\0\0\0", 3}, std::string{"http/1.1 101 x\r\n\r\n"},
        std::string{"\r\nHTTP/1.1 101 x\r\n\r\n"}, std::string{"HTTP/1.1  101 x\r\n\r\n"},
        std::string{"HTTP/1.1 1011\r\n\r\n"}, std::string{"HTTP/1.1 10\r\n\r\n"},
        std::string{"HTTP/11 101 x\r\n\r\n"}, std::string{"SSH-2.0-x\r\n"}, std::string{"\x81\x02hi"}})
    EXPECT_EQ(cause_of(bytes), Cause::not_http) << testing::PrintToString(bytes);
  EXPECT_FALSE(may_be_http("S"));
  EXPECT_FALSE(may_be_http("HTTP/1.1 1x"));
  EXPECT_TRUE(may_be_http(""));
  EXPECT_TRUE(may_be_http("HTTP/1.1 1"));
  EXPECT_TRUE(may_be_http("HTTP/1.1 101"));
}

TEST(Handshake, P053OurOwnRequestReadBackIsNotHttp) {
  Url url;
  url.host_header = "127.0.0.1:40000";
  std::string request;
  encode_request(url, kKey, request);
  EXPECT_EQ(cause_of(request), Cause::not_http);
  const HandshakeVerdict verdict = check_response(request, kKey);
  EXPECT_EQ(verdict.failure.cause, Cause::not_http);
  EXPECT_EQ(verdict.sample, "GET / HTTP/1.1");
}

TEST(Handshake, P005ARedirectShowsItsLocation) {
  for (const char* location : {"wss://b.test/ws", "https://b.test/ws", "/ws2"})
    for (const char* status : {"301 Moved", "302 Found", "307 x", "308"}) {
      const std::string line = std::string{"HTTP/1.1 "} + status;
      const Arrival arrival =
          arrive_at_every_cut(line + "\r\nServer: x\r\nlocation: " + location + "\r\nX: y\r\n\r\n");
      EXPECT_EQ(arrival.failure.cause, Cause::refused_status);
      EXPECT_EQ(arrival.sample, line + "; Location: " + location);
    }
  EXPECT_EQ(arrive({"HTTP/1.1 302 Found\r\nX: y\r\n\r\n"}).sample, "HTTP/1.1 302 Found");
  EXPECT_EQ(arrive({"HTTP/1.1 302 Found\r\nno colon\r\nLocation: /x\r\n\r\n"}).sample,
            "HTTP/1.1 302 Found; Location: /x");
  EXPECT_EQ(arrive({"HTTP/1.1 302 Found\r\n\r\nLocation: /body\r\n\r\n"}).sample, "HTTP/1.1 302 Found");
  EXPECT_EQ(arrive({"HTTP/1.1 200 OK\r\nLocation: /x\r\n\r\n"}).sample, "HTTP/1.1 200 OK");
}

TEST(Handshake, P004HeadsOverTheLimitFailAtEveryCut) {
  const std::size_t overhead = good("X: \r\n").size();
  const auto of_size = [&](std::size_t size) {
    return good("X: " + std::string(size - overhead, 'x') + "\r\n");
  };
  ASSERT_EQ(of_size(kMaxHeadBytes).size(), kMaxHeadBytes);
  EXPECT_EQ(cause_of(of_size(kMaxHeadBytes)), Cause::none);
  EXPECT_EQ(cause_of(of_size(kMaxHeadBytes + 1)), Cause::head_too_large);
  EXPECT_EQ(cause_of(of_size(60 * 1024)), Cause::head_too_large);
  EXPECT_EQ(cause_of(good("", "HTTP/1.1 503 x").insert(20, std::string(20'000, 'y'))), Cause::head_too_large);
  const std::string endless = "HTTP/1.1 101 x\r\nX: " + std::string(kMaxHeadBytes, 'x');
  EXPECT_EQ(cause_of(endless), Cause::head_too_large);
}

// The search passes over each byte once: a quadratic one would take minutes for this.
TEST(Handshake, P004TheSearchIsLinearForOneByteReads) {
  std::string bytes = "HTTP/1.1 101 x\r\nX: ";
  for (int i = 0; i < 2'000'000; ++i) {
    bytes += 'x';
    ASSERT_FALSE(find_head_end(bytes, bytes.size() - 1));
  }
  bytes += "\r\n\r\n";
  EXPECT_EQ(find_head_end(bytes, bytes.size() - 4), bytes.size());
}

// docs/decisions/0010-upgrade-response.md
TEST(Handshake, P075OddLinesHaveADocumentedVerdict) {
  EXPECT_EQ(cause_of(good("X-T: a\r\n b\r\n")), Cause::none);
  EXPECT_EQ(cause_of(good("X-T: a\r\n\tUpgrade: h2c\r\n")),
            Cause::none);  // never a header out of a folded line
  EXPECT_EQ(cause_of(head({"Upgrade:", "\twebsocket", "Connection: keep-alive,", " Upgrade"})), Cause::none);
  EXPECT_EQ(cause_of(head({"X: y", " Upgrade: websocket", "Connection: Upgrade"})), Cause::missing_upgrade);
  EXPECT_EQ(cause_of(head({"Upgrade: web", " socket", "Connection: Upgrade"})), Cause::missing_upgrade);

  std::string with_lf = good("X-T: a\r\n b\r\n");
  for (std::size_t at; (at = with_lf.find('\r')) != std::string::npos;) with_lf.erase(at, 1);
  const Arrival lf = arrive_at_every_cut(with_lf + "\x81\x01\n");
  EXPECT_EQ(lf.failure.cause, Cause::none);
  EXPECT_EQ(lf.behind, "\x81\x01\n");

  const Arrival extra = arrive_at_every_cut(good() + "\r\n");
  EXPECT_EQ(extra.failure.cause, Cause::none);
  EXPECT_EQ(extra.behind, "\r\n");  // frame bytes, which the codec refuses

  for (const std::string& line :
       {std::string{"no colon"}, std::string{"X : y"}, std::string{": y"}, std::string{"X Y: z"},
        std::string{"X: a\rb"}, std::string{"X: a\0b", 6}, std::string{"X\0: a", 5}, std::string{"X\r: a"},
        std::string{"X: a\r"}, std::string{"X\xFC: a"}}) {
    const Arrival arrival = arrive_at_every_cut(good(line + "\r\n"));
    EXPECT_EQ(arrival.failure.cause, Cause::bad_header) << testing::PrintToString(line);
  }
  EXPECT_EQ(cause_of("HTTP/1.1 101 x\r\n X: y\r\nUpgrade: websocket\r\n\r\n"), Cause::bad_header);
}

TEST(Handshake, TheSampleShowsWhatWasRefusedInPrintableAscii) {
  EXPECT_EQ(arrive({good("Sec-WebSocket-Protocol: chat\r\n")}).sample, "Sec-WebSocket-Protocol: chat");
  EXPECT_EQ(arrive({head({"Upgrade: h2c", "Connection: Upgrade"})}).sample, "Upgrade: h2c");
  EXPECT_EQ(arrive({good("bad\x1B[31m line\xFF\r\n")}).sample, "bad?[31m line?");
  EXPECT_EQ(check_response("\x16\x03\x01", kKey).sample, "???");
  EXPECT_EQ(arrive({good("bad" + std::string(1000, 'x') + "\r\n")}).sample.size(), 200u);
  EXPECT_THAT(
      arrive({head({"Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: abc"}, false)})
          .sample,
      AllOf(StartsWith("Sec-WebSocket-Accept"), HasSubstr("abc")));
  EXPECT_EQ(arrive({good()}).sample, "");
}

// Called with less than a head it still answers, and never with success.
TEST(Handshake, APartOfAHeadNeverOpens) {
  const std::string whole = good("X: y\r\n");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(check_response(whole.substr(0, size), kKey).failure.cause, Cause::none) << size;
}

}  // namespace
}  // namespace onrush
