// UTF-8 in pieces: what is text, where it stops being text, and where it may be cut.
#include "core/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onrush {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string encoded(std::uint32_t code_point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0 | code_point >> 6), byte(0x80 | (code_point & 0x3F))};
  if (code_point < 0x10000)
    return {byte(0xE0 | code_point >> 12), byte(0x80 | (code_point >> 6 & 0x3F)),
            byte(0x80 | (code_point & 0x3F))};
  return {byte(0xF0 | code_point >> 18), byte(0x80 | (code_point >> 12 & 0x3F)),
          byte(0x80 | (code_point >> 6 & 0x3F)), byte(0x80 | (code_point & 0x3F))};
}

// Every code point there can be, and what only looks like one (surrogates, above 10FFFF).
TEST(Utf8, TakesEveryCodePointAndNoOther) {
  for (std::uint32_t code_point = 0; code_point <= 0x13FFFF; ++code_point) {
    const bool exists = code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
    ASSERT_EQ(is_utf8(encoded(code_point)), exists) << std::hex << code_point;
  }
}

TEST(Utf8, NamesTheFirstWrongByte) {
  struct Case {
    std::string text;
    std::size_t valid;
  };
  const std::vector<Case> cases = {
      {"\xC3\x28", 1},          // a letter where a continuation is due
      {"\x80", 0},              // a continuation without a lead
      {"\xC0\xAF", 0},          // '/' in two bytes
      {"\xC1\xBF", 0},          // overlong
      {"\xE0\x9F\xBF", 1},      // overlong in three
      {"\xED\xA0\x80", 1},      // a surrogate
      {"\xF0\x8F\xBF\xBF", 1},  // overlong in four
      {"\xF4\x90\x80\x80", 1},  // above 10FFFF
      {"\xF5\x80\x80\x80", 0},  // no such lead
      {"\xFF", 0},
      {"ab\xE2\x82\xAC\xE2\x82-", 7},
      {std::string(100, 'a') + '\xFE' + "b", 100},
  };
  for (const Case& c : cases) {
    Utf8State state = kBetweenCharacters;
    EXPECT_EQ(check_utf8(state, bytes_of(c.text)), c.valid) << testing::PrintToString(c.text);
    EXPECT_FALSE(is_utf8(c.text));
  }
}

TEST(Utf8, FindsAWrongByteAtEveryPlaceOfLongText) {
  const std::string good(70, 'x');
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string text = good;
    text[at] = '\x80';
    Utf8State state = kBetweenCharacters;
    EXPECT_EQ(check_utf8(state, bytes_of(text)), at);
  }
}

TEST(Utf8, GoesOnInsideACharacterAtEveryCut) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xED\x9F\xBF\xF4\x8F\xBF\xBFz";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Utf8State state = kBetweenCharacters;
    EXPECT_EQ(check_utf8(state, bytes_of(text).first(cut)), cut);
    EXPECT_EQ(check_utf8(state, bytes_of(text).subspan(cut)), text.size() - cut);
    EXPECT_EQ(state, kBetweenCharacters);
  }
}

TEST(Utf8, TextThatEndsInsideACharacterIsNotComplete) {
  for (const char* text : {"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xE0", "\xED", "\xF0", "\xF4", "abc\xF1"}) {
    Utf8State state = kBetweenCharacters;
    EXPECT_EQ(check_utf8(state, bytes_of(text)), std::string_view{text}.size());
    EXPECT_NE(state, kBetweenCharacters);
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Utf8, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_utf8("abc", 3), "abc");
  EXPECT_EQ(cut_utf8("abc", 2), "ab");
  EXPECT_EQ(cut_utf8("a\xE2\x82\xAC", 3), "a");
  EXPECT_EQ(cut_utf8("a\xE2\x82\xAC", 4), "a\xE2\x82\xAC");
  EXPECT_EQ(cut_utf8("\xF0\x9F\x98\x80", 3), "");
  EXPECT_EQ(cut_utf8("", 0), "");
}

}  // namespace
}  // namespace onrush
