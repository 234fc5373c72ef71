// A plan file's bytes made into text that a YAML parser may see: size, encoding, control characters,
// brackets.
//
// Why: yaml-cpp takes bad encodings without a word, is slow on large input and recurses once a bracket, so
// what cannot be a plan is refused here, in one linear pass. Owner: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostic.h"
#include "core/expected.h"

namespace onrush {

inline constexpr std::size_t kLargestPlan = 1 << 20;  ///< bytes
inline constexpr int kDeepestNesting = 64;            ///< lists and maps within one another
inline constexpr int kMostOpenBrackets = 500;         ///< anywhere, so also within texts

/// Well-formed UTF-8 without byte order mark, lines ended by LF.
class SourceText {
 public:
  /// Checks and normalizes a file's bytes.
  static Expected<SourceText, Diagnostic> from(std::string_view bytes);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Line and column of a byte; an offset beyond the end means the end.
  [[nodiscard]] Position position(std::size_t offset) const;
  /// The line that holds a byte, from its first one up to that byte.
  [[nodiscard]] std::string_view line_before(std::size_t offset) const;

 private:
  explicit SourceText(std::string text);
  [[nodiscard]] std::size_t line_start(std::size_t offset) const;

  std::string text_;
  std::vector<std::size_t> line_starts_;
};

/// Where the first byte stands that is not part of well-formed UTF-8 (RFC 3629); npos if all is well.
[[nodiscard]] std::size_t find_bad_utf8(std::string_view text) noexcept;

}  // namespace onrush
