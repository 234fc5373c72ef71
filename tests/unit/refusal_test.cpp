// What is shown of a refusal's body, whatever a server sends and however it is cut.
#include "core/refusal.h"

#include <gtest/gtest.h>

#include "core/failure.h"

namespace onrush {
namespace {

const std::string kHead = "HTTP/1.1 503 Busy\r\n\r\n";
const std::string kChunked = "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n";
std::string of_length(int length) {
  return "HTTP/1.1 503 Busy\r\nX: y\r\ncontent-length:  " + std::to_string(length) + "\r\n\r\n";
}

std::string shown(const std::string& head, const std::string& behind) {
  return with_body("503", head, behind);
}

TEST(Refusal, TheBodyFollowsTheStatusInOneLine) {
  EXPECT_EQ(shown(kHead, "too many clients"), "503: too many clients");
  EXPECT_EQ(shown(kHead, "\r\n  <p>too\r\n\tmany</p>\n"), "503: <p>too many</p>");
  EXPECT_EQ(shown(kHead, ""), "503");
  EXPECT_EQ(shown(kHead, " \r\n"), "503");
}

TEST(Refusal, WhatATerminalMustNotGetIsEscaped) {
  EXPECT_EQ(shown(kHead, "a\x1b[31mb\xff\x7f"), "503: a\\x1B[31mb\\xFF\\x7F");
  EXPECT_EQ(shown(kHead, std::string("a\0b", 3)), "503: a\\x00b");
}

TEST(Refusal, TheSampleIsBoundedWhateverComes) {
  EXPECT_EQ(shown(kHead, std::string(100'000, 'x')), "503: " + std::string(200, 'x'));
  EXPECT_EQ(shown(kHead, std::string(100'000, '\xff')).size(), kSampleBytes);
  EXPECT_LE(with_body(std::string(kSampleBytes, 's'), kHead, "more").size(), kSampleBytes);
}

TEST(Refusal, TheLengthOrTheFirstChunkSaysWhereTheBodyEnds) {
  EXPECT_EQ(shown(of_length(3), "abcdef"), "503: abc");
  EXPECT_EQ(shown(kChunked, "5\r\nhello\r\n0\r\n\r\n"), "503: hello");
  EXPECT_EQ(shown(kChunked, "5;name=value\r\nhello\r\n"), "503: hello");
  EXPECT_EQ(shown(kChunked, "5"), "503");
  EXPECT_EQ(shown(kChunked, "zz\nhello"), "503: zz hello");
  EXPECT_EQ(shown(kChunked, "ffffffffffffffffffff\r\nhello"), "503: ffffffffffffffffffff hello");
}

TEST(Refusal, MoreIsWaitedForOnlyWhileMoreMayCome) {
  EXPECT_TRUE(awaits_body(kHead, ""));
  EXPECT_TRUE(awaits_body(kHead, "too"));
  EXPECT_FALSE(awaits_body(kHead, std::string(kBodyBytes, 'x')));
  EXPECT_FALSE(awaits_body(of_length(0), ""));
  EXPECT_TRUE(awaits_body(of_length(9), "too"));
  EXPECT_FALSE(awaits_body(of_length(3), "too"));
  EXPECT_TRUE(awaits_body(kChunked, "5\r\nhel"));
  EXPECT_FALSE(awaits_body(kChunked, "5\r\nhello"));
  EXPECT_FALSE(awaits_body(kChunked, "0\r\n"));
  EXPECT_TRUE(awaits_body("HTTP/1.1 503\nContent-Length : 0\n\n", "")) << "no such field";
}

TEST(Failure, OfTwoSamplesTheOneThatShowsMoreIsKept) {
  std::string sample = "HTTP/1.1 503 Busy";
  show_more(sample, "HTTP/1.1 503 Busy: too many clients");
  show_more(sample, "HTTP/1.1 503 Busy");
  EXPECT_EQ(sample, "HTTP/1.1 503 Busy: too many clients");
  show_more(sample, std::string(10'000, 'x'));
  EXPECT_EQ(sample.size(), kSampleBytes);
}

}  // namespace
}  // namespace onrush
