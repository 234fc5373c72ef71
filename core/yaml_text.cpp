#include "core/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace onrush {
namespace {

constexpr auto npos = std::string_view::npos;

bool continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Length of a well-formed character at `i`, or 0: overlong forms, surrogates and values above 10FFFF are
// none.
std::size_t character_length(std::string_view text, std::size_t i) noexcept {
  const auto byte = [&](std::size_t k) {
    return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u;
  };
  const unsigned lead = byte(0), second = byte(1);
  const auto follows = [&](std::size_t k) { return (byte(k) & 0xC0u) == 0x80u; };
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!follows(1) || !follows(2) || (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F))
      return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    return (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F) ? 0 : 4;
  }
  return 0;
}

bool looks_like_utf16(std::string_view bytes) {
  if (bytes.size() < 2) return false;
  const std::string_view mark = bytes.substr(0, 2);
  if (mark == "\xFE\xFF" || mark == "\xFF\xFE") return true;
  return bytes.size() >= 4 && ((bytes[0] == 0) != (bytes[1] == 0)) && ((bytes[2] == 0) != (bytes[3] == 0));
}

std::string with_plain_line_ends(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != '\r' || i + 1 == bytes.size() || bytes[i + 1] != '\n') out += bytes[i];
  return out;
}

std::size_t find_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) return i;
    // C1 controls and the line separators that YAML versions disagree on, as UTF-8.
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return i;
    if (text.substr(i, 3) == "\u2028" || text.substr(i, 3) == "\u2029" || text.substr(i, 3) == "\uFEFF")
      return i;
  }
  return npos;
}

std::size_t find_too_deep(std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++open;
    if ((text[i] == ']' || text[i] == '}') && open > 0) --open;
    if (open > kMostOpenBrackets) return i;
  }
  return npos;
}

Unexpected<Diagnostic> refuse(Position at, std::string message) {
  return Unexpected{Diagnostic{at.line, at.column, std::move(message)}};
}

}  // namespace

std::size_t find_bad_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    if (length == 0) return i;
    i += length;
  }
  return npos;
}

Expected<SourceText, Diagnostic> SourceText::from(std::string_view bytes) {
  if (bytes.size() > kLargestPlan)
    return refuse({1, 1}, fmt::format("the plan has {} bytes; at most {} (1 MiB) are read", bytes.size(),
                                      kLargestPlan));
  if (looks_like_utf16(bytes)) return refuse({1, 1}, "the plan is in UTF-16; save it as UTF-8");
  if (bytes.substr(0, 3) == "\xEF\xBB\xBF") bytes.remove_prefix(3);
  SourceText plan(with_plain_line_ends(bytes));
  const std::string& text = plan.text_;
  if (const std::size_t bad = find_bad_utf8(text); bad != npos)
    return refuse(plan.position(bad), fmt::format("byte {:02x} is not UTF-8 here; save the plan as UTF-8",
                                                  static_cast<unsigned char>(text[bad])));
  if (const std::size_t control = find_control(text); control != npos)
    return refuse(plan.position(control),
                  fmt::format("control character {:02x} in the plan; remove it or write it as an "
                              "escape in double quotes",
                              static_cast<unsigned char>(text[control])));
  if (const std::size_t deep = find_too_deep(text); deep != npos)
    return refuse(plan.position(deep), fmt::format("more than {} brackets are open here", kMostOpenBrackets));
  return plan;
}

SourceText::SourceText(std::string text) : text_{std::move(text)}, line_starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
}

std::size_t SourceText::line_start(std::size_t offset) const {
  return *std::prev(std::upper_bound(line_starts_.begin(), line_starts_.end(), offset));
}

Position SourceText::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::size_t start = line_start(offset);
  const auto line = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset) - line_starts_.begin();
  const auto characters = std::count_if(text_.begin() + static_cast<std::ptrdiff_t>(start),
                                        text_.begin() + static_cast<std::ptrdiff_t>(offset),
                                        [](char c) { return !continuation(c); });
  return {static_cast<int>(line), static_cast<int>(characters) + 1};
}

std::string_view SourceText::line_before(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::size_t start = line_start(offset);
  return std::string_view(text_).substr(start, offset - start);
}

}  // namespace onrush
