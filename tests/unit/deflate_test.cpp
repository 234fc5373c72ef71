// permessage-deflate as it is agreed on, and the messages of RFC 7692 section 7.2.3, each at every cut.
#include "core/deflate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/deflate_stream.h"
#include "tests/deflated.h"
#include "tests/frames.h"

namespace onrush {
namespace {

constexpr std::uint32_t kMax = 1 << 20;

DeflateOffer offer(std::optional<std::uint8_t> client_bits, std::optional<std::uint8_t> server_bits,
                   bool client_no_takeover = false, bool server_no_takeover = false) {
  return {true, client_bits, server_bits, client_no_takeover, server_no_takeover};
}

ExtensionAnswer read(std::string_view value, const DeflateOffer* offered) {
  ExtensionAnswer answer;
  read_extensions(value, offered, answer);
  return answer;
}

TEST(DeflateOffer, IsWrittenAsBrowsersDoUnlessThePlanSaysMore) {
  EXPECT_EQ(offer_text({}), "permessage-deflate; client_max_window_bits");
  DeflateOffer without;
  without.client_window = false;
  EXPECT_EQ(offer_text(without), "permessage-deflate");
  EXPECT_EQ(offer_text(offer(10, 9, true, true)),
            "permessage-deflate; client_no_context_takeover; server_no_context_takeover; "
            "server_max_window_bits=9; client_max_window_bits=10");
}

// What zlib asks for is what the preflight reckons with.
TEST(DeflateOffer, ItsContextsCostWhatZlibTakes) {
  const auto taken_by = [](std::uint8_t bits) {
    std::size_t bytes = 0;
    z_stream stream{};
    stream.opaque = &bytes;
    stream.zalloc = [](void* count, uInt items, uInt size) {
      *static_cast<std::size_t*>(count) += std::size_t{items} * size;
      return std::calloc(items, size);
    };
    stream.zfree = [](void*, void* memory) { std::free(memory); };
    EXPECT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, -int{bits}, kDeflateMemoryLevel, Z_DEFAULT_STRATEGY),
              Z_OK);
    deflateEnd(&stream);
    EXPECT_EQ(inflateInit2(&stream, -int{bits}), Z_OK);
    inflateEnd(&stream);
    return static_cast<double>(bytes + (std::size_t{1} << bits));  // the window comes with the first message
  };
  for (const std::uint8_t bits : std::initializer_list<std::uint8_t>{9, 10, 15})
    EXPECT_NEAR(static_cast<double>(context_bytes(offer(bits, bits))), taken_by(bits), 3000) << int{bits};
  EXPECT_EQ(context_bytes(offer({}, {})), context_bytes(offer(15, 15)));
  EXPECT_EQ(context_bytes(offer(9, 9, true, true)), 0U);
}

struct Agreed {
  const char* answer;
  DeflateOffer offered;
  DeflateAgreement agreed;
};

// P077, RFC 7692 section 7.1, RFC 6455 section 9.1.
TEST(DeflateAnswer, P077WhatTheRfcAllowsIsTaken) {
  const Agreed rows[] = {
      {"permessage-deflate", {}, {15, 15, true, true}},
      {" \tpermessage-deflate\t ", {}, {15, 15, true, true}},
      {"permessage-deflate; client_max_window_bits=8", {}, {8, 15, true, true}},
      {"permessage-deflate; client_max_window_bits=15", {}, {15, 15, true, true}},
      {"permessage-deflate; server_max_window_bits=\"10\"", {}, {15, 10, true, true}},
      {"permessage-deflate; client_max_window_bits=\"9\"", {}, {9, 15, true, true}},
      {"permessage-deflate ;client_max_window_bits = 10;server_max_window_bits=8", {}, {10, 8, true, true}},
      {"permessage-deflate;client_no_context_takeover", {}, {15, 15, false, true}},
      {"permessage-deflate;server_no_context_takeover", {}, {15, 15, true, false}},
      {", permessage-deflate,,", {}, {15, 15, true, true}},
      // What we announced holds whether or not it is repeated.
      {"permessage-deflate", offer({}, {}, true), {15, 15, false, true}},
      {"permessage-deflate", offer(10, {}), {10, 15, true, true}},
      {"permessage-deflate; client_max_window_bits=9", offer(10, {}), {9, 15, true, true}},
      {"permessage-deflate; server_max_window_bits=9", offer({}, 10), {15, 9, true, true}},
      {"permessage-deflate; server_max_window_bits=10", offer({}, 10), {15, 10, true, true}},
      {"permessage-deflate; server_no_context_takeover", offer({}, {}, false, true), {15, 15, true, false}},
  };
  for (const Agreed& row : rows) {
    const ExtensionAnswer answer = read(row.answer, &row.offered);
    EXPECT_EQ(answer.fault, Cause::none) << row.answer;
    ASSERT_TRUE(answer.deflate) << row.answer;
    EXPECT_EQ(*answer.deflate, row.agreed) << row.answer;
  }
  EXPECT_EQ(read("", nullptr).fault, Cause::none);
  EXPECT_EQ(read(" , ", nullptr).fault, Cause::none) << "it names nothing";
}

struct Refused {
  const char* answer;
  DeflateOffer offered;
  Cause fault = Cause::bad_extension;
};

TEST(DeflateAnswer, P077WhatTheRfcForbidsFailsTheHandshake) {
  DeflateOffer without;
  without.client_window = false;
  const Refused rows[] = {
      {"permessage-deflate; client_max_window_bits=16", {}},
      {"permessage-deflate; client_max_window_bits=7", {}},
      {"permessage-deflate; client_max_window_bits=08", {}},
      {"permessage-deflate; client_max_window_bits=+9", {}},
      {"permessage-deflate; client_max_window_bits=9x", {}},
      {"permessage-deflate; client_max_window_bits=1", {}},
      {"permessage-deflate; client_max_window_bits=100", {}},
      {"permessage-deflate; server_max_window_bits=16", {}},
      {"permessage-deflate; server_max_window_bits=\"16\"", {}},
      {"permessage-deflate; server_max_window_bits=\"\"", {}},
      {"permessage-deflate; server_max_window_bits=\" 9\"", {}},
      {"permessage-deflate; server_max_window_bits=\"9", {}},
      {"permessage-deflate; server_max_window_bits=\"\\9\"", {}},
      {"permessage-deflate; server_max_window_bits=", {}},
      {"permessage-deflate; server_max_window_bits", {}},
      {"permessage-deflate; client_max_window_bits", {}},
      {"permessage-deflate; client_no_context_takeover=true", {}},
      {"permessage-deflate; server_no_context_takeover=15", {}},
      {"permessage-deflate; client_no_context_takeover; client_no_context_takeover", {}},
      {"permessage-deflate; server_max_window_bits=9; server_max_window_bits=9", {}},
      {"permessage-deflate; level=9", {}},
      {"permessage-deflate; Client_No_Context_Takeover", {}},
      {"permessage-deflate;", {}},
      {"permessage-deflate; ; client_no_context_takeover", {}},
      {"permessage-deflate client_no_context_takeover", {}},
      {"permessage-deflate, permessage-deflate", {}},
      {"permessage-deflate=1", {}},
      {"; permessage-deflate", {}},
      {"\"permessage-deflate\"", {}},
      // Beyond the offer.
      {"permessage-deflate; client_max_window_bits=9", without},
      {"permessage-deflate; client_max_window_bits=11", offer(10, {})},
      {"permessage-deflate; server_max_window_bits=11", offer({}, 10)},
      {"permessage-deflate", offer({}, 10)},
      {"permessage-deflate", offer({}, {}, false, true)},
      {"permessage-bzip2", {}, Cause::unasked_extension},
      {"x-webkit-deflate-frame", {}, Cause::unasked_extension},
      {"permessage-deflate, mux", {}, Cause::unasked_extension},
  };
  for (const Refused& row : rows) EXPECT_EQ(read(row.answer, &row.offered).fault, row.fault) << row.answer;
  EXPECT_EQ(read("permessage-deflate", nullptr).fault, Cause::unasked_extension);
  EXPECT_EQ(read("=", nullptr).fault, Cause::unasked_extension);
}

TEST(DeflateAnswer, SeveralFieldsAreOneList) {
  const DeflateOffer offered;
  ExtensionAnswer answer;
  read_extensions("", &offered, answer);
  read_extensions("permessage-deflate; server_max_window_bits=9", &offered, answer);
  EXPECT_EQ(answer.fault, Cause::none);
  EXPECT_EQ(answer.deflate->server_window_bits, 9);
  read_extensions("permessage-deflate", &offered, answer);
  EXPECT_EQ(answer.fault, Cause::bad_extension);
}

struct Row {
  const char* name;
  std::string hex;
  std::vector<std::string> messages;
  Cause cause = Cause::none;
  std::uint16_t close_code = 0;
};

// Each row in one piece, byte by byte, and cut once anywhere; with a room for what comes out that is large,
// and one of a single byte.
void expect(const Row& row) {
  SCOPED_TRACE(row.name);
  const std::string bytes = from_hex(row.hex);
  std::vector<std::vector<std::string>> cuts{{bytes}, {}};
  for (const char byte : bytes) cuts[1].emplace_back(1, byte);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut)
    cuts.push_back({bytes.substr(0, cut), bytes.substr(cut)});
  for (const auto& chunks : cuts)
    for (const std::size_t room : {4096u, 1u}) {
      const Inflated inflated = inflate_frames(chunks, kMax, room);
      ASSERT_EQ(inflated.messages, row.messages);
      ASSERT_EQ(inflated.error.cause, row.cause);
      ASSERT_EQ(inflated.error.close_code, row.close_code);
    }
}

TEST(Inflater, TheExamplesOfRfc7692AreRead) {
  const Row rows[] = {
      {"7.2.3.1 one block", "C1 07 F2 48 CD C9 C9 07 00", {"Hello"}},
      {"7.2.3.1 in two frames", "41 03 F2 48 CD 80 04 C9 C9 07 00", {"Hello"}},
      {"7.2.3.2 a context that goes on",
       "C1 07 F2 48 CD C9 C9 07 00 C1 05 F2 00 11 00 00",
       {"Hello", "Hello"}},
      {"7.2.3.2 a context that does not",
       "C1 07 F2 48 CD C9 C9 07 00 C1 07 F2 48 CD C9 C9 07 00",
       {"Hello", "Hello"}},
      {"7.2.3.3 no compression", "C1 0B 00 05 00 FA FF 48 65 6C 6C 6F 00", {"Hello"}},
      {"7.2.3.4 BFINAL", "C1 08 F3 48 CD C9 C9 07 00 00", {"Hello"}},
      {"7.2.3.5 two blocks", "C1 0D F2 48 05 00 00 00 FF FF CA C9 C9 07 00", {"Hello"}},
      {"7.2.3.6 an empty message", "C1 01 00", {""}},
      // The window goes on behind a BFINAL, also without the byte behind it.
      {"BFINAL, then a reference", "C1 08 F3 48 CD C9 C9 07 00 00 C1 05 F2 00 11 00 00", {"Hello", "Hello"}},
      {"BFINAL and nothing behind it", "C1 07 F3 48 CD C9 C9 07 00 C1 05 F2 00 11 00 00", {"Hello", "Hello"}},
      {"an uncompressed message between",
       "C1 07 F2 48 CD C9 C9 07 00 81 01 78 C1 05 F2 00 11 00 00",
       {"Hello", "x", "Hello"}},
      {"a ping between fragments", "41 03 F2 48 CD 89 01 78 80 04 C9 C9 07 00", {"Hello"}},
      {"an empty fragment at each end", "41 00 00 07 F2 48 CD C9 C9 07 00 80 00", {"Hello"}},
  };
  for (const Row& row : rows) expect(row);
}

// P081: an empty message, with and without the one byte that it should be; both leave the context whole.
TEST(Inflater, P081EmptyMessagesLeaveTheContextWhole) {
  const Row rows[] = {
      {"C1 01 00", "C1 07 F2 48 CD C9 C9 07 00 C1 01 00 C1 05 F2 00 11 00 00", {"Hello", "", "Hello"}},
      {"C1 00", "C1 07 F2 48 CD C9 C9 07 00 C1 00 C1 05 F2 00 11 00 00", {"Hello", "", "Hello"}},
      {"C1 00 first", "C1 00 C1 07 F2 48 CD C9 C9 07 00", {"", "Hello"}},
  };
  for (const Row& row : rows) expect(row);
}

TEST(Inflater, WhatCannotBeInflatedFails) {
  const Row rows[] = {
      {"a reserved kind of block", "C1 02 06 00", {}, Cause::bad_deflate, 1007},
      {"cut off inside a block", "C1 04 F2 48 CD C9", {}, Cause::bad_deflate, 1007},
      {"a reference to before the begin", "C1 05 F2 00 11 00 00", {}, Cause::bad_deflate, 1007},
      {"a stored block with a wrong length",
       "C1 0B 00 05 00 FA FE 48 65 6C 6C 6F 00",
       {},
       Cause::bad_deflate,
       1007},
      {"rubbish behind BFINAL", "C1 0A F3 48 CD C9 C9 07 00 FF FF FF", {}, Cause::bad_deflate, 1007},
      {"text that is not UTF-8", "C1 08 00 02 00 FD FF C3 28 00", {}, Cause::invalid_utf8, 1007},
      {"text that ends inside a character", "C1 08 00 02 00 FD FF 61 C3 00", {}, Cause::invalid_utf8, 1007},
  };
  for (const Row& row : rows) expect(row);
}

// P014: RSV1 only where the RFC puts it, and a wrong one changes nothing of what follows.
TEST(Inflater, P014ReservedBitsWithDeflate) {
  const Row rows[] = {
      {"RSV1 on a ping", "C9 00", {}, Cause::reserved_bits, 1002},
      {"RSV1 on a close", "C8 00", {}, Cause::reserved_bits, 1002},
      {"RSV1 on a continuation", "41 03 F2 48 CD C0 04 C9 C9 07 00", {}, Cause::reserved_bits, 1002},
      {"RSV2 beside it", "E1 07 F2 48 CD C9 C9 07 00", {}, Cause::reserved_bits, 1002},
      {"RSV3", "91 00", {}, Cause::reserved_bits, 1002},
      {"an uncompressed message may be plain", "81 02 68 69", {"hi"}},
  };
  for (const Row& row : rows) expect(row);
}

// P013: what comes between the fragments of a compressed message.
TEST(Inflater, P013ControlFramesBetweenCompressedFragments) {
  const Row rows[] = {
      {"ping and pong inside", "41 03 F2 48 CD 89 01 78 8A 00 80 04 C9 C9 07 00", {"Hello"}},
      {"orphan behind it", "C1 07 F2 48 CD C9 C9 07 00 80 00", {"Hello"}, Cause::bad_fragment, 1002},
      {"a message inside a message", "41 03 F2 48 CD C1 01 00", {}, Cause::bad_fragment, 1002},
      {"the one after it is not compressed",
       "41 03 F2 48 CD 80 04 C9 C9 07 00 01 01 61 80 01 62",
       {"Hello", "ab"}},
  };
  for (const Row& row : rows) expect(row);
}

// P019: what would become 64 MiB is stopped at the limit, whatever room there is for it.
TEST(Inflater, P019TheLimitIsHeldWhileInflating) {
  const std::string bomb = frame(0xC2, raw_deflate(std::string(64 << 20, '\0'), 9));
  ASSERT_LT(bomb.size(), 70'000U);
  for (const std::size_t room : {65'536u, 1000u}) {
    const Inflated inflated = inflate_frames({bomb}, kMax, room);
    EXPECT_TRUE(inflated.messages.empty());
    EXPECT_EQ(inflated.error.cause, Cause::message_too_large);
    EXPECT_EQ(inflated.error.close_code, 1009);
    EXPECT_LE(inflated.written, kMax + room) << "no more than one room beyond the limit";
  }
  const Inflated most = inflate_frames({frame(0xC2, raw_deflate(std::string(kMax, 'x'), 6))}, kMax, 65'536);
  EXPECT_EQ(most.messages, std::vector{std::string(kMax, 'x')});
  const Inflated more =
      inflate_frames({frame(0xC2, raw_deflate(std::string(kMax + 1, 'x'), 6))}, kMax, 65'536);
  EXPECT_EQ(more.error.cause, Cause::message_too_large);
}

// Blocks that hold nothing: no byte comes out, so the limit of what goes in must end it.
TEST(Inflater, P019ARowOfEmptyBlocksEndsAtTheLimit) {
  std::string blocks;
  for (int i = 0; i < 1000; ++i) blocks += std::string{"\x00\x00\x00\xFF\xFF", 5};
  std::vector<std::string> frames{frame(0x42, blocks)};
  for (int i = 0; i < 300; ++i) frames.push_back(frame(0x00, blocks));
  const Inflated inflated = inflate_frames(frames, kMax, 4096);
  EXPECT_EQ(inflated.error.cause, Cause::message_too_large);
  EXPECT_EQ(inflated.error.close_code, 1009);
}

// What cannot be compressed becomes longer; a message of exactly the limit must still come through.
TEST(Inflater, AMessageOfTheLimitMayBeLongerOnTheWire) {
  std::string noise;
  for (std::uint32_t i = 0, x = 1; i < kMax; ++i)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (const int level : {0, 1, 9}) {
    const std::string deflated = raw_deflate(noise, level);
    EXPECT_GT(deflated.size(), kMax);
    EXPECT_EQ(inflate_frames({frame(0xC2, deflated)}, kMax, 65'536).messages, std::vector{noise}) << level;
  }
}

// P081 too: an empty message is one byte 00, also twice in a row and between others, and takes nothing of the
// context.
TEST(Deflater, ContextsGoOnUntilTheyAreReset) {
  Deflater deflater{15};
  std::vector<std::uint8_t> room;
  std::string frames;
  const auto text = [&](std::string_view message) {
    const auto bytes = deflater.compress(as_bytes(message), room);
    std::string deflated{bytes.begin(), bytes.end()};
    frames += frame(0xC1, deflated);
    return deflated;
  };
  const std::string words = "the same words again and again, and once more the same words";
  EXPECT_EQ(text("Hello"), from_hex("F2 48 CD C9 C9 07 00")) << "RFC 7692 section 7.2.3.1";
  const std::size_t first = text(words).size();
  EXPECT_EQ(text(""), from_hex("00"));
  EXPECT_EQ(text(""), from_hex("00"));
  EXPECT_LT(text(words).size(), first / 3);
  EXPECT_EQ(inflate_frames({frames}, kMax, 4096).messages,
            (std::vector<std::string>{"Hello", words, "", "", words}));
  deflater.reset();
  EXPECT_EQ(text("Hello"), from_hex("F2 48 CD C9 C9 07 00")) << "nothing of before";
}

}  // namespace
}  // namespace onrush
