// The form of names that become file names, labels of metrics and words in logs: of plans, stages, agents.
//
// Why: a name with a line break or an escape sequence would forge log lines and terminal output, one with a
// slash would leave its folder. Pure; any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace onrush {

inline constexpr std::size_t kLongestName = 64;
/// An agent is called by its host, which takes up to 64, and its process.
inline constexpr std::size_t kLongestAgentName = 128;

[[nodiscard]] constexpr bool label_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

/// 1 to `longest` letters, digits, - _ . and no - or . in front.
[[nodiscard]] constexpr bool is_label(std::string_view text, std::size_t longest = kLongestName) noexcept {
  if (text.empty() || text.size() > longest || text.front() == '.' || text.front() == '-') return false;
  for (const char c : text)
    if (!label_character(c)) return false;
  return true;
}

}  // namespace onrush
