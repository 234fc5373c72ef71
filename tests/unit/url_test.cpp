#include "core/url.h"

#include <gtest/gtest.h>

namespace onrush {
namespace {

struct Good {
  const char* text;
  const char* host;
  std::uint16_t port;
  const char* path;
  const char* host_header;
};

void expect_good(const Good& g) {
  const auto url = parse_url(g.text);
  ASSERT_TRUE(url.has_value()) << g.text << ": " << url.error();
  EXPECT_EQ(url->host, g.host) << g.text;
  EXPECT_EQ(url->port, g.port) << g.text;
  EXPECT_EQ(url->path, g.path) << g.text;
  EXPECT_EQ(url->host_header, g.host_header) << g.text;
  EXPECT_EQ(url->text, g.text);
}

TEST(Url, AnIpv6AddressKeepsItsBracketsInHostOnly) {  // P023
  expect_good({"ws://[::1]:9000/", "::1", 9000, "/", "[::1]:9000"});
  expect_good({"wss://[2001:db8::5]/", "2001:db8::5", 443, "/", "[2001:db8::5]"});
  expect_good({"ws://[2001:DB8:0:0:1:2:3:4]", "2001:db8:0:0:1:2:3:4", 80, "/", "[2001:db8:0:0:1:2:3:4]"});
  expect_good({"ws://[::ffff:192.0.2.1]/", "::ffff:192.0.2.1", 80, "/", "[::ffff:192.0.2.1]"});
  expect_good({"ws://[::]/", "::", 80, "/", "[::]"});
  expect_good({"ws://[fe80::]/", "fe80::", 80, "/", "[fe80::]"});
  for (const char* bad :
       {"ws://[::1", "ws://[1:2:3]/", "ws://[::1::2]/", "ws://[12345::]/", "ws://[::1%25eth0]/",
        "ws://[g::]/", "ws://[1:2:3:4:5:6:7:8:9]/", "ws://[1:2:3:4:5:6:7::8]/", "ws://[:1]/", "ws://[1:]/",
        "ws://[]/", "ws://[::1]9000/", "ws://::1/", "ws://[::1.2.3]/", "ws://[:::1]/"})
    EXPECT_FALSE(parse_url(bad).has_value()) << bad;
}

TEST(Url, ThePortIsInHostOnlyIfItIsNotTheSchemesOwn) {  // P025
  expect_good({"wss://a.test:443/", "a.test", 443, "/", "a.test"});
  expect_good({"ws://a.test:80/", "a.test", 80, "/", "a.test"});
  expect_good({"ws://a.test:443/", "a.test", 443, "/", "a.test:443"});
  expect_good({"wss://a.test:8443/x", "a.test", 8443, "/x", "a.test:8443"});
  expect_good({"ws://a.test", "a.test", 80, "/", "a.test"});
  EXPECT_TRUE(parse_url("wss://a.test")->secure);
  EXPECT_FALSE(parse_url("ws://a.test")->secure);
}

TEST(Url, PathsGetTheEscapesTheyNeedAndKeepThoseTheyHave) {  // P026
  expect_good({"ws://a.test/stra\u00dfe/x%20y", "a.test", 80, "/stra%C3%9Fe/x%20y", "a.test"});
  expect_good({"ws://a.test?q=1", "a.test", 80, "/?q=1", "a.test"});
  expect_good({"ws://a.test/a/b?x=y&z=/?:@", "a.test", 80, "/a/b?x=y&z=/?:@", "a.test"});
  expect_good({"ws://a.test/{\"a\"|b}", "a.test", 80, "/%7B%22a%22%7Cb%7D", "a.test"});
  for (const char* path : {"/stra\u00dfe", "/\xF0\x9F\x98\x80", "/a^b`c<d>"}) {
    const auto url = parse_url(std::string("ws://a.test") + path);
    ASSERT_TRUE(url.has_value()) << path;
    for (const char c : url->path) EXPECT_TRUE(c > 0x20 && c <= 0x7E) << url->path;
  }
}

TEST(Url, ALonePercentSignIsAMistakeWithItsPlace) {  // P026
  EXPECT_EQ(parse_url_at("ws://a.test/?q=100%").error().offset, 18u);
  EXPECT_EQ(parse_url_at("ws://a.test/?q=%zz").error().offset, 15u);
  EXPECT_EQ(parse_url_at("ws://a.test/a%2").error().offset, 13u);
  EXPECT_NE(parse_url("ws://a.test/100%").error().find("%25"), std::string::npos);
}

TEST(Url, AnInternationalHostIsRefusedWithItsWayOut) {  // P026
  EXPECT_NE(parse_url("ws://b\u00fccher.test/").error().find("xn--"), std::string::npos);
  expect_good({"ws://xn--bcher-kva.test/", "xn--bcher-kva.test", 80, "/", "xn--bcher-kva.test"});
}

TEST(Url, ATrailingDotIsKept) {  // P087
  expect_good({"ws://A.Test./ws", "a.test.", 80, "/ws", "a.test."});
}

TEST(Url, WhatIsNoWebSocketAddressIsRefused) {
  for (const char* bad : {"",
                          "a.test/ws",
                          "//a.test/ws",
                          "http://a.test/",
                          "https://a.test/",
                          "ftp://a.test/",
                          "ws:/a.test",
                          "ws://",
                          "ws:///path",
                          "ws://:80/",
                          "ws://user:secret@a.test/",
                          "ws://user@a.test/",
                          "ws://a.test/#top",
                          "ws://a.test#top",
                          "ws://a.test:/",
                          "ws://a.test:0/",
                          "ws://a.test:65536/",
                          "ws://a.test:99999999999/",
                          "ws://a.test:+80/",
                          "ws://a.test:8o/",
                          "ws://a.test:80:80/",
                          "ws://a b/",
                          "ws://a..test/",
                          "ws://a.test/a b",
                          "ws://a.test/a\\b",
                          "ws://a.test/\r\nX: y",
                          "ws://a.test/\t",
                          "ws://256.0.0.1/",
                          "ws://127.1/",
                          "ws://127.0.0.01/",
                          "ws://0x7f.0.0.1/",
                          "ws://1.2.3.4.5/",
                          "ws://a%41.test/",
                          "ws://a\"b/",
                          "ws://."})
    EXPECT_FALSE(parse_url(bad).has_value()) << bad;
  EXPECT_FALSE(parse_url("ws://" + std::string(64, 'a') + ".test/").has_value());
  EXPECT_FALSE(parse_url("ws://a.test/" + std::string(5000, 'a')).has_value());
  EXPECT_EQ(parse_url("http://a.test/").error(), "http:// is not a WebSocket address; write ws://");
}

TEST(Url, TheSchemeIsReadInAnyCase) {
  expect_good({"WS://127.0.0.1:8088/echo", "127.0.0.1", 8088, "/echo", "127.0.0.1:8088"});
}

}  // namespace
}  // namespace onrush
