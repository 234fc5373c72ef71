// Properties of compressed messages for seeded random traffic: what zlib writes, at any level and window, as
// whole frames or fragments, with and without a context that goes on, is read back whatever the cuts; and
// what we write a zlib of its own reads back.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/deflated.h"
#include "tests/sanitized.h"

namespace onrush {
namespace {

using Random = std::mt19937_64;
constexpr std::uint32_t kMax = 1 << 20;

std::size_t below(Random& random, std::size_t end) { return static_cast<std::size_t>(random() % end); }

// Words that come again, so that there is something to compress, with noise between them.
std::string random_message(Random& random) {
  constexpr std::size_t kSizes[] = {0, 1, 2, 30, 200, 1000, 4000, 70'000};
  const std::size_t size = kSizes[below(random, random() % 8 == 0 ? std::size(kSizes) : 6)];
  const std::string words = "{\"user\":\"sequence\",\"text\":\"the same again and again\"}";
  const bool noise = random() % 4 == 0;
  std::string message;
  while (message.size() < size) {
    if (noise || random() % 16 == 0)
      message += static_cast<char>(random());
    else
      message += words.substr(below(random, words.size()), 1 + below(random, 12));
  }
  message.resize(size);
  return message;
}

/// A server's side, on zlib alone.
class Server {
 public:
  Server(int level, int window_bits, bool takeover) : takeover_{takeover} {
    if (deflateInit2(&out_, level, Z_DEFLATED, -window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::runtime_error{"zlib"};
  }
  ~Server() { deflateEnd(&out_); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string compress(const std::string& message) {
    if (message.empty()) return std::string(1, '\0');
    if (!takeover_) deflateReset(&out_);
    std::string bytes(message.size() * 2 + 1000, '\0');
    out_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(message.data()));
    out_.avail_in = static_cast<uInt>(message.size());
    out_.next_out = reinterpret_cast<Bytef*>(bytes.data());
    out_.avail_out = static_cast<uInt>(bytes.size());
    if (deflate(&out_, Z_SYNC_FLUSH) != Z_OK || out_.avail_out == 0) throw std::runtime_error{"zlib"};
    bytes.resize(bytes.size() - out_.avail_out - 4);
    return bytes;
  }

 private:
  z_stream out_{};
  bool takeover_;
};

std::string as_frames(Random& random, const std::string& payload) {
  std::string bytes, rest = payload;
  int first_byte = 0x42;
  while (random() % 3 == 0) {
    const std::string part = rest.substr(0, below(random, rest.size() + 1));
    rest.erase(0, part.size());
    bytes += frame(first_byte, part);
    first_byte = 0;
  }
  return bytes + frame(0x80 | first_byte, rest);
}

std::vector<std::string> split(const std::string& bytes, Random& random) {
  std::vector<std::string> chunks;
  const std::size_t longest = std::size_t{1} << below(random, 16);
  for (std::size_t at = 0; at < bytes.size(); at += chunks.back().size())
    chunks.push_back(bytes.substr(at, 1 + below(random, longest)));
  return chunks;
}

TEST(DeflateProperty, WhatAServerCompressesIsReadBack) {
  for (std::uint64_t seed = 1; seed <= seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    const Context context{static_cast<std::uint8_t>(9 + below(random, 7)), random() % 2 == 0};
    Server server{static_cast<int>(below(random, 10)), context.window_bits, context.takeover};
    std::vector<std::string> messages;
    std::string bytes;
    for (std::size_t left = 1 + below(random, 12); left > 0; --left) {
      messages.push_back(random_message(random));
      if (random() % 8 == 0) {
        bytes += frame(0x82, messages.back());  // as it is: allowed between compressed ones
        continue;
      }
      bytes += as_frames(random, server.compress(messages.back()));
    }
    const Inflated read =
        inflate_frames(split(bytes, random), kMax, std::size_t{1} << below(random, 17), context);
    ASSERT_EQ(read.error.cause, Cause::none);
    ASSERT_EQ(read.messages, messages);
  }
}

TEST(DeflateProperty, WhatWeCompressAnyZlibReadsBack) {
  for (std::uint64_t seed = 1; seed <= seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    const auto window_bits = static_cast<std::uint8_t>(9 + below(random, 7));
    const bool takeover = random() % 2 == 0;
    Deflater deflater{window_bits};
    z_stream in{};
    ASSERT_EQ(inflateInit2(&in, -int{window_bits}), Z_OK);
    std::vector<std::uint8_t> room;
    for (std::size_t left = 1 + below(random, 12); left > 0; --left) {
      const std::string message = random_message(random);
      if (!takeover) {
        deflater.reset();
        inflateReset(&in);
      }
      const auto deflated = deflater.compress(as_bytes(message), room);
      std::string bytes{deflated.begin(), deflated.end()};
      bytes += std::string{"\x00\x00\xFF\xFF", 4};
      std::string out(message.size() + 1, '\0');
      in.next_in = reinterpret_cast<Bytef*>(bytes.data());
      in.avail_in = static_cast<uInt>(bytes.size());
      in.next_out = reinterpret_cast<Bytef*>(out.data());
      in.avail_out = static_cast<uInt>(out.size());
      ASSERT_EQ(inflate(&in, Z_SYNC_FLUSH), Z_OK);
      ASSERT_EQ(in.avail_in, 0U);
      out.resize(out.size() - in.avail_out);
      ASSERT_EQ(out, message);
    }
    inflateEnd(&in);
  }
}

}  // namespace
}  // namespace onrush
