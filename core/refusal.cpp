#include "core/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/failure.h"

namespace onrush {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool begins_with(std::string_view text, std::string_view lower_case) noexcept {
  return text.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), text.begin(),
                    [](char wanted, char c) { return lower(c) == wanted; });
}

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The first field of that name, as a browser would take it; a refusal is shown whatever its head looks like.
std::string_view value_of(std::string_view head, std::string_view lower_name) noexcept {
  for (std::size_t end = head.find('\n'); end != std::string_view::npos; end = head.find('\n')) {
    head.remove_prefix(end + 1);
    if (begins_with(head, lower_name) && head.substr(lower_name.size()).substr(0, 1) == ":") {
      const std::string_view behind = head.substr(lower_name.size() + 1);
      return trimmed(behind.substr(0, behind.find('\n')));
    }
  }
  return {};
}

bool is_chunked(std::string_view head) noexcept {
  return begins_with(value_of(head, "transfer-encoding"), "chunked");
}

std::optional<std::size_t> number_in(std::string_view digits, int base) noexcept {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc{} || end == digits.data()) return std::nullopt;
  return number;
}

/// What has come of the first chunk, which nearly always is the whole body (RFC 9112 section 7.1).
struct Chunk {
  std::string_view data;
  bool whole = false;
};
Chunk first_chunk(std::string_view behind) noexcept {
  const std::size_t line = behind.find('\n');
  if (line == std::string_view::npos) return {};
  const auto size = number_in(behind.substr(0, line), 16);
  if (!size) return {behind, true};  // not chunked after all
  const std::string_view rest = behind.substr(line + 1);
  return {rest.substr(0, *size), rest.size() >= *size};
}

}  // namespace

bool awaits_body(std::string_view head, std::string_view behind) noexcept {
  if (behind.size() >= kBodyBytes) return false;
  if (is_chunked(head)) return !first_chunk(behind).whole;
  const auto length = number_in(value_of(head, "content-length"), 10);
  return !length || behind.size() < *length;
}

std::string with_body(std::string sample, std::string_view head, std::string_view behind) {
  std::string_view body = behind;
  if (is_chunked(head))
    body = first_chunk(behind).data;
  else if (const auto length = number_in(value_of(head, "content-length"), 10))
    body = behind.substr(0, *length);
  body = trimmed(body.substr(0, kBodyBytes));
  if (body.empty()) return sample;
  sample += ": ";
  for (const char c : body) {
    if (is_blank(c)) {
      if (sample.back() != ' ') sample += ' ';
    } else if (c > ' ' && c <= '~') {
      sample += c;
    } else {
      sample += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    }
    if (sample.size() > kSampleBytes) break;
  }
  if (sample.size() > kSampleBytes) sample.resize(kSampleBytes);
  return sample;
}

}  // namespace onrush
