// The known word that somebody probably meant, and safe quotation of what was written.
//
// Owner: pure functions. Always: the cost is bounded whatever the input, because words beyond kLongestWord
// match nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace onrush {

/// The nearest of `known` if it differs by few letters only, or is our word for what other load generators
/// call so; otherwise "".
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// "; did you mean 'rate'?", or "" if nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

/// "a, b or c".
[[nodiscard]] std::string any_of(std::span<const std::string_view> words);

/// "a, b and c".
[[nodiscard]] std::string all_of(std::span<const std::string_view> words);

/// The text in single quotes, control characters made visible, cut short if long: fit for one line of a
/// terminal.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace onrush
