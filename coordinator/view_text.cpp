#include "coordinator/view_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace onrush {
namespace {

struct Character {
  std::uint32_t code;
  std::size_t bytes;
  bool valid;
};

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The first character of UTF-8 text that is not empty; one byte and not valid if it is broken, too long or a
/// surrogate.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  const Character broken{lead, 1, false};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return broken;
  std::uint32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) return broken;
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return broken;
  return {code, bytes, true};
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](Range range) { return code >= range.first && code <= range.last; });
}

// Control characters, and those that reorder or hide their neighbours: zero-width, bidirectional, tags,
// separators.
constexpr std::array<Range, 11> kNeverShown{{{0x00, 0x1F},
                                             {0x7F, 0x9F},
                                             {0xAD, 0xAD},
                                             {0x061C, 0x061C},
                                             {0x180E, 0x180E},
                                             {0x200B, 0x200F},
                                             {0x2028, 0x202E},
                                             {0x2060, 0x206F},
                                             {0xFEFF, 0xFEFF},
                                             {0xFFF9, 0xFFFB},
                                             {0xE0000, 0x10FFFF}}};
constexpr std::array<Range, 8> kCombining{{{0x0300, 0x036F},
                                           {0x0483, 0x0489},
                                           {0x0591, 0x05BD},
                                           {0x064B, 0x065F},
                                           {0x1AB0, 0x1AFF},
                                           {0x1DC0, 0x1DFF},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE2F}}};
constexpr std::array<Range, 13> kWide{{{0x1100, 0x115F},
                                       {0x2E80, 0x303E},
                                       {0x3041, 0x33FF},
                                       {0x3400, 0x4DBF},
                                       {0x4E00, 0xA4CF},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF00, 0xFF60},
                                       {0xFFE0, 0xFFE6},
                                       {0x1F300, 0x1F64F},
                                       {0x1F680, 0x1FAFF},
                                       {0x20000, 0x3FFFD}}};

int columns(std::uint32_t code) {
  if (code < 0x300) return 1;
  if (within(kCombining, code)) return 0;
  return within(kWide, code) ? 2 : 1;
}

/// The longest beginning of `text` that takes at most `width` columns.
std::string_view beginning(std::string_view text, int width) {
  std::size_t end = 0;
  while (end < text.size()) {
    const Character next = first_character(text.substr(end));
    width -= columns(next.code);
    if (width < 0) break;
    end += next.bytes;
  }
  return text.substr(0, end);
}

const char* escape_of(Tone tone) {
  switch (tone) {
    case Tone::plain: return "";
    case Tone::strong: return "\x1b[1m";
    case Tone::dim: return "\x1b[2m";
    case Tone::good: return "\x1b[32m";
    case Tone::warn: return "\x1b[33m";
    case Tone::bad: return "\x1b[31m";
    case Tone::mark: return "\x1b[36m";
  }
  return "";
}

constexpr int kLeastWidth = 20;

}  // namespace

const char* spell(Sign sign, bool unicode) noexcept {
  switch (sign) {
    case Sign::running: return unicode ? "▶" : ">";
    case Sign::done: return unicode ? "✓" : "+";
    case Sign::held: return unicode ? "✓" : "ok  ";
    case Sign::failed: return unicode ? "✗" : "FAIL";
    case Sign::dot: return unicode ? "·" : "|";
    case Sign::cut: return unicode ? "…" : "~";
    case Sign::bar_full: return unicode ? "█" : "#";
    case Sign::bar_empty: return unicode ? "░" : ".";
  }
  return "";
}

std::string printable(std::string_view text, bool unicode) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    if (next.code == '\n') {
      shown += "\\n";
    } else if (next.code == '\t') {
      shown += "\\t";
    } else if (next.code == '\r') {
      shown += "\\r";
    } else if (!next.valid || (next.code < 0x80 && within(kNeverShown, next.code))) {
      shown += fmt::format("\\x{:02x}", next.code);
    } else if (within(kNeverShown, next.code) || (!unicode && next.code >= 0x80)) {
      shown += next.code > 0xFFFF ? fmt::format("\\U{:06x}", next.code) : fmt::format("\\u{:04x}", next.code);
    } else {
      shown += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return shown;
}

int display_width(std::string_view text) noexcept {
  int width = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    width += columns(next.code);
    text.remove_prefix(next.bytes);
  }
  return width;
}

Line& Line::add(std::string_view text, Tone tone) { return append(printable(text, unicode_), tone); }

Line& Line::add(Sign sign, Tone tone) { return append(spell(sign, unicode_), tone); }

Line& Line::add(const Line& other) {
  for (const Span& span : other.spans_) append(span.text, span.tone);
  return *this;
}

Line& Line::pad_to(int column) {
  if (column > width_) append(std::string(static_cast<std::size_t>(column - width_), ' '), Tone::plain);
  return *this;
}

Line& Line::add_right(std::string_view text, int width, Tone tone) {
  std::string shown = printable(text, unicode_);
  pad_to(width_ + width - display_width(shown));
  return append(std::move(shown), tone);
}

Line& Line::append(std::string text, Tone tone) {
  width_ += display_width(text);
  if (!spans_.empty() && spans_.back().tone == tone) {
    spans_.back().text += text;
  } else {
    spans_.push_back({std::move(text), tone});
  }
  return *this;
}

Line Line::cut_to(int width) const {
  if (width_ <= width) return *this;
  Line line{unicode_};
  for (const Span& span : spans_) {
    const std::string_view shown = beginning(span.text, width - 1 - line.width_);
    line.append(std::string{shown}, span.tone);
    if (shown.size() < span.text.size()) break;
  }
  return width > 0 ? line.add(Sign::cut) : line;
}

std::string Line::render(const ViewStyle& style) const {
  std::string out;
  for (const Span& span : cut_to(std::max(style.width, kLeastWidth)).spans_) {
    const bool coloured = style.colour && span.tone != Tone::plain && !span.text.empty();
    if (coloured) out += escape_of(span.tone);
    out += span.text;
    if (coloured) out += "\x1b[0m";
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::vector<Line> flow(Line head, const std::vector<Line>& pieces, int gap, const ViewStyle& style) {
  const int indent = head.width();
  std::vector<Line> lines{std::move(head)};
  bool first = true;
  for (const Line& piece : pieces) {
    const int begin = lines.back().width() + (first ? 0 : gap);
    if (!first && begin + piece.width() > std::max(style.width, kLeastWidth)) {
      lines.emplace_back(style.unicode).pad_to(indent).add(piece);
    } else {
      lines.back().pad_to(begin).add(piece);
    }
    first = false;
  }
  return lines;
}

std::vector<Line> flow_words(Line head, std::string_view text, const ViewStyle& style, Tone tone) {
  std::vector<Line> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(Line{style.unicode}.add(text.substr(begin, end - begin), tone));
    begin = end + 1;
  }
  return flow(std::move(head), words, 1, style);
}

std::string render(const std::vector<Line>& lines, const ViewStyle& style) {
  std::string out;
  for (const Line& line : lines) (out += line.render(style)) += '\n';
  return out;
}

}  // namespace onrush
