// Lines of the users who are followed: bounded, printable, without secrets, in order.
#include "core/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/bytes.h"

namespace onrush {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

TEST(Trace, ALineSaysWhenWhoAndWhichWay) {
  std::string trace;
  add_line(trace, 1'210, "visitor 1", Direction::sent, "text, 2 bytes: hi");
  add_line(trace, 61'000'000, "a-long-name-of-a-user 123456", Direction::received, "x");
  add_line(trace, -5, "visitor 1", Direction::none, "open");
  EXPECT_EQ(trace,
            "    0.001210  visitor 1      >  text, 2 bytes: hi\n"
            "   61.000000  a-long-name-of-a-user 123456 <  x\n"
            "   -0.000005  visitor 1         open\n");
}

TEST(Trace, ASecondHasItsBoundAndSaysWhenItIsReached) {
  std::string trace;
  for (int i = 0; i < 10'000; ++i) add_line(trace, i, "u 1", Direction::sent, std::string(100, 'x'));
  EXPECT_LT(trace.size(), kTraceBytesASecond + 100);
  EXPECT_THAT(trace, EndsWith("more was left out in this second\n"));
  add_line(trace, 0, "u", Direction::none, "");
  EXPECT_THAT(trace, EndsWith("more was left out in this second\n")) << "also what would fit";
}

TEST(Trace, WhatATerminalMustNotGetIsEscaped) {
  EXPECT_EQ(escaped("a\r\n\tb\x1b[2J\xff", 100), "a\\r\\n\\tb\\x1B[2J\\xFF");
  EXPECT_EQ(escaped("abcdef", 3), "abc...");
}

TEST(Trace, SecretsOfARequestAreHidden) {
  EXPECT_EQ(without_secrets("GET / HTTP/1.1\r\nauthorization: Bearer t\r\nX: y\r\nCookie: a=b\r\n"
                            "Proxy-Authorization:Basic cTpw\r\n\r\n"),
            "GET / HTTP/1.1\r\nauthorization: (hidden)\r\nX: y\r\nCookie: (hidden)\r\n"
            "Proxy-Authorization: (hidden)\r\n\r\n");
}

TEST(Trace, OurOwnFramesAreUnmasked) {
  std::string bytes;
  encode_frame(Opcode::text, bytes_of("hello"), 0x12345678, bytes);
  encode_frame(Opcode::binary, bytes_of(std::string(70'000, 'b')), 0xfedcba98, bytes);
  encode_frame(Opcode::pong, {}, 1, bytes);
  encode_frame(Opcode::binary, bytes_of(std::string(300, 'c')), 7, bytes);
  encode_close(4000, "bye", 99, bytes);
  EXPECT_THAT(describe_frames(bytes_of(bytes)),
              ElementsAre("text, 5 bytes: hello", "binary, 70000 bytes: " + std::string(160, 'b') + "...",
                          "pong, 0 bytes", "binary, 300 bytes: " + std::string(160, 'c') + "...",
                          "close, 5 bytes, code 4000: bye"));
}

TEST(Trace, BytesThatAreNoWholeFrameAreNoHarm) {
  std::string bytes;
  encode_frame(Opcode::text, bytes_of(std::string(200, 'x')), 5, bytes);
  for (std::size_t length = 0; length <= bytes.size(); ++length)
    EXPECT_LE(describe_frames(bytes_of(std::string_view{bytes}.substr(0, length))).size(), 1u);
  EXPECT_THAT(describe_frames(bytes_of(std::string(14, '\xff'))), testing::SizeIs(1));
}

TEST(Trace, AFrameThatHasNotComeWholeShowsItsBeginning) {
  EXPECT_EQ(describe_frame(Opcode::text, "hel", 1'000'000'000), "text, 1000000000 bytes: hel...");
  EXPECT_EQ(describe_frame(Opcode::ping, "", 0), "ping, 0 bytes");
  EXPECT_EQ(describe_frame(Opcode::close, "\x03", 1), "close, 1 byte: \\x03");
}

TEST(Trace, LinesOfAllAgentsComeInOrderOfTime) {
  std::string trace;
  add_line(trace, 3'000, "a 1", Direction::sent, "third");
  add_line(trace, 1'000, "a 2", Direction::sent, "first");
  add_line(trace, 1'000, "a 1", Direction::sent, "second");
  const std::string sorted = in_order(trace);
  EXPECT_LT(sorted.find("first"), sorted.find("second"));
  EXPECT_LT(sorted.find("second"), sorted.find("third"));
  EXPECT_EQ(sorted.size(), trace.size());
  EXPECT_EQ(in_order(""), "");
  EXPECT_EQ(in_order("\n \nno number"), "no number");
}

}  // namespace
}  // namespace onrush
