// Properties of the frame codec for seeded random traffic: every split of the bytes gives the same messages
// and the same verdict, and what an independent encoder writes is read back as it was meant.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/frame.h"
#include "tests/frames.h"
#include "tests/sanitized.h"

namespace onrush {
namespace {

using Random = std::mt19937_64;
constexpr std::uint32_t kMax = 1 << 20;

std::size_t below(Random& random, std::size_t end) { return static_cast<std::size_t>(random() % end); }

std::string random_text(Random& random, std::size_t characters) {
  static const std::vector<std::string> kCharacters = {
      "a", "Z", " ", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  std::string text;
  for (std::size_t i = 0; i < characters; ++i)
    text += random() % 8 != 0 ? std::string{"x"} : kCharacters[below(random, kCharacters.size())];
  return text;
}

std::string random_bytes(Random& random, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
  return bytes;
}

std::size_t random_size(Random& random) {
  constexpr std::size_t kEdges[] = {0, 1, 2, 7, 8, 124, 125, 126, 127, 300, 5000, 65535, 65536, 66000};
  // The large ones are rare: most frames of a test are short.
  return kEdges[below(random, random() % 8 == 0 ? std::size(kEdges) : 10)];
}

struct Traffic {
  std::string bytes;
  std::vector<Event> events;
};

Event random_control(Random& random) {
  const Opcode opcode = random() % 2 == 0 ? Opcode::ping : Opcode::pong;
  return {opcode, random_bytes(random, below(random, 126))};
}

// A message as fragments with control frames between them.
void append_message(Random& random, Traffic& traffic) {
  const bool is_text = random() % 2 == 0;
  const std::size_t size = random_size(random);
  const Event message{is_text ? Opcode::text : Opcode::binary,
                      is_text ? random_text(random, size) : random_bytes(random, size)};
  std::string rest = message.payload;
  int opcode = static_cast<int>(message.opcode);
  while (random() % 3 == 0) {
    const std::string part = rest.substr(0, below(random, rest.size() + 1));
    rest.erase(0, part.size());
    traffic.bytes += frame(opcode, part);
    opcode = 0;
    while (random() % 3 == 0) {
      traffic.events.push_back(random_control(random));
      traffic.bytes +=
          frame(0x80 | static_cast<int>(traffic.events.back().opcode), traffic.events.back().payload);
    }
  }
  traffic.bytes += frame(0x80 | opcode, rest);
  traffic.events.push_back(message);
}

Traffic random_traffic(Random& random) {
  Traffic traffic;
  for (std::size_t messages = below(random, 6); messages > 0; --messages) append_message(random, traffic);
  return traffic;
}

std::vector<std::string> split(const std::string& bytes, Random& random) {
  std::vector<std::string> chunks;
  const std::size_t longest = std::size_t{1} << below(random, 14);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = std::min(bytes.size() - at, 1 + below(random, longest));
    chunks.push_back(bytes.substr(at, size));
    at += size;
  }
  return chunks;
}

std::vector<std::string> singles(const std::string& bytes) {
  std::vector<std::string> chunks;
  for (const char byte : bytes) chunks.emplace_back(1, byte);
  return chunks;
}

void expect_alike(const Outcome& outcome, const Outcome& expected) {
  ASSERT_EQ(outcome.events, expected.events);
  ASSERT_EQ(outcome.data_bytes, expected.data_bytes);
  ASSERT_EQ(outcome.error.cause, expected.error.cause);
  ASSERT_EQ(outcome.error.close_code, expected.error.close_code);
}

TEST(FrameProperty, WhatAnIndependentEncoderWritesIsReadAtAnySplit) {
  for (std::uint64_t seed = 0; seed < seeds(400); ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    const Traffic traffic = random_traffic(random);
    const Outcome whole = outcome_of({traffic.bytes}, kMax);
    ASSERT_EQ(whole.error.cause, Cause::none);
    ASSERT_EQ(whole.events, traffic.events);
    for (int i = 0; i < 4; ++i) expect_alike(outcome_of(split(traffic.bytes, random), kMax), whole);
  }
}

TEST(FrameProperty, EveryCutPointOfShortTrafficDecodesAlike) {
  for (std::uint64_t seed = 0; seed < seeds(400); ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    const Traffic traffic = random_traffic(random);
    if (traffic.bytes.size() > 1500) continue;
    const Outcome whole = outcome_of({traffic.bytes}, kMax);
    expect_alike(outcome_of(singles(traffic.bytes), kMax), whole);
    for (std::size_t cut = 1; cut < traffic.bytes.size(); ++cut)
      expect_alike(outcome_of({traffic.bytes.substr(0, cut), traffic.bytes.substr(cut)}, kMax), whole);
  }
}

// Damaged traffic, so that every kind of error is met, also far into a stream and against a small limit.
TEST(FrameProperty, DamagedBytesGetTheSameVerdictAtAnySplit) {
  std::vector<Cause> met;
  for (std::uint64_t seed = 0; seed < seeds(3000); ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    std::string bytes = random_traffic(random).bytes;
    if (bytes.size() > 3000) bytes.resize(3000);
    if (bytes.empty()) bytes = random_bytes(random, 30);
    for (std::size_t damages = 1 + below(random, 3); damages > 0; --damages)
      bytes[below(random, random() % 2 == 0 ? std::min<std::size_t>(bytes.size(), 12) : bytes.size())] =
          static_cast<char>(random());
    const std::uint32_t max = random() % 4 == 0 ? 200 : kMax;
    const Outcome whole = outcome_of({bytes}, max);
    met.push_back(whole.error.cause);
    expect_alike(outcome_of(singles(bytes), max), whole);
    for (int i = 0; i < 8; ++i) expect_alike(outcome_of(split(bytes, random), max), whole);
  }
  for (const Cause cause : {Cause::none, Cause::masked_frame, Cause::reserved_bits, Cause::reserved_opcode,
                            Cause::bad_control_frame, Cause::bad_fragment, Cause::bad_length,
                            Cause::invalid_utf8, Cause::message_too_large})
    EXPECT_GT(std::count(met.begin(), met.end(), cause), 0) << static_cast<int>(cause);
}

TEST(FrameProperty, WhatIsEncodedIsReadByAnIndependentDecoder) {
  Random random{1};
  for (int i = 0; i < 300; ++i) {
    const std::string payload = random_bytes(random, random_size(random));
    const auto key = static_cast<std::uint32_t>(random());
    std::string out = random_bytes(random, below(random, 9));
    const std::size_t begin = out.size();
    encode_frame(Opcode::binary, as_bytes(payload), key, out);
    const ClientFrame read = read_client_frame(std::string_view{out}.substr(begin));
    ASSERT_EQ(read.payload, payload);
    ASSERT_EQ(read.mask_key, key);
    ASSERT_EQ(read.size, out.size() - begin);
  }
}

}  // namespace
}  // namespace onrush
