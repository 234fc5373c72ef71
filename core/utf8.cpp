#include "core/utf8.h"

#include <cstring>

namespace onrush {
namespace {

// What the next byte must lie between, and the state behind it. The narrow ranges keep out overlong forms
// (after E0 and F0), surrogates (after ED) and code points above 10FFFF (after F4): table 3-7 of the Unicode
// standard.
struct Expectation {
  std::uint8_t lowest;
  std::uint8_t highest;
  Utf8State next;
};
enum : Utf8State { one_more = 1, two_more, three_more, after_e0, after_ed, after_f0, after_f4, invalid };
constexpr Expectation kExpectations[] = {
    {0x00, 0x7F, kBetweenCharacters}, {0x80, 0xBF, kBetweenCharacters}, {0x80, 0xBF, one_more},
    {0x80, 0xBF, two_more},           {0xA0, 0xBF, one_more},           {0x80, 0x9F, one_more},
    {0x90, 0xBF, two_more},           {0x80, 0x8F, two_more},
};

Utf8State after_lead(std::uint8_t byte) noexcept {
  if (byte < 0x80) return kBetweenCharacters;
  if (byte < 0xC2) return invalid;  // a continuation, or an overlong form of ASCII
  if (byte < 0xE0) return one_more;
  if (byte == 0xE0) return after_e0;
  if (byte == 0xED) return after_ed;
  if (byte < 0xF0) return two_more;
  if (byte == 0xF0) return after_f0;
  if (byte < 0xF4) return three_more;
  return byte == 0xF4 ? after_f4 : invalid;
}

Utf8State after(Utf8State state, std::uint8_t byte) noexcept {
  if (state == kBetweenCharacters) return after_lead(byte);
  const Expectation& expected = kExpectations[state];
  return byte >= expected.lowest && byte <= expected.highest ? expected.next : Utf8State{invalid};
}

std::size_t ascii_front(std::span<const std::uint8_t> bytes) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t at = 0;
  for (; bytes.size() - at >= 32; at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + at, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) != 0) break;
  }
  for (; bytes.size() - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  return at;
}

}  // namespace

std::size_t check_utf8(Utf8State& state, std::span<const std::uint8_t> bytes) noexcept {
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (state == kBetweenCharacters && bytes[at] < 0x80) {
      at += ascii_front(bytes.subspan(at));
      while (at < bytes.size() && bytes[at] < 0x80) ++at;
      continue;
    }
    const Utf8State next = after(state, bytes[at]);
    if (next == invalid) return at;
    state = next;
    ++at;
  }
  return at;
}

bool is_utf8(std::string_view text) noexcept {
  Utf8State state = kBetweenCharacters;
  const std::span bytes{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  return check_utf8(state, bytes) == bytes.size() && state == kBetweenCharacters;
}

std::string_view cut_utf8(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  std::size_t length = limit;
  while (length > 0 && (static_cast<std::uint8_t>(text[length]) & 0xC0) == 0x80) --length;
  return text.substr(0, length);
}

}  // namespace onrush
