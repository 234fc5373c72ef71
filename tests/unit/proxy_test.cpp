// A proxy's address, the request for a tunnel, and the verdict on every kind of answer.
#include "core/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onrush {
namespace {

using testing::HasSubstr;
using testing::Not;

Proxy good(std::string_view text) {
  auto proxy = parse_proxy(text);
  EXPECT_TRUE(proxy.has_value()) << text;
  return proxy ? *proxy : Proxy{};
}

TEST(Proxy, ItsAddressHasAPortAndPerhapsUserAndPassword) {
  EXPECT_EQ(good("http://proxy.test:3128").url.host, "proxy.test");
  EXPECT_EQ(good("http://proxy.test:3128/").url.port, 3128);
  EXPECT_EQ(good("http://proxy.test").url.port, 80);
  EXPECT_EQ(good("http://[::1]:3128").url.host, "::1");
  EXPECT_EQ(good("http://proxy.test:3128").authorization, "");
  // RFC 7617 section 2.
  EXPECT_EQ(good("http://Aladdin:open%20sesame@p.test:1").authorization,
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(good("http://q:a@b:c@p.test:1").authorization, good("http://q:a%40b%3Ac@p.test:1").authorization);
  EXPECT_EQ(good("http://q@p.test:1").authorization, "Basic cTo=");
}

TEST(Proxy, AMistakeIsNamedWithoutThePassword) {
  for (const char* text :
       {"", "p.test:3128", "https://q:secret@p.test", "socks5://q:secret@p.test", "http://",
        "http://q:secret@", "http://q:secret@p.test:0", "http://q:secret@p.test/path",
        "http://q:secret@p.test?x", "http://q:secret%zz@p.test", "http://q%3Aq:secret@p.test",
        "http://q:secret@p test", "http://q:secret@b\u00fccher.test", "http://q:secret@[::1"}) {
    const auto proxy = parse_proxy(text);
    ASSERT_FALSE(proxy.has_value()) << text;
    EXPECT_THAT(proxy.error().message, Not(HasSubstr("secret"))) << text;
    EXPECT_LE(proxy.error().offset, std::string_view{text}.size());
  }
}

TEST(Proxy, TheRequestNamesTheTargetAlwaysWithItsPort) {
  const auto request = [](const char* target, const char* proxy) {
    std::string out;
    encode_connect(*parse_url(target), good(proxy), out);
    return out;
  };
  EXPECT_EQ(request("ws://a.test/x", "http://p.test:1"),
            "CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n");
  EXPECT_EQ(request("ws://[::1]:9000/", "http://q:p@p.test:1"),
            "CONNECT [::1]:9000 HTTP/1.1\r\nHost: [::1]:9000\r\nProxy-Authorization: Basic cTpw\r\n\r\n");
}

TEST(Proxy, P008OnlyAStatusFrom200To299IsATunnel) {
  for (const char* head : {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 Connection established\r\n\r\n",
                           "HTTP/1.1 204\r\nVia: x\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 299 x\n\n"})
    EXPECT_EQ(check_tunnel(head).failure.cause, Cause::none) << head;
  struct Case {
    std::string head;
    Cause cause;
    std::uint32_t detail;
  };
  for (const Case& c :
       {Case{"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", Cause::refused_status, 407},
        {"HTTP/1.0 503 x\r\n\r\n", Cause::refused_status, 503},
        {"HTTP/1.1 101 Switching Protocols\r\n\r\n", Cause::refused_status, 101},
        {"HTTP/1.1 100 Continue\r\n\r\n", Cause::refused_status, 100},
        {"HTTP/1.1 302 Found\r\nbad line\r\n\r\n", Cause::refused_status, 302},
        {"HTTP/2 200\r\n\r\n", Cause::not_http, 0},
        {"SSH-2.0-x\r\n\r\n", Cause::not_http, 0},
        {"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", Cause::bad_header, 0},
        {"HTTP/1.1 200 OK\r\nVia : x\r\n\r\n", Cause::bad_header, 0},
        {"HTTP/1.1 200 OK\r\nVia: a\r\n b\r\n\r\n", Cause::bad_header, 0},
        {"HTTP/1.1 200 OK\r\nVia: a\rb\r\n\r\n", Cause::bad_header, 0},
        {"HTTP/1.1 200 OK\r\nVia: " + std::string(kMaxHeadBytes, 'x') + "\r\n\r\n", Cause::head_too_large,
         0}}) {
    const HandshakeVerdict verdict = check_tunnel(c.head);
    EXPECT_EQ(verdict.failure, (Failure{Phase::proxy, c.cause, c.detail})) << c.head.substr(0, 60);
    EXPECT_FALSE(verdict.sample.empty());
  }
  EXPECT_EQ(check_tunnel("HTTP/1.1 503 a\x1b[2J\r\n\r\n").sample, "HTTP/1.1 503 a\\x1B[2J");
}

TEST(Proxy, ACopyOfThePlanHasNoPassword) {
  const Proxy proxy = good("http://q:secret@p.test:1");
  EXPECT_EQ(without_user_info("proxy: \"http://q:secret@p.test:1\" # http://q:secret@p.test:1", proxy),
            "proxy: \"http://(hidden)@p.test:1\" # http://(hidden)@p.test:1");
  EXPECT_EQ(without_user_info("a: b@c", good("http://p.test:1")), "a: b@c");
}

}  // namespace
}  // namespace onrush
