// UTF-8 (RFC 3629), checked piece by piece: a message's fragments may end inside a character (RFC 6455
// section 8.1).
//
// Why: the check's whole state is one byte that lives in the session, and text is nearly always ASCII, so
// eight bytes are looked at at once until one is not. Owner: any thread; values only. Always: the same
// verdict, at the same byte, however the bytes are cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace onrush {

/// Where a check stands: between two characters, or what the next byte of the character under way must be.
using Utf8State = std::uint8_t;
inline constexpr Utf8State kBetweenCharacters = 0;

/// Checks on from `state`. Returns how many bytes from the front can be part of UTF-8 text, and leaves
/// `state` as it is behind them; fewer than all means that the byte at that place is wrong.
[[nodiscard]] std::size_t check_utf8(Utf8State& state, std::span<const std::uint8_t> bytes) noexcept;

/// True if `text` is complete, valid UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// The longest front of valid `text` that has at most `limit` bytes and does not end inside a character.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t limit) noexcept;

}  // namespace onrush
