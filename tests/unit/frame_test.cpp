// The frame codec against RFC 6455, case by case, each at every cut of its bytes.
#include "core/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/frames.h"

namespace onrush {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kMax = 1'000'000;

struct Row {
  const char* name;
  std::string hex;
  std::vector<Event> events;
  Cause cause = Cause::none;
  std::uint16_t close_code = 0;
};

class FrameTable : public testing::Test {
 protected:
  // A table's row must hold for the bytes in one piece, byte by byte, and cut once anywhere.
  static void expect(const Row& row) {
    SCOPED_TRACE(row.name);
    const std::string bytes = from_hex(row.hex);
    expect_outcome(row, outcome_of({bytes}, kMax));
    std::vector<std::string> singles;
    for (const char byte : bytes) singles.emplace_back(1, byte);
    expect_outcome(row, outcome_of(singles, kMax));
    for (std::size_t cut = 1; cut < bytes.size(); ++cut)
      expect_outcome(row, outcome_of({bytes.substr(0, cut), bytes.substr(cut)}, kMax));
  }

 private:
  static void expect_outcome(const Row& row, const Outcome& outcome) {
    ASSERT_EQ(outcome.events, row.events);
    ASSERT_EQ(outcome.error.cause, row.cause);
    ASSERT_EQ(outcome.error.close_code, row.close_code);
  }
};

TEST_F(FrameTable, WholeMessagesArrive) {
  const Row rows[] = {
      {"text", "81 05 48 65 6C 6C 6F", {{Opcode::text, "Hello"}}},
      {"binary", "82 03 00 FF 80", {{Opcode::binary, std::string{"\0\xFF\x80", 3}}}},
      {"empty text", "81 00", {{Opcode::text, ""}}},
      {"empty binary", "82 00", {{Opcode::binary, ""}}},
      {"two in a row", "81 01 61 82 01 62", {{Opcode::text, "a"}, {Opcode::binary, "b"}}},
      {"ping", "89 02 68 69", {{Opcode::ping, "hi"}}},
      {"empty ping", "89 00", {{Opcode::ping, ""}}},
      {"P020 a pong nobody asked for", "8A 01 78", {{Opcode::pong, "x"}}},
      {"close without a code", "88 00", {{Opcode::close, ""}}},
      {"the rest of a message is missing", "81 05 48 65", {}},
  };
  for (const Row& row : rows) expect(row);
}

TEST_F(FrameTable, LengthsOfAllThreeFormsArrive) {
  for (const std::size_t size : {125u, 126u, 127u, 65535u, 65536u, 70000u}) {
    const std::string payload(size, 'x');
    const Outcome outcome = outcome_of({frame(0x81, payload)}, kMax);
    EXPECT_THAT(outcome.events, ElementsAre(Event{Opcode::text, payload})) << size;
    EXPECT_EQ(outcome.error.cause, Cause::none);
  }
}

// P013, RFC 6455 section 5.4.
TEST_F(FrameTable, P013ControlFramesBetweenFragmentsLeaveTheMessageWhole) {
  const Row rows[] = {
      {"ping and pong inside",
       "01 02 68 65 89 01 78 8A 00 80 03 6C 6C 6F",
       {{Opcode::ping, "x"}, {Opcode::pong, ""}, {Opcode::text, "hello"}}},
      {"close inside", "01 02 68 65 88 02 03 E8", {{Opcode::close, "\x03\xE8"}}},
      {"empty fragments", "01 00 00 00 80 00", {{Opcode::text, ""}}},
      {"an empty first fragment", "02 00 80 01 61", {{Opcode::binary, "a"}}},
      {"ping inside a character",
       "01 01 E2 89 02 C3 28 80 02 82 AC",
       {{Opcode::ping, "\xC3\x28"}, {Opcode::text, "\xE2\x82\xAC"}}},
      {"an orphan", "80 00", {}, Cause::bad_fragment, 1002},
      {"an orphan behind a message", "81 01 61 00 01 62", {{Opcode::text, "a"}}, Cause::bad_fragment, 1002},
      {"a message inside a message", "01 01 61 81 01 62", {}, Cause::bad_fragment, 1002},
      {"binary inside text", "01 01 61 02 01 62", {}, Cause::bad_fragment, 1002},
  };
  for (const Row& row : rows) expect(row);
}

// P014, RFC 6455 section 5.2: no extension is ever offered.
TEST_F(FrameTable, P014ReservedBitsFail) {
  const Row rows[] = {
      {"RSV1 on text", "C1 02 68 69", {}, Cause::reserved_bits, 1002},
      {"RSV2", "A1 02 68 69", {}, Cause::reserved_bits, 1002},
      {"RSV3", "91 02 68 69", {}, Cause::reserved_bits, 1002},
      {"RSV1 on ping", "C9 00", {}, Cause::reserved_bits, 1002},
      {"RSV1 on a continuation", "01 00 C0 00", {}, Cause::reserved_bits, 1002},
      {"what came before counts", "81 01 61 C1 00", {{Opcode::text, "a"}}, Cause::reserved_bits, 1002},
      {"P010 the last chunk of a chunked 101", "30 0D 0A 0D 0A", {}, Cause::reserved_bits, 1002},
      {"P075 an empty line behind the head", "0D 0A", {}, Cause::reserved_opcode, 1002},
  };
  for (const Row& row : rows) expect(row);
}

TEST_F(FrameTable, ReservedOpcodesFail) {
  for (const int opcode : {3, 4, 5, 6, 7, 11, 12, 13, 14, 15}) {
    const std::string bytes{static_cast<char>(0x80 | opcode), '\0'};
    EXPECT_EQ(outcome_of({bytes}, kMax).error.cause, Cause::reserved_opcode) << opcode;
    EXPECT_EQ(outcome_of({bytes}, kMax).error.close_code, 1002);
  }
}

// P079, RFC 6455 section 5.1.
TEST_F(FrameTable, P079MaskedFramesFail) {
  const Row rows[] = {
      {"text", "81 82 01 02 03 04 69 6B", {}, Cause::masked_frame, 1002},
      {"close", "88 82 01 02 03 04 02 EA", {}, Cause::masked_frame, 1002},
      {"ping", "89 80 01 02 03 04", {}, Cause::masked_frame, 1002},
      {"with a long length", "82 FE 01 00", {}, Cause::masked_frame, 1002},
  };
  for (const Row& row : rows) expect(row);
}

// RFC 6455 section 5.5.
TEST_F(FrameTable, ControlFramesAreWholeAndShort) {
  const Row rows[] = {
      {"fragmented ping", "09 00", {}, Cause::bad_control_frame, 1002},
      {"fragmented close", "08 02 03 E8", {}, Cause::bad_control_frame, 1002},
      {"P016 a close of 126 bytes", "88 7E 00 7E 03", {}, Cause::bad_control_frame, 1002},
      {"a ping of 127", "89 7F 00 00 00 00 00 00 00 01", {}, Cause::bad_control_frame, 1002},
  };
  for (const Row& row : rows) expect(row);
  const Outcome longest = outcome_of({frame(0x89, std::string(125, 'p'))}, kMax);
  EXPECT_THAT(longest.events, ElementsAre(Event{Opcode::ping, std::string(125, 'p')}));
}

TEST_F(FrameTable, LengthsAreInTheirShortestForm) {
  const Row rows[] = {
      {"125 in two bytes", "82 7E 00 7D", {}, Cause::bad_length, 1002},
      {"0 in two bytes", "82 7E 00 00", {}, Cause::bad_length, 1002},
      {"65535 in eight bytes", "82 7F 00 00 00 00 00 00 FF FF", {}, Cause::bad_length, 1002},
      {"top bit", "82 7F 80 00 00 00 00 01 00 00", {}, Cause::bad_length, 1002},
  };
  for (const Row& row : rows) expect(row);
}

// P017, RFC 6455 sections 5.6 and 8.1.
TEST_F(FrameTable, P017TextIsCheckedOverItsFragments) {
  const Row rows[] = {
      {"a euro sign over two fragments", "01 01 E2 80 02 82 AC", {{Opcode::text, "\xE2\x82\xAC"}}},
      {"over three", "01 01 E2 00 01 82 80 01 AC", {{Opcode::text, "\xE2\x82\xAC"}}},
      {"not UTF-8", "81 02 C3 28", {}, Cause::invalid_utf8, 1007},
      {"not UTF-8 at the begin", "81 02 80 61", {}, Cause::invalid_utf8, 1007},
      {"ends inside a character", "81 02 61 E2", {}, Cause::invalid_utf8, 1007},
      {"one lead byte", "81 01 E2", {}, Cause::invalid_utf8, 1007},
      {"an empty last fragment inside a character", "01 01 F0 80 00", {}, Cause::invalid_utf8, 1007},
      {"wrong in the second fragment", "01 01 E2 80 01 61", {}, Cause::invalid_utf8, 1007},
      {"binary need not be text", "82 02 C3 28", {{Opcode::binary, "\xC3\x28"}}},
      {"nor its continuation", "02 01 C3 80 01 28", {{Opcode::binary, "\xC3\x28"}}},
      {"each message begins anew",
       "81 03 E2 82 AC 81 01 61",
       {{Opcode::text, "\xE2\x82\xAC"}, {Opcode::text, "a"}}},
  };
  for (const Row& row : rows) expect(row);
}

// P019: the limit holds over fragments, and before the payload has come.
TEST(Frame, P019MessagesOverTheLimitFailWith1009) {
  const std::string part(1024, 'x');
  EXPECT_EQ(outcome_of({frame(0x82, part)}, 1024).error.cause, Cause::none);
  EXPECT_EQ(outcome_of({frame(0x82, part).substr(0, 4)}, 1023).error.cause, Cause::message_too_large);
  EXPECT_EQ(outcome_of({frame(0x82, part)}, 1023).error.close_code, 1009);

  std::vector<std::string> endless = {frame(0x01, part)};
  for (int i = 0; i < 9; ++i) endless.push_back(frame(0x00, part));
  EXPECT_EQ(outcome_of(endless, 10 * 1024).error.cause, Cause::none);
  endless.push_back(frame(0x00, "x"));
  EXPECT_EQ(outcome_of(endless, 10 * 1024).error.cause, Cause::message_too_large);

  const std::string huge = from_hex("82 7F 7F FF FF FF FF FF FF FF");
  EXPECT_EQ(outcome_of({huge}, 0xFFFFFFFF).error.cause, Cause::message_too_large);
  // The second message does not inherit the first one's size; control frames do not count.
  EXPECT_EQ(outcome_of({frame(0x82, part), frame(0x82, part), frame(0x89, "ping")}, 1024).error.cause,
            Cause::none);
}

TEST(Frame, PiecesPointIntoTheInputAndSayWhereTheMessageBeginsAndEnds) {
  FrameState state;
  const std::string bytes = from_hex("01 02 68 65 00 01 6C 80 02 6C 6F");
  const std::span all{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  const Decoded first = decode(state, all, kMax);
  ASSERT_TRUE(first.has_piece);
  EXPECT_EQ(first.taken, 4u);
  EXPECT_EQ(first.piece.payload.data(), all.data() + 2);
  EXPECT_TRUE(first.piece.begins);
  EXPECT_FALSE(first.piece.ends);
  const Decoded second = decode(state, all.subspan(4), kMax);
  EXPECT_FALSE(second.piece.begins || second.piece.ends);
  const Decoded third = decode(state, all.subspan(7), kMax);
  EXPECT_EQ(third.piece.opcode, Opcode::text);
  EXPECT_FALSE(third.piece.begins);
  EXPECT_TRUE(third.piece.ends);
  EXPECT_EQ(decode(state, {}, kMax).taken, 0u);
}

TEST(Frame, TheExampleOfTheRfcIsEncodedByteForByte) {
  std::string out = "before";
  const std::string hello = "Hello";
  encode_frame(Opcode::text, as_bytes(hello), 0x37FA213D, out);
  EXPECT_EQ(out, "before" + from_hex("81 85 37 FA 21 3D 7F 9F 4D 51 58"));
}

TEST(Frame, EveryLengthIsMaskedSoThatThePeerReadsIt) {
  for (const std::size_t size :
       {0u, 1u, 3u, 7u, 8u, 9u, 15u, 124u, 125u, 126u, 127u, 65535u, 65536u, 100001u}) {
    std::string payload;
    for (std::size_t i = 0; i < size; ++i) payload += static_cast<char>(i * 31 + 7);
    std::string out;
    encode_frame(Opcode::binary, as_bytes(payload), 0xA1B2C3D4, out);
    const ClientFrame read = read_client_frame(out);
    EXPECT_EQ(read.first_byte, 0x82) << size;
    EXPECT_EQ(read.mask_key, 0xA1B2C3D4u);
    EXPECT_EQ(read.payload, payload);
    EXPECT_EQ(read.size, out.size());
  }
}

// RFC 6455 sections 5.5.1 and 7.4.
TEST(Frame, P016ClosePayloadsAreJudged) {
  struct Case {
    std::string hex;
    std::uint16_t code;
    std::string reason;
    Cause cause;
    std::uint16_t close_code;
  };
  const Case cases[] = {
      {"", 1005, "", Cause::none, 0},
      {"03 E8", 1000, "", Cause::none, 0},
      {"0F A0 62 79 65", 4000, "bye", Cause::none, 0},
      {"03", 1005, "", Cause::bad_close_frame, 1002},
      {"03 E8 C3 28", 1000, "\xC3\x28", Cause::invalid_utf8, 1007},
      {"03 E8 E2 82", 1000, "\xE2\x82", Cause::invalid_utf8, 1007},
  };
  for (const Case& c : cases) {
    const std::string payload = from_hex(c.hex);
    const ClosePayload close = parse_close(as_bytes(payload));
    EXPECT_EQ(close.code, c.code) << c.hex;
    EXPECT_EQ(close.reason, c.reason) << c.hex;
    EXPECT_EQ(close.error.cause, c.cause) << c.hex;
    EXPECT_EQ(close.error.close_code, c.close_code) << c.hex;
  }
}

TEST(Frame, OnlyCloseCodesThatMayTravelAreTaken) {
  for (int code = 0; code <= 0xFFFF; ++code) {
    const bool registered = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
    const bool allowed = registered || (code >= 3000 && code <= 4999);
    const std::string payload{static_cast<char>(code >> 8), static_cast<char>(code)};
    EXPECT_EQ(parse_close(as_bytes(payload)).error.cause, allowed ? Cause::none : Cause::bad_close_frame)
        << code;
  }
}

TEST_F(FrameTable, P016ACutCloseKeepsItsCodeAndReason) {
  expect({"cut anywhere",
          "88 05 0F A0 62 79 65",
          {{Opcode::close,
            "\x0F\xA0"
            "bye"}}});
}

TEST(Frame, CloseIsEncodedWithoutACodeOrWithAReasonThatFits) {
  std::string out;
  encode_close(0, "ignored", 1, out);
  EXPECT_EQ(out, from_hex("88 80 00 00 00 01"));
  out.clear();
  encode_close(1000, "bye", 0x01020304, out);
  EXPECT_EQ(read_client_frame(out).payload, from_hex("03 E8") + "bye");
  out.clear();
  encode_close(4999, std::string(122, 'r') + "\xC3\xA9", 7, out);
  EXPECT_EQ(read_client_frame(out).payload, from_hex("13 87") + std::string(122, 'r'));
}

}  // namespace
}  // namespace onrush
