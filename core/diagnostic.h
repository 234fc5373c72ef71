// One mistake in a plan: where it is, what is wrong and what to write instead.
//
// Owner: a value. Always: `line` and `column` count from 1, columns in characters; line 0 means that the
// mistake is not in the file (a `--set`), and the message then names its own source.
#pragma once

#include <compare>
#include <string>
#include <vector>

namespace onrush {

struct Position {
  int line = 0;
  int column = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Diagnostic {
  int line;
  int column;
  std::string message;
  friend auto operator<=>(const Diagnostic&, const Diagnostic&) = default;
};

/// As a person reads it: `FILE:line:column: message`, one a line, then how many there are.
[[nodiscard]] std::string render(const std::string& file, const std::vector<Diagnostic>& diagnostics);

}  // namespace onrush
