// What a refusal says beside its status: the first bytes of the body that a server sent instead of a 101.
//
// Why: "503" is a riddle that "too many clients" solves, and the body often comes in a segment of its own.
// Owner: the worker; pure. Always: however long or strange the body, what is kept of it is one line of at
// most kSampleBytes printable characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace onrush {

/// Bytes of a body that are looked at.
inline constexpr std::size_t kBodyBytes = 200;

/// Whether `behind`, what has come behind the head, may still grow to more that is worth showing (RFC 9112
/// section 6.3): false once kBodyBytes are there, or all that the head has announced.
[[nodiscard]] bool awaits_body(std::string_view head, std::string_view behind) noexcept;

/// `sample` (the status line) with the body's beginning behind it: "HTTP/1.1 503 Busy: too many clients".
/// Blanks of any kind become one blank, other unprintable bytes \xNN, the framing of chunks goes.
[[nodiscard]] std::string with_body(std::string sample, std::string_view head, std::string_view behind);

}  // namespace onrush
