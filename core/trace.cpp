#include "core/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "core/bytes.h"

namespace onrush {
namespace {

constexpr std::string_view kLeftOut = "more was left out in this second\n";

std::string_view name(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::continuation: return "continuation";
    case Opcode::text: return "text";
    case Opcode::binary: return "binary";
    case Opcode::close: return "close";
    case Opcode::ping: return "ping";
    case Opcode::pong: return "pong";
  }
  return "frame";
}

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool is_secret(std::string_view line) {
  for (const std::string_view name : {"authorization:", "proxy-authorization:", "cookie:"})
    if (line.size() >= name.size() &&
        std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) { return a == lower(b); }))
      return true;
  return false;
}

}  // namespace

void add_line(std::string& trace, std::int64_t at_us, std::string_view whose, Direction direction,
              std::string_view text) {
  const char* const arrow = direction == Direction::sent ? ">" : direction == Direction::received ? "<" : " ";
  const std::string line =
      fmt::format("{:12.6f}  {:<14} {}  {}\n", static_cast<double>(at_us) / 1e6, whose, arrow, text);
  if (trace.ends_with(kLeftOut)) return;
  if (trace.size() + line.size() <= kTraceBytesASecond)
    trace += line;
  else
    trace += fmt::format("{:12.6f}  {}", static_cast<double>(at_us) / 1e6, kLeftOut);
}

std::string escaped(std::string_view bytes, std::size_t most) {
  std::string text;
  for (const char c : bytes.substr(0, most)) {
    if (c == '\n')
      text += "\\n";
    else if (c == '\r')
      text += "\\r";
    else if (c == '\t')
      text += "\\t";
    else if (c >= ' ' && c <= '~')
      text += c;
    else
      text += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
  }
  if (bytes.size() > most) text += "...";
  return text;
}

std::string without_secrets(std::string_view head) {
  std::string shown;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    if (is_secret(line))
      shown.append(line.substr(0, line.find(':'))).append(": (hidden)");
    else
      shown.append(line);
    if (end < head.size()) shown.append("\r\n");
    head.remove_prefix(std::min(end + 2, head.size()));
  }
  return shown;
}

std::string describe_frame(Opcode opcode, std::string_view payload, std::uint64_t length) {
  std::string text = fmt::format("{}, {} {}", name(opcode), length, length == 1 ? "byte" : "bytes");
  if (opcode == Opcode::close && payload.size() >= 2) {
    const unsigned code =
        static_cast<unsigned char>(payload[0]) * 256U + static_cast<unsigned char>(payload[1]);
    text += fmt::format(", code {}", code);
    payload.remove_prefix(2);
  }
  if (payload.empty()) return text;
  text += ": " + escaped(payload, kTracedBytes);
  if (payload.size() < length && payload.size() <= kTracedBytes && opcode != Opcode::close) text += "...";
  return text;
}

std::vector<std::string> describe_frames(std::span<const std::uint8_t> bytes) {
  std::vector<std::string> lines;
  while (bytes.size() >= 6) {
    const auto opcode = static_cast<Opcode>(bytes[0] & 15U);
    const bool compressed = (bytes[0] & 0x40U) != 0;
    std::uint64_t length = bytes[1] & 127U;
    std::size_t at = 2;
    const std::size_t more = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (more != 0) length = 0;
    if (bytes.size() < at + more + 4) break;
    for (std::size_t i = 0; i < more; ++i) length = length << 8 | bytes[at++];
    const std::span<const std::uint8_t> mask = bytes.subspan(at, 4);
    at += 4;
    const std::size_t there = static_cast<std::size_t>(std::min<std::uint64_t>(length, bytes.size() - at));
    std::string payload{text_of(bytes.subspan(at, std::min(there, kTracedBytes + 1)))};
    for (std::size_t i = 0; i < payload.size(); ++i)
      payload[i] = static_cast<char>(static_cast<unsigned char>(payload[i]) ^ mask[i % 4]);
    lines.push_back(describe_frame(opcode, compressed ? "" : payload, length) +
                    (compressed ? ", compressed" : ""));
    bytes = bytes.subspan(at + there);
  }
  return lines;
}

std::string in_order(const std::string& trace) {
  std::vector<std::pair<double, std::string_view>> lines;
  for (std::string_view rest = trace; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view line = rest.substr(0, end + 1);
    rest.remove_prefix(end + 1);
    const std::size_t digits = line.find_first_not_of(' ');
    double at_s = 0;
    if (digits == std::string_view::npos || line[digits] == '\n') continue;
    std::from_chars(line.data() + digits, line.data() + line.size(), at_s);
    lines.emplace_back(at_s, line);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string sorted;
  sorted.reserve(trace.size());
  for (const auto& [at_s, line] : lines) sorted.append(line);
  return sorted;
}

}  // namespace onrush
