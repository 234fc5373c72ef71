#include "core/address.h"

#include <gtest/gtest.h>

namespace onrush {
namespace {

TEST(Address, HostAndPortAreTakenApartAndPutTogether) {
  for (const char* text : {"127.0.0.1:7070", "[::1]:0", "coordinator.example:65535"}) {
    const auto address = parse_host_port(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(join_host_port(*address), text);
  }
  EXPECT_EQ(parse_host_port("[2001:db8::5]:7070")->host, "2001:db8::5");
}

TEST(Address, WhatIsNotHostAndPortIsRefusedWithTheFormWanted) {
  for (const char* text :
       {"", "7070", ":7070", "host:", "host:65536", "host:-1", "host:7x", "::1:7070", "[]:1"}) {
    const auto address = parse_host_port(text);
    ASSERT_FALSE(address) << text;
    EXPECT_NE(address.error().find("HOST:PORT"), std::string::npos);
  }
}

TEST(Address, LoopbackIsKnown) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.8.8", "::1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "example.test"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

}  // namespace
}  // namespace onrush
