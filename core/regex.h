// A regular expression (RE2's syntax), compiled once with the plan and held against every message.
//
// Why: what a target answers is not always JSON; and an expression of a plan must not be able to take time
// that grows faster than the message, which RE2 promises. Owner: any thread; immutable, copies share it.
// Always: a match takes time linear in the text. It allocates nothing once the states that such texts lead to
// are known; to find a group of an expression that could match in several ways it may.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/expected.h"

namespace re2 {
class RE2;
}

namespace onrush {

class Regex {
 public:
  static constexpr std::size_t kLongest = 1'000;  ///< bytes of its text

  /// The error says what is wrong with the text.
  static Expected<Regex, std::string> compile(std::string_view text);

  /// True if it matches somewhere in `text`.
  [[nodiscard]] bool matches(std::string_view text) const noexcept;
  /// What its first group matched, or all that it matched if it has none; nothing if it does not match.
  /// Points into `text`.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view text) const noexcept;
  [[nodiscard]] int groups() const noexcept;

 private:
  explicit Regex(std::shared_ptr<const re2::RE2> compiled) : compiled_{std::move(compiled)} {}
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace onrush
